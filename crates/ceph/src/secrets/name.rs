//! Does a name promise a secret?

/// How much a name promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Promise {
    /// Nothing: the value stays.
    Nothing,
    /// A key or token: the value goes unless it is a number or a boolean (`rgw_keystone_token_cache_size`).
    Key,
    /// A secret or password: the value goes.
    Secret,
}

/// Last words that turn the name of a secret into a name of something about it: `secret_file`, `token_ttl`.
const ABOUT: [&str; 16] = [
    "file", "path", "dir", "ring", "size", "ttl", "interval", "timeout", "max", "min", "count", "len", "length",
    "bits", "type", "version",
];

/// What a name of a setting, field, flag or header promises. Upper case and any separators are understood.
pub(super) fn promise(name: &str) -> Promise {
    let lower = name.trim().to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    if words.clone().next_back().is_none_or(|last| ABOUT.contains(&last)) {
        return Promise::Nothing;
    }
    let secret = ["secret", "passw", "passphrase", "credential", "authorization", "cookie", "privatekey", "secretkey"];
    if secret.iter().any(|s| lower.contains(s)) || words.clone().any(|w| matches!(w, "pass" | "pwd" | "bearer" | "jwt"))
    {
        return Promise::Secret;
    }
    // `keyring` is a path nearly always, and where it holds a key the other nets catch that key.
    let key = |w: &str| matches!(w, "key" | "keys") || (w.ends_with("key") && w != "monkey") || w.contains("token");
    if words.any(key) { Promise::Key } else { Promise::Nothing }
}

/// Whether a value under such a name is to be removed.
pub(super) fn is_secret(promise: Promise, value: &str) -> bool {
    if value.is_empty() || value == super::REMOVED {
        return false;
    }
    match promise {
        Promise::Nothing => false,
        Promise::Key => value.parse::<f64>().is_err() && !matches!(value, "true" | "false" | "null" | "none"),
        Promise::Secret => !matches!(value, "true" | "false" | "null" | "none"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in [
            "rgw_keystone_admin_password",
            "rgw ldap secret",
            "mgr/dashboard/GRAFANA_API_PASSWORD",
            "--secret-key",
            "Authorization",
            "secret",
            "passwd",
            "pwd",
            "jwt_secret",
            "rgw_crypt_passphrase",
            "Set-Cookie",
            "db_pass",
        ] {
            assert_eq!(promise(name), Promise::Secret, "{name}");
        }
        for name in [
            "key",
            "access_key",
            "AWS_ACCESS_KEY_ID",
            "mgr/cephadm/ssh_identity_key",
            "apikey",
            "X-Auth-Token",
            "--key",
            "encryption_keys",
            "num_keys_recovered",
        ] {
            assert_eq!(promise(name), Promise::Key, "{name}");
        }
        for name in [
            "keyring",
            "--keyring",
            "keyfile",
            "key_file",
            "auth_client_required",
            "mon_keyvaluedb",
            "rgw_keystone_url",
            "secret_file",
            "token_ttl",
            "",
            "--",
            "turkeys",
        ] {
            assert_eq!(promise(name), Promise::Nothing, "{name}");
        }
    }

    #[test]
    fn numbers_under_a_key_stay() {
        assert!(!is_secret(Promise::Key, "10000") && is_secret(Promise::Secret, "10000"));
        assert!(!is_secret(Promise::Secret, "") && !is_secret(Promise::Secret, crate::secrets::REMOVED));
    }
}

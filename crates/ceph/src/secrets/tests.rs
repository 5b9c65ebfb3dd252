use super::*;
use crate::testdata::{RELEASES, dump, mutated};
use proptest::prelude::*;

const CEPHX: &str = "AQBSdFhlAAAAABAAqk2vRrB7mB1lTq7Vb0f0pA==";
const S3_SECRET: &str = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY12";
const S3_ACCESS: &str = "AKIAIOSFODNN7EXAMPLE";

fn gone(text: &str, secrets: &[&str]) -> String {
    let out = strip_secrets(text);
    for secret in secrets {
        assert!(!out.contains(secret), "{secret} is still in: {out}");
    }
    assert_eq!(strip_secrets(&out), out, "twice changes nothing more");
    assert!(has_secrets(text) && !has_secrets(&out));
    out
}

#[test]
fn config_dump_keeps_its_shape() {
    let text = r#"
[{"section":"global","name":"rgw_keystone_admin_password","value":"hunter2","level":"advanced","mask":""},
 {"value":"t0ps3cret","name":"mgr/dashboard/jwt_secret","section":"mgr"},
 {"section":"mgr","name":"mgr/cephadm/ssh_identity_key","value":"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\n-----END OPENSSH PRIVATE KEY-----\n"},
 {"section":"client.rgw","name":"rgw_frontends","value":"beast port=80 ssl_private_key=/etc/k.pem"},
 {"section":"client.rgw","name":"rgw_keystone_token_cache_size","value":"10000"},
 {"section":"global","name":"keyring","value":"/etc/ceph/keyring"},
 {"section":"osd","name":"osd_memory_target","value":"4294967296"}]"#;
    let out = gone(text, &["hunter2", "t0ps3cret", "b3BlbnNz"]);
    let parsed = crate::dump::ConfigDump::parse(&out).unwrap();
    assert_eq!(parsed.entries.len(), 7);
    assert_eq!(parsed.of("rgw_keystone_admin_password").next().unwrap().value, REMOVED);
    assert_eq!(parsed.of("rgw_keystone_token_cache_size").next().unwrap().value, "10000");
    assert_eq!(parsed.of("keyring").next().unwrap().value, "/etc/ceph/keyring");
    assert_eq!(parsed.of("osd_memory_target").next().unwrap().value, "4294967296");
    let first: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(first[0]["level"], "advanced");
}

#[test]
fn nested_values_go_with_their_name() {
    let show = r#"[{"name":"rgw_ldap_secret","value":"aaa1","source":"override","overrides":[{"source":"file","value":"bbb2"}]}]"#;
    let out = gone(show, &["aaa1", "bbb2"]);
    assert!(out.contains(r#""source":"file""#));
    let diff =
        r#"{"diff":{"rgw_admin_token":{"default":"","mon":"ccc3","final":"ccc3"},"osd_data":{"final":"/srv/osd0"}}}"#;
    let out = gone(diff, &["ccc3"]);
    assert!(out.contains(r#""default":"""#) && out.contains("/srv/osd0"));
    let auth = format!(r#"[{{"entity":"client.admin","key":"{CEPHX}","caps":{{"mon":"allow *"}}}}]"#);
    let out = gone(&auth, &[CEPHX]);
    assert!(out.contains("client.admin") && out.contains("allow *"));
    let s3 = format!(
        r#"{{"user_id":"bench","keys":[{{"user":"bench","access_key":"{S3_ACCESS}","secret_key":"{S3_SECRET}"}}]}}"#
    );
    gone(&s3, &[S3_ACCESS, S3_SECRET]);
}

#[test]
fn keyrings_conf_files_and_headers() {
    let text = format!(
        "[client.admin]\n\tkey = {CEPHX}\n\tcaps mon = \"allow *\"\n[client.rgw.a]\n  rgw ldap secret = two words, and more\n\
         keyring = /etc/ceph/ceph.client.admin.keyring\nmon_host = [v2:10.0.0.1:3300,v1:10.0.0.1:6789]\nadmin_password: pa=ss\n\
         X-Auth-Token: abc.def\nAuthorization: Bearer eyJ0\n"
    );
    let out = gone(&text, &[CEPHX, "two words", "and more", "pa=ss", "abc.def", "eyJ0"]);
    assert!(out.contains("caps mon = \"allow *\"") && out.contains("keyring = /etc/ceph/ceph.client.admin.keyring"));
    assert!(out.contains("mon_host = [v2:10.0.0.1:3300,v1:10.0.0.1:6789]"));
    assert_eq!(out.lines().count(), text.lines().count());
}

#[test]
fn command_lines() {
    let text = "fathom bench rados --keyring /etc/ceph/k --key abc --secret=def --secret-key 'g h i' --pool p --id bench --token \"j\\\"k\" -t 16";
    let out = gone(text, &["abc", "def", "g h i", "j\\\"k"]);
    assert!(
        out.starts_with("fathom bench rados --keyring /etc/ceph/k --key <secret-removed> --secret=<secret-removed> ")
    );
    assert!(out.contains("--pool p --id bench") && out.ends_with("-t 16"));
    let flag = "x --key --pool p";
    assert_eq!(strip_secrets(flag), flag, "a flag is no value");
    gone(&format!("mount -t ceph a:/ /mnt -o name=admin,secret={CEPHX},rw"), &[CEPHX]);
    let json = r#"{"cmd":"ceph --key \"abc def\" -s\nkey = zzz\n","n":1}"#;
    let out = gone(json, &["abc def", "zzz"]);
    assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{out}");
}

#[test]
fn shapes_without_a_name() {
    gone(&format!("the line was {CEPHX} yes"), &[CEPHX]);
    gone(&format!("path/{CEPHX}"), &[CEPHX]);
    gone(&format!("creds {S3_ACCESS} {S3_SECRET}."), &[S3_ACCESS, S3_SECRET]);
    let long = format!("Ag{}=", "Ab3+".repeat(14) + "x");
    gone(&long, &[&long]);
    gone("http://user:pw1@host:80/x and s3://a:b2c@h", &["pw1", "b2c"]);
    gone("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----", &["MIIE"]);
}

#[test]
fn real_dumps_lose_nothing() {
    for release in RELEASES {
        for file in [
            "ceph-status.json",
            "ceph-osd_dump.json",
            "ceph-osd_metadata.json",
            "ceph-config_show_osd_0.json",
            "osd.0-config_diff.json",
            "osd.0-perf_dump.json",
            "ceph-df_detail.json",
            "ceph-osd_crush_dump.json",
            "ceph-pg_dump_pools.json",
            "ceph-versions.json",
            "rados-bench-write-4k.txt",
            "ceph-mon_metadata.json",
        ] {
            let text = dump(release, file);
            assert_eq!(strip_secrets(&text), text, "{release} {file} has no secret");
        }
    }
}

proptest! {
    #[test]
    fn no_text_panics_and_twice_is_once(text in ".{0,200}", odd in "[a-zA-Z0-9=:\"'\\\\ \\-{}\\[\\],\n/@]{0,120}", at in 0usize..4000) {
        for text in [&text, &odd, &mutated(&dump("reef-18.2.7", "ceph-config_show_osd_0.json"), at, &odd)] {
            let once = strip_secrets(text);
            prop_assert_eq!(strip_secrets(&once), once);
        }
    }
    #[test]
    fn a_cephx_key_goes_wherever_it_is(before in ".{0,60}", after in ".{0,60}", body in "[A-Za-z0-9+/]{36}") {
        let key = format!("AQ{body}==");
        let out = strip_secrets(&format!("{before} {key} {after}"));
        prop_assert!(!out.contains(&key), "{}", out);
    }
    #[test]
    fn a_named_secret_goes_and_json_stays_json(
        secret in "[a-zA-Z0-9!#$%&()*+,./:;<=>?@^_`|~\\-]{4,24}", name in "(rgw_admin_|mgr/x/|)(password|secret|api_key|token)", flip: bool
    ) {
        prop_assume!(secret.parse::<f64>().is_err());
        let (a, b) = (format!("\"name\":\"{name}\""), format!("\"value\":\"{secret}\""));
        let (a, b) = if flip { (b, a) } else { (a, b) };
        let text = format!("[{{\"section\":\"global\",{a},{b}}},{{\"{name}\":\"{secret}\",\"z\":1}}]");
        let out = strip_secrets(&text);
        prop_assert!(!out.contains(&format!("\"{secret}\"")), "{}", out);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{}", out);
        let conf = format!("[global]\n{name} = {secret}\n");
        prop_assert_eq!(strip_secrets(&conf), format!("[global]\n{name} = {REMOVED}\n"));
    }
}

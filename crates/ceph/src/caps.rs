//! The least a benchmark user must be allowed to do, as text for `ceph auth`.
//!
//! Monitor: `allow r` for maps and dumps, and single commands beside it where a pool of its own is made. Manager: `allow r`
//! for `pg dump`, `osd df` and `osd pool stats`. Objects: a pool and a namespace, or the pools with our application tag.
//! What they allow and refuse was tried on 16.2.15: all dumps and commands used here work, other pools, other namespaces
//! and the removal of other pools are refused, and any `ceph tell osd.N` is refused short of `osd 'allow *'`.

/// What `fathom bench rados` is to be allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Make a pool of its own, use it, delete it. `prefix` begins the names of all such pools.
    OwnPool {
        /// `fathom-`.
        prefix: String,
    },
    /// Use one pool that is there, in one namespace (all of it when empty).
    NamedPool {
        /// Pool.
        pool: String,
        /// Namespace.
        namespace: String,
    },
}

/// Caps of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Kind of daemon (`mon`, `mgr`, `osd`) and what is allowed there.
    pub caps: Vec<(String, String)>,
    /// Sentences on what these caps do not allow, or allow more than one may think.
    pub notes: Vec<String>,
}

/// The caps for one scope.
#[must_use]
pub fn bench_caps(scope: &Scope) -> Caps {
    let mgr = ("mgr".to_owned(), "allow r".to_owned());
    let tell = "`ceph tell osd.N …` (perf dump, config show) needs `osd 'allow *'`: without it the report cannot say where \
                reads came from, nor which settings run";
    match scope {
        Scope::OwnPool { prefix } => Caps {
            caps: vec![
                ("mon".to_owned(), own_pool_mon(prefix)),
                mgr,
                // A pool is known to OSD caps by name only, so a pool that does not exist yet is named by application.
                ("osd".to_owned(), format!("allow rw tag {} *=*", crate::pool::APPLICATION)),
            ],
            notes: vec![
                "removing the pool also needs `ceph config set mon mon_allow_pool_delete true`".to_owned(),
                format!(
                    "pools of any name tagged with the application `{}` can be read and written",
                    crate::pool::APPLICATION
                ),
                tell.to_owned(),
            ],
        },
        Scope::NamedPool { pool, namespace } => {
            let within = if namespace.is_empty() { String::new() } else { format!(" namespace={}", quoted(namespace)) };
            let osd = format!("allow rw pool={}{within}", quoted(pool));
            Caps {
                caps: vec![("mon".to_owned(), "allow r".to_owned()), mgr, ("osd".to_owned(), osd)],
                notes: vec![tell.to_owned()],
            }
        }
    }
}

fn own_pool_mon(prefix: &str) -> String {
    let pool = format!("pool prefix {}", quoted(prefix));
    [
        "allow r".to_owned(),
        format!("allow command \"osd pool create\" with {pool}"),
        format!("allow command \"osd pool set\" with {pool}"),
        format!("allow command \"osd pool application enable\" with {pool}"),
        format!("allow command \"osd pool delete\" with {pool}"),
    ]
    .join(", ")
}

/// Words of the caps grammar go bare when they are plain, else in double quotes (they cannot hold a quote).
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("\"{}\"", word.replace('"', "")) }
}

impl Caps {
    /// The command for a shell: `ceph auth get-or-create client.X mon '…' mgr '…' osd '…'`.
    #[must_use]
    pub fn command(&self, user: &str) -> String {
        let user = if user.starts_with("client.") { user.to_owned() } else { format!("client.{user}") };
        let mut out = format!("ceph auth get-or-create {}", shell(&user));
        for (daemon, allowed) in &self.caps {
            out.push_str(&format!(" {daemon} {}", shell_always(allowed)));
        }
        out
    }
}

fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { shell_always(word) }
}

fn shell_always(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_pool_and_namespace() {
        let caps = bench_caps(&Scope::NamedPool { pool: "rbd".into(), namespace: "bench".into() });
        assert_eq!(
            caps.command("bench"),
            "ceph auth get-or-create client.bench mon 'allow r' mgr 'allow r' osd 'allow rw pool=rbd namespace=bench'"
        );
        let all = bench_caps(&Scope::NamedPool { pool: "my pool".into(), namespace: String::new() });
        assert!(all.command("client.b").ends_with("osd 'allow rw pool=\"my pool\"'"));
    }

    #[test]
    fn a_pool_of_its_own() {
        let caps = bench_caps(&Scope::OwnPool { prefix: "fathom-".into() });
        let command = caps.command("bench");
        assert!(command.contains("mon 'allow r, allow command \"osd pool create\" with pool prefix fathom-, "));
        assert!(command.contains("osd 'allow rw tag fathom *=*'"));
        assert!(caps.notes.iter().any(|n| n.contains("mon_allow_pool_delete")));
    }

    #[test]
    fn nothing_breaks_out_of_the_quotes() {
        let caps = bench_caps(&Scope::NamedPool { pool: "a'b\"c".into(), namespace: "$(x)".into() });
        assert!(caps.command("x;y").starts_with("ceph auth get-or-create 'client.x;y' "));
        assert!(caps.command("b").ends_with("osd 'allow rw pool=\"a'\\''bc\" namespace=\"$(x)\"'"));
    }
}

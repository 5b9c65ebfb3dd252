//! Users that may do little: exactly the caps we name suffice, and less is told, never waited for.
use crate::{
    program::{RUN, run},
    shared_lab::{Cluster, Pool, unique},
};
use fathom_ceph::caps::{Scope, bench_caps};
use std::time::Duration;
use tempfile::TempDir;

/// A cephx user with its keyring; gone when dropped.
struct User {
    name: String,
    keyring: String,
    cluster: Cluster,
    _dir: TempDir,
}

impl User {
    fn new(cluster: &Cluster, caps: &[(&str, &str)]) -> User {
        let name = format!("client.{}", unique("user"));
        let dir = TempDir::new().unwrap();
        let keyring = dir.path().join("keyring").to_str().unwrap().to_owned();
        let mut args = vec!["auth", "get-or-create", &name];
        args.extend(caps.iter().flat_map(|(daemon, allowed)| [*daemon, *allowed]));
        args.extend(["-o", &keyring]);
        cluster.ceph(&args);
        User { name, keyring, cluster: cluster.clone(), _dir: dir }
    }

    fn with(cluster: &Cluster, scope: &Scope) -> User {
        let caps = bench_caps(scope).caps;
        let caps: Vec<_> = caps.iter().map(|(daemon, allowed)| (daemon.as_str(), allowed.as_str())).collect();
        User::new(cluster, &caps)
    }

    fn id(&self) -> &str {
        self.name.trim_start_matches("client.")
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.cluster.forget(&["auth", "rm", &self.name]);
    }
}

const LOAD: [&str; 9] = ["-b", "4k", "-t", "4", "--max-objects", "50", "--repeat", "1", "-q"];

#[test]
fn the_caps_we_name_suffice_for_a_named_pool() {
    let pool = Pool::shared("caps");
    let scope = Scope::NamedPool { pool: pool.name.clone(), namespace: "bench".into() };
    let user = User::with(&pool.cluster, &scope);
    for mode in ["write", "rand"] {
        let dir = TempDir::new().unwrap();
        let args = [mode, "-N", "bench", "--id", user.id(), "--keyring", &user.keyring, "--duration", "1s", "--json"];
        let ran = run(pool.bench(&args).args(LOAD).arg("--results").arg(dir.path().join("r")), RUN).exits(0);
        let json = ran.json();
        let account = &json["steps"][0]["account"];
        assert!(account["completed"].as_u64().unwrap() > 0, "{json:#}");
        assert_eq!(account["failed"], 0, "{json:#}");
        assert_eq!(json["ledger"]["left"], 0, "{json:#}");
        assert!(!ran.out.contains("AQ") || !ran.out.contains("=="), "a key in the report: {ran:?}");
        assert_eq!(pool.list(), vec![], "{mode}");
    }
}

#[test]
fn the_caps_we_name_suffice_for_a_pool_of_its_own() {
    let cluster = Cluster::shared();
    let user = User::with(&cluster, &Scope::OwnPool { prefix: "fathom-".into() });
    let dir = TempDir::new().unwrap();
    let args = ["write", "--id", user.id(), "--keyring", &user.keyring, "--duration", "1s", "--json", "--pg-num", "8"];
    let ran = run(cluster.bench(&args).args(LOAD).arg("--results").arg(dir.path().join("r")), RUN).exits(0);
    let json = ran.json();
    assert!(json["steps"][0]["account"]["completed"].as_u64().unwrap() > 0, "{json:#}");
    assert_eq!(json["ledger"]["left"], 0, "{json:#}");
    let id = json["run"]["id"].as_str().unwrap();
    assert!(!cluster.pools().contains(&format!("fathom-{id}")));
}

/// May read the maps, may touch no object of the pool.
#[test]
fn a_pool_without_permission() {
    let pool = Pool::shared("locked");
    let user = User::new(&pool.cluster, &[("mon", "allow r"), ("mgr", "allow r"), ("osd", "allow rw pool=another")]);
    for mode in ["write", "rand"] {
        let dir = TempDir::new().unwrap();
        let results = dir.path().join("r");
        let args = [mode, "--id", user.id(), "--keyring", &user.keyring, "--duration", "60s"];
        let ran = run(pool.bench(&args).args(LOAD).arg("--results").arg(&results), RUN);
        assert!(ran.took < Duration::from_secs(50), "every operation is refused, yet it went on: {ran:#?}");
        // What could not be written need not be removed, but whether it is there can't be known without permission.
        assert!(matches!(ran.code, Some(5 | 6)), "{ran:#?}");
        ran.mentions(&["fathom: ", "EPERM"]);
        assert_eq!(pool.list(), vec![]);
    }
}

/// May not even ask the monitors.
#[test]
fn no_permission_at_all() {
    let cluster = Cluster::shared();
    let user = User::new(&cluster, &[]);
    let dir = TempDir::new().unwrap();
    let args = ["--id", user.id(), "--keyring", &user.keyring, "--connect-timeout", "5s", "-q", "--results"];
    let ran = run(cluster.bench(&args).arg(dir.path().join("r")), RUN);
    assert!(matches!(ran.code, Some(3 | 5)), "{ran:#?}");
    ran.mentions(&["fathom: ", &user.name]);
}

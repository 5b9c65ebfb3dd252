//! The one lab that all tests share, and what each makes in it for itself: pools that go with their guard.
use crate::program::{Ran, fathom, run};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

/// Room for one command of Ceph's own tools on a busy machine.
const TOOL: Duration = Duration::from_secs(90);

/// The shared lab's `ceph.conf`.
pub fn conf() -> String {
    std::env::var("FATHOM_TEST_CONF").expect("run ./test, it starts the lab")
}

/// The shared lab's directory.
pub fn lab_dir() -> PathBuf {
    std::env::var_os("FATHOM_TEST_LAB").expect("run ./test, it starts the lab").into()
}

/// A name nobody else uses, in this process or another.
pub fn unique(what: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("fathom-test-{what}-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed))
}

/// A cluster, by its `ceph.conf`.
#[derive(Clone)]
pub struct Cluster {
    pub conf: String,
}

impl Cluster {
    pub fn shared() -> Cluster {
        Cluster { conf: conf() }
    }

    fn tool(&self, program: &str, args: &[&str]) -> Ran {
        let mut command = Command::new(program);
        command.args(["-c", &self.conf]).args(args).env_remove("CEPH_CONF").env_remove("CEPH_ARGS");
        run(&mut command, TOOL)
    }

    /// Ceph's own tool; must succeed.
    #[track_caller]
    pub fn ceph(&self, args: &[&str]) -> String {
        let ran = self.tool("ceph", args);
        assert_eq!(ran.code, Some(0), "ceph {args:?}: {ran:?}");
        ran.out
    }

    /// `rados`; must succeed.
    #[track_caller]
    pub fn rados(&self, args: &[&str]) -> Ran {
        let ran = self.tool("rados", args);
        assert_eq!(ran.code, Some(0), "rados {args:?}: {ran:?}");
        ran
    }

    pub fn pools(&self) -> Vec<String> {
        serde_json::from_str(&self.ceph(&["osd", "pool", "ls", "--format=json"])).unwrap()
    }

    /// `fathom bench rados` on this cluster.
    pub fn bench(&self, args: &[&str]) -> Command {
        let mut command = fathom(["bench", "rados", "--conf", &self.conf]);
        command.args(args);
        command
    }

    /// `fathom clean` of a results directory.
    pub fn clean(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = fathom(["clean", "--conf", &self.conf]);
        command.args(args).arg(dir);
        command
    }
}

/// A pool that is deleted when this is dropped.
pub struct Pool {
    pub name: String,
    pub cluster: Cluster,
}

/// Where and what every object of a pool is: (namespace, name) to content.
pub type Contents = BTreeMap<(String, String), Vec<u8>>;

impl Pool {
    pub fn new(cluster: &Cluster, what: &str) -> Pool {
        let name = unique(what);
        cluster.ceph(&["osd", "pool", "create", &name, "8", "8", "replicated", "--autoscale-mode=off"]);
        Pool { name, cluster: cluster.clone() }
    }

    pub fn shared(what: &str) -> Pool {
        Pool::new(&Cluster::shared(), what)
    }

    #[track_caller]
    pub fn rados(&self, args: &[&str]) -> Ran {
        let mut all = vec!["-p", &self.name];
        all.extend(args);
        self.cluster.rados(&all)
    }

    /// `fathom bench rados -p POOL`.
    pub fn bench(&self, args: &[&str]) -> Command {
        let mut command = self.cluster.bench(&["-p", &self.name]);
        command.args(args);
        command
    }

    pub fn put(&self, namespace: &str, name: &str, content: &[u8]) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("content");
        std::fs::write(&file, content).unwrap();
        self.rados(&["-N", namespace, "put", name, file.to_str().unwrap()]);
    }

    pub fn get(&self, namespace: &str, name: &str) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("content");
        self.rados(&["-N", namespace, "get", name, file.to_str().unwrap()]);
        std::fs::read(&file).unwrap()
    }

    /// Namespace and name of every object.
    pub fn list(&self) -> Vec<(String, String)> {
        let ran = self.rados(&["ls", "--all", "--format=json"]);
        let objects: Vec<Value> = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        let text = |o: &Value, key: &str| o[key].as_str().unwrap().to_owned();
        let mut names: Vec<_> = objects.iter().map(|o| (text(o, "namespace"), text(o, "name"))).collect();
        names.sort();
        names
    }

    /// Everything in the pool with its content.
    pub fn contents(&self) -> Contents {
        self.list()
            .into_iter()
            .map(|(ns, name)| {
                let content = self.get(&ns, &name);
                ((ns, name), content)
            })
            .collect()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let args = ["osd", "pool", "delete", &self.name, &self.name, "--yes-i-really-really-mean-it"];
        let ran = self.cluster.tool("ceph", &args);
        if ran.code != Some(0) {
            eprintln!("pool {} stays: {ran:?}", self.name);
        }
    }
}

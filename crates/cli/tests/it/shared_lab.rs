//! The one lab that all tests share, and what each makes in it for itself: pools that go with their guard.
use crate::program::{Ran, fathom, run, start_from};
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

/// Its keyring.
pub fn keyring() -> PathBuf {
    let lab: PathBuf = std::env::var_os("FATHOM_TEST_LAB").expect("run ./test, it starts the lab").into();
    lab.join("keyring")
}

/// Reads and writes many objects in one go: a process of `rados` for each would take most of the tests' time. This is
/// Ceph's own binding, which its `ceph` program needs, too: what it sees does not depend on the program under test.
const OBJECTS: &str = r#"
import json, rados, sys
conf, pool, what = sys.argv[1:]
asked = json.load(sys.stdin)
with rados.Rados(conffile=conf, name="client.admin") as cluster, cluster.open_ioctx(pool) as io:
    if what == "list":
        io.set_namespace(rados.LIBRADOS_ALL_NSPACES)
        found = [[o.nspace or "", o.key] for o in io.list_objects()]
    for n, (namespace, name, *content) in enumerate(asked):
        io.set_namespace(namespace)
        if what == "put":
            io.write_full(name, bytes.fromhex(content[0]))
        elif what == "get":
            asked[n].append(io.read(name, 64 << 20).hex())
json.dump(found if what == "list" else asked, sys.stdout)
"#;

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

    /// Ceph's own tool at the end of a test, which may be failing: says when it did not work, and never panics.
    pub fn forget(&self, args: &[&str]) {
        let done = Command::new("ceph").args(["-c", &self.conf, "--connect-timeout=30"]).args(args).output();
        if !done.as_ref().is_ok_and(|o| o.status.success()) {
            eprintln!("left behind: ceph {args:?}: {done:?}");
        }
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

    fn objects(&self, what: &str, asked: &Value) -> Vec<Vec<String>> {
        use std::io::{Seek as _, Write as _};
        let mut stdin = tempfile::tempfile().unwrap();
        stdin.write_all(asked.to_string().as_bytes()).unwrap();
        stdin.rewind().unwrap();
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", OBJECTS, &self.cluster.conf, &self.name, what]);
        let ran = start_from(&mut command, stdin).end(TOOL);
        assert_eq!(ran.code, Some(0), "{what} {asked}: {ran:#?}");
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:?}"))
    }

    /// Writes objects: namespace, name, content.
    pub fn put_all(&self, objects: &[(&str, &str, &[u8])]) {
        let rows: Vec<[String; 3]> =
            objects.iter().map(|(ns, name, bytes)| [(*ns).to_owned(), (*name).to_owned(), to_hex(bytes)]).collect();
        self.objects("put", &serde_json::json!(rows));
    }

    pub fn put(&self, namespace: &str, name: &str, content: &[u8]) {
        self.put_all(&[(namespace, name, content)]);
    }

    pub fn get(&self, namespace: &str, name: &str) -> Vec<u8> {
        self.get_all([(namespace.to_owned(), name.to_owned())].into()).into_values().next().unwrap()
    }

    /// These objects with their content.
    pub fn get_all(&self, names: Vec<(String, String)>) -> Contents {
        let rows = self.objects("get", &serde_json::json!(names));
        rows.into_iter()
            .map(|row| {
                let [ns, name, content] = <[String; 3]>::try_from(row).unwrap();
                ((ns, name), from_hex(&content))
            })
            .collect()
    }

    /// Namespace and name of every object.
    pub fn list(&self) -> Vec<(String, String)> {
        let rows = self.objects("list", &serde_json::json!([]));
        let mut names: Vec<(String, String)> =
            rows.into_iter().map(|row| <[String; 2]>::try_from(row).unwrap().into()).collect();
        names.sort();
        names
    }

    /// Everything in the pool with its content.
    pub fn contents(&self) -> Contents {
        self.get_all(self.list())
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.cluster.forget(&["osd", "pool", "delete", &self.name, &self.name, "--yes-i-really-really-mean-it"]);
    }
}

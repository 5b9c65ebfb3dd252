//! Running the program with a deadline and looking at what it said.
use serde_json::Value;
use std::{
    ffi::OsStr,
    fs::File,
    io::{Read as _, Seek as _},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// The binary under test.
pub const FATHOM: &str = env!("CARGO_BIN_EXE_fathom");

/// Room for a command that only reads its arguments or a file.
pub const QUICK: Duration = Duration::from_secs(30);
/// Room for a run of a few seconds on a busy machine with two CPUs.
pub const RUN: Duration = Duration::from_secs(150);

/// What a process came to.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

/// A process that goes on; killed when dropped.
pub struct Running {
    child: Child,
    out: Option<File>,
    err: File,
    began: Instant,
    what: String,
}

/// `fathom` with these arguments.
pub fn fathom<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(FATHOM);
    command.args(args).env_remove("CEPH_CONF").env_remove("CEPH_ARGS").env("NO_COLOR", "1");
    command
}

/// Runs a command to its end, which must come within `limit`.
pub fn run(command: &mut Command, limit: Duration) -> Ran {
    start(command).end(limit)
}

/// Starts a command; what it prints goes to files, so that it never waits for a reader.
pub fn start(command: &mut Command) -> Running {
    start_from(command, Stdio::null())
}

/// The same with something to read.
pub fn start_from(command: &mut Command, input: impl Into<Stdio>) -> Running {
    let (out, err) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    let what = format!("{command:?}");
    let child = command
        .stdin(input)
        .stdout(out.try_clone().unwrap())
        .stderr(err.try_clone().unwrap())
        .spawn()
        .unwrap_or_else(|e| panic!("cannot start {what}: {e}"));
    Running { child, out: Some(out), err, began: Instant::now(), what }
}

/// Starts a command with a stdout of the test's own.
pub fn start_into(command: &mut Command, out: impl Into<Stdio>) -> Running {
    let err = tempfile::tempfile().unwrap();
    let what = format!("{command:?}");
    let child = command.stdin(Stdio::null()).stdout(out).stderr(err.try_clone().unwrap()).spawn().unwrap();
    // The command keeps its end of the output: without this a pipe's reader would never see the end.
    command.stdout(Stdio::null());
    Running { child, out: None, err, began: Instant::now(), what }
}

fn text(file: &mut File) -> String {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it printed on stderr so far. Opened anew: the writer owns the offset of ours.
    pub fn err_so_far(&self) -> String {
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.err));
        let mut bytes = Vec::new();
        File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until stderr says `words`; panics when the process ends before, or after `limit`.
    pub fn until_err(&mut self, words: &str, limit: Duration) {
        self.until(&format!("stderr says {words:?}"), limit, |r| r.err_so_far().contains(words));
    }

    /// Waits for something to come true while the process goes on.
    pub fn until(&mut self, what: &str, limit: Duration, mut seen: impl FnMut(&mut Running) -> bool) {
        let deadline = Instant::now() + limit;
        while !seen(self) {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{}: ended ({ended:?}) before {what}: {}", self.what, self.err_so_far());
            assert!(Instant::now() < deadline, "{}: not within {limit:?}: {what}: {}", self.what, self.err_so_far());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn goes_on(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        signal_pid(self.pid(), signal);
    }

    /// Kills it with SIGKILL and waits for it.
    pub fn kill(mut self) -> Ran {
        let _ = self.child.kill();
        let status = self.child.wait().unwrap();
        self.ran(status)
    }

    /// Waits for its end, which must come within `limit` from its start.
    pub fn end(mut self, limit: Duration) -> Ran {
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return self.ran(status);
            }
            if self.began.elapsed() > limit {
                let said = self.err_so_far();
                panic!("{} did not end within {limit:?}; it said: {said}", self.what);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn ran(&mut self, status: ExitStatus) -> Ran {
        let out = self.out.as_mut().map(text).unwrap_or_default();
        let ran = Ran { code: status.code(), out, err: text(&mut self.err), took: self.began.elapsed() };
        assert!(!ran.err.contains("panicked at"), "{} panicked: {}", self.what, ran.err);
        ran
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn signal_pid(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

impl Ran {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts an exit code and exactly one line on stderr, ours, that has all these words in it; nothing on stdout.
    #[track_caller]
    pub fn says(self, code: i32, words: &[&str]) -> Ran {
        let ran = self.exits(code);
        assert_eq!(ran.err.lines().count(), 1, "one line: {ran:#?}");
        assert!(ran.err.starts_with("fathom: "), "{ran:#?}");
        assert_eq!(ran.out, "", "{ran:#?}");
        ran.mentions(words)
    }

    /// Asserts words on stderr.
    #[track_caller]
    pub fn mentions(self, words: &[&str]) -> Ran {
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not told: {self:#?}");
        }
        self
    }

    /// Stdout as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("not one JSON document ({e}): {self:#?}"))
    }
}

/// A shell script in a mount namespace of its own: what it mounts is seen by nobody else and goes with it.
pub fn apart(script: &str, args: &[&OsStr]) -> Command {
    let root = rustix::process::geteuid().is_root();
    let mut command = Command::new("unshare");
    command.arg(if root { "-m" } else { "-rm" }).args(["sh", "-euc", script, "sh"]).args(args);
    command.env_remove("CEPH_CONF").env_remove("CEPH_ARGS");
    command
}

/// Panics with the reason when this machine doesn't let us mount in a namespace of our own.
pub fn require_mounts() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run(&mut apart("mount -t tmpfs -o size=64k none \"$1\"", &[dir.path().as_os_str()]), QUICK);
    assert_eq!(
        ran.code,
        Some(0),
        "this test mounts in a namespace of its own: run it as root or allow user namespaces: {ran:?}"
    );
}

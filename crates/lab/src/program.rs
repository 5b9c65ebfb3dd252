//! Ceph's programs: finding them, running them with a deadline, starting daemons that outlive us.
use crate::{
    error::{LabError, Result},
    marker::Marker,
    process::LAB_VARIABLE,
};
use std::{
    env, fs,
    fs::File,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Every program a lab needs, with the Debian and Ubuntu package it is in.
const NEEDED: &[(&str, &str)] = &[
    ("ceph-mon", "ceph-mon"),
    ("ceph-mgr", "ceph-mgr"),
    ("ceph-osd", "ceph-osd"),
    ("monmaptool", "ceph-base"),
    ("ceph-authtool", "ceph-common"),
    ("ceph", "ceph-common"),
];

/// Runs before every program: raises the number of open files as Ceph's service units do (not without end, because
/// Ceph closes them one by one when it starts a helper), and closes what our own parent may have left open. What we
/// opened ourselves is close-on-exec.
const PRELUDE: &str = r#"n=$(ulimit -H -n); [ "$n" != unlimited ] && [ "$n" -le 65536 ] || n=65536
ulimit -S -n "$n" 2>/dev/null
exec "$@" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-"#;

/// Looks a program up in `PATH` and where distributions put them.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/bin", "/usr/sbin", "/usr/local/bin"].map(PathBuf::from);
    env::split_paths(&path).chain(usual).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// Says which programs are missing and how to get them.
pub(crate) fn check() -> Result<()> {
    let missing: Vec<_> = NEEDED.iter().filter(|(program, _)| find(program).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = |part: fn(&(&'static str, &'static str)) -> &'static str, between: &str| {
        let mut words: Vec<&str> = missing.iter().map(|entry| part(entry)).collect();
        words.dedup();
        words.join(between)
    };
    Err(LabError::Unreachable(format!(
        "a lab needs Ceph's own programs and {} cannot be found: install with `sudo apt-get install -y {}`",
        list(|entry| entry.0, ", "),
        list(|entry| entry.1, " ")
    )))
}

/// A program that was started for a lab and is waited for.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    what: String,
    output: PathBuf,
    deadline: Instant,
}

/// A command of a lab: its configuration, its mark in the environment, nothing of the caller's Ceph settings.
pub(crate) fn command(marker: &Marker, program: &str, args: &[&str]) -> Result<Command> {
    let file = find(program).ok_or_else(|| LabError::Unreachable(format!("`{program}` cannot be found in PATH")))?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", PRELUDE, "sh"]).arg(file).arg("-c").arg(marker.conf()).args(args);
    command.env("CEPH_CONF", marker.conf()).env(LAB_VARIABLE, &marker.id);
    for name in ["CEPH_ARGS", "CEPH_KEYRING", "CEPH_LIB", "CEPH_DEV", "CEPH_ARGS_TRACE", "NOTIFY_SOCKET"] {
        command.env_remove(name);
    }
    // What Ceph's own service units set, from /etc/default/ceph.
    command.env("TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES", "134217728");
    command.stdin(Stdio::null()).current_dir("/");
    Ok(command)
}

/// Starts a program whose output goes to `log/NAME.out`.
pub(crate) fn start(marker: &Marker, name: &str, program: &str, args: &[&str], limit: Duration) -> Result<Running> {
    let output = marker.spec.dir.join("log").join(format!("{name}.out"));
    let open = || File::create(&output).and_then(|out| Ok((out.try_clone()?, out)));
    let (out, err) = open().map_err(|error| LabError::io("write", &output, &error))?;
    let what = format!("{program} {}", args.join(" "));
    let child = command(marker, program, args)?
        .stdout(out)
        .stderr(err)
        .spawn()
        .map_err(|error| LabError::Failed(format!("cannot start `{what}`: {error}")))?;
    Ok(Running { child, what, output, deadline: Instant::now() + limit })
}

impl Running {
    /// Waits for its successful end; kills it at the deadline.
    pub fn wait(mut self) -> Result<()> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(self.failed(&format!("failed ({status})"))),
                Ok(None) if Instant::now() < self.deadline => thread::sleep(Duration::from_millis(5)),
                Ok(None) => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return Err(self.failed("did not end in time"));
                }
                Err(error) => return Err(self.failed(&format!("cannot be waited for: {error}"))),
            }
        }
    }

    fn failed(&self, how: &str) -> LabError {
        let text = fs::read_to_string(&self.output).unwrap_or_default();
        LabError::Failed(format!("`{}` {how}: {}", self.what, last_lines(&text, &self.output)))
    }
}

/// The last few lines of a program's output, on one line, or where to look.
pub(crate) fn last_lines(text: &str, file: &Path) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.len() {
        0 => format!("it said nothing; see the logs in {}", file.parent().unwrap_or(file).display()),
        n => lines[n.saturating_sub(4)..].join(" | "),
    }
}

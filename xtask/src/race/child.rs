//! One child process: its output, its CPU time, and a deadline that it does not survive.
use anyhow::{Context as _, Result, bail};
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `/proc` counts CPU time in these on every Linux that Rust's x86-64 and aarch64 targets run on (`USER_HZ`).
pub const TICKS_PER_S: f64 = 100.0;

/// What a child left.
pub struct Ended {
    pub stdout: String,
    /// User and system time of the child and of its children, in seconds, to 0.02 s.
    pub cpu_s: f64,
}

/// Runs a command to its end. Output goes through files in `scratch`: a full pipe stops nobody.
///
/// Children are run one at a time, so that what this process's children used in all tells what the last one used.
pub fn run(command: &mut Command, scratch: &Path, deadline: Duration) -> Result<Ended> {
    let name = format!("{} …", Path::new(command.get_program()).display());
    let open = |file: &str| {
        let path = scratch.join(file);
        File::options().read(true).write(true).create(true).truncate(true).open(&path).context("scratch directory")
    };
    let (mut out, mut err) = (open("stdout")?, open("stderr")?);
    let before_s = children_cpu_s()?;
    let began = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(err.try_clone()?)
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            bail!("{name} was not over after {deadline:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let cpu_s = children_cpu_s()? - before_s;
    let (stdout, stderr) = (text(&mut out)?, text(&mut err)?);
    if !status.success() {
        let tail: Vec<&str> = stderr.lines().chain(stdout.lines()).rev().take(5).collect();
        bail!("{name} ended with {status}: {}", tail.into_iter().rev().collect::<Vec<_>>().join(" | "));
    }
    Ok(Ended { stdout, cpu_s })
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// CPU seconds of all children of this process that have ended.
fn children_cpu_s() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    children_ticks(&stat).map(|ticks| ticks as f64 / TICKS_PER_S).context("/proc/self/stat has no CPU times")
}

/// `cutime` + `cstime`, fields 16 and 17 of proc(5); the second, the program's name, may contain anything.
fn children_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_childrens_times_are_the_16th_and_17th_field() {
        let stat = "7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 130 14 15 16 17 18 19";
        assert_eq!(children_ticks(stat), Some(130 + 14));
        assert_eq!(children_ticks("7 (x) S 1"), None);
    }

    #[test]
    fn a_child_is_timed_and_ended() {
        let dir = tempfile::tempdir().unwrap();
        let minute = Duration::from_secs(60);
        let busy = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done";
        let ended = run(Command::new("sh").args(["-c", busy]), dir.path(), minute).unwrap();
        assert_eq!(ended.stdout, "done\n");
        assert!(ended.cpu_s > 0.0);
        let failed = run(Command::new("sh").args(["-c", "echo why >&2; exit 3"]), dir.path(), minute);
        assert!(failed.err().unwrap().to_string().contains("why"));
        let late = run(Command::new("sleep").arg("60"), dir.path(), Duration::from_millis(100));
        assert!(late.err().unwrap().to_string().contains("not over"));
    }
}

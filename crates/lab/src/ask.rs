//! Two ways to talk to a lab's daemons: one long-lived `ceph` program, and their admin sockets.
use crate::{
    error::{LabError, Result},
    marker::Marker,
    program,
};
use serde_json::Value;
use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

/// Without an admin socket: it is killed at the end and would leave one behind.
const NO_SOCKET: &str = "--admin-socket=";

enum Line {
    Out(String),
    Err(String),
}

/// A `ceph` program that reads one command per line. Starting it takes the better part of a second (it is Python), so
/// it is started once.
pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Line>,
}

impl Session {
    /// Starts it. The monitors need not be there yet: it waits for them for `limit`.
    pub fn open(marker: &Marker, limit: Duration) -> Result<Session> {
        let timeout = limit.as_secs().max(1).to_string();
        let mut command: Command =
            program::command(marker, "ceph", &["-f", "json", "--connect-timeout", &timeout, NO_SOCKET])?;
        // Its answers would otherwise stay in a buffer.
        command.env("PYTHONUNBUFFERED", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| LabError::Failed(format!("cannot start the `ceph` program: {error}")))?;
        let (send, lines) = channel();
        if let Some(out) = child.stdout.take() {
            forward(out, send.clone(), Line::Out);
        }
        if let Some(err) = child.stderr.take() {
            forward(err, send, Line::Err);
        }
        Ok(Session { stdin: child.stdin.take(), child, lines })
    }

    /// Gives a command whose answer is not looked at. Should it fail, the next [`Session::ask`] says so.
    pub fn tell(&mut self, command: &str) -> Result<()> {
        let Some(stdin) = self.stdin.as_mut() else { return Ok(()) };
        stdin.write_all(format!("{command}\n").as_bytes()).map_err(|error| {
            LabError::Failed(format!("the `ceph` program ended before `{command}`: {error}; {}", self.complaints()))
        })
    }

    /// Gives a command and waits for its JSON answer.
    pub fn ask(&mut self, command: &str, limit: Duration) -> Result<Value> {
        self.tell(command)?;
        let deadline = Instant::now() + limit;
        let failed = |how: String| Err(LabError::Failed(format!("`ceph {command}` {how}")));
        let mut said = String::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Line::Out(line)) => {
                    if let Ok(value) = serde_json::from_str(&line) {
                        return Ok(value);
                    }
                }
                Ok(Line::Err(line)) if line.starts_with("Error ") => return failed(format!("failed: {line}")),
                Ok(Line::Err(line)) => said = line,
                Err(RecvTimeoutError::Timeout) => {
                    return failed(format!("gave no answer in {} s; {said}", limit.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => return failed(format!("ended without an answer; {said}")),
            }
        }
    }

    fn complaints(&self) -> String {
        let errors = self.lines.try_iter().filter_map(|line| match line {
            Line::Err(text) => Some(text),
            Line::Out(_) => None,
        });
        errors.last().unwrap_or_default()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Its input ends, so it does; but it may hang on a monitor that is gone, so it is killed as well.
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn forward(from: impl Read + Send + 'static, to: Sender<Line>, kind: fn(String) -> Line) {
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(std::result::Result::ok) {
            let line = line.trim();
            if !line.is_empty() && to.send(kind(line.to_owned())).is_err() {
                return;
            }
        }
    });
}

/// Sends a command to a daemon's admin socket and returns its answer: the request is JSON and a NUL, the answer its
/// length as four bytes big-endian and the text (Ceph's `AdminSocket::do_accept`).
pub(crate) fn admin(socket: &Path, request: &Value, limit: Duration) -> io::Result<String> {
    const LARGEST: usize = 64 << 20;
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))?;
    stream.write_all(format!("{request}\0").as_bytes())?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > LARGEST {
        return Err(io::Error::other(format!("an answer of {length} bytes")));
    }
    let mut text = vec![0; length];
    stream.read_exact(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

//! A connection to one worker process. A transport is a command prefix and nothing more: empty for a child process,
//! `ssh HOST`, `kubectl exec -i POD --`, …
use crate::protocol::{Failure, FailureClass, LINE_BYTES_MAX, PROTOCOL, Reply, Request};
use std::{
    collections::{HashMap, VecDeque},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

/// Longest wait for a worker's first line.
const HELLO_WAIT: Duration = Duration::from_secs(30);
/// Lines of a worker's stderr kept to explain its death.
const STDERR_LINES: usize = 20;

/// How to start a worker.
#[derive(Clone, Debug)]
pub struct Transport {
    /// Words before the program: empty for this host.
    pub prefix: Vec<String>,
    /// The fathom binary there.
    pub program: PathBuf,
}

impl Transport {
    /// A child process of this program.
    ///
    /// # Errors
    /// When this program's own path is unknown.
    pub fn local() -> Result<Transport, Failure> {
        let program = std::env::current_exe()
            .map_err(|e| Failure::new(FailureClass::Failed, format!("cannot find this program's own file: {e}")))?;
        Ok(Transport { prefix: Vec::new(), program })
    }
}

/// What a worker says outside of answers; `Gone` is the last.
pub enum Incoming {
    /// Anything but an answer.
    Reply(Reply),
    /// The pipe closed: how the process ended and what it last said on stderr.
    Gone(String),
}

type Pending = Arc<Mutex<HashMap<u64, mpsc::Sender<Result<String, Failure>>>>>;

/// A running worker.
pub struct Conn {
    child: Mutex<Child>,
    input: Mutex<Option<ChildStdin>>,
    pending: Pending,
    next_id: AtomicU64,
    host: String,
}

impl Conn {
    /// Starts a worker and waits for its hello. `on` is called on the reading thread for everything but answers.
    ///
    /// # Errors
    /// When the command can't be started, doesn't say hello in time or speaks another protocol.
    pub fn open(transport: &Transport, on: impl FnMut(&Conn, Incoming) + Send + 'static) -> Result<Arc<Conn>, Failure> {
        let program = transport.program.display().to_string();
        let mut words = transport.prefix.iter().cloned().chain([program, "worker".to_owned()]);
        let first = words.next().unwrap_or_default();
        let mut child = Command::new(&first)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: Ctrl-C at the terminal goes to the controller, which ends workers in order.
            .process_group(0)
            .spawn()
            .map_err(|e| Failure::new(FailureClass::Unreachable, format!("cannot start worker `{first}`: {e}")))?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Failure::new(FailureClass::Failed, "a worker without pipes"));
        };
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let keep = Arc::clone(&last_words);
        std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                let mut keep = keep.lock().unwrap_or_else(PoisonError::into_inner);
                keep.push_back(line.chars().take(400).collect::<String>());
                if keep.len() > STDERR_LINES {
                    keep.pop_front();
                }
            }
        });
        let mut lines = BufReader::new(output);
        let (hello_sink, hello) = mpsc::channel();
        let (conn_sink, conn_source) = mpsc::channel::<Arc<Conn>>();
        std::thread::spawn(move || {
            let _ = hello_sink.send(read_line(&mut lines));
            let Ok(conn) = conn_source.recv() else { return };
            read_all(&conn, &mut lines, &last_words, on);
        });
        let hello = hello.recv_timeout(HELLO_WAIT).ok().flatten();
        let Some(Reply::Hello { protocol, host, .. }) = hello else {
            let _ = child.kill();
            let _ = child.wait();
            let text = format!("worker `{first}` did not say hello within {} s", HELLO_WAIT.as_secs());
            return Err(Failure::new(FailureClass::Unreachable, text));
        };
        if protocol != PROTOCOL {
            let _ = child.kill();
            let _ = child.wait();
            let text = format!("worker on {host} speaks protocol {protocol}, this program {PROTOCOL}: update it there");
            return Err(Failure::new(FailureClass::Unreachable, text));
        }
        let conn = Arc::new(Conn {
            child: Mutex::new(child),
            input: Mutex::new(Some(input)),
            pending: Arc::default(),
            next_id: AtomicU64::new(1),
            host,
        });
        let _ = conn_sink.send(Arc::clone(&conn));
        Ok(conn)
    }

    /// The worker's host name.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Sends a request that has no answer. False when the worker is gone.
    pub fn send(&self, request: &Request) -> bool {
        let Ok(mut line) = serde_json::to_vec(request) else { return false };
        line.push(b'\n');
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        input.as_mut().is_some_and(|pipe| pipe.write_all(&line).and_then(|()| pipe.flush()).is_ok())
    }

    /// Sends a request and waits for its answer, `timeout` at most.
    ///
    /// # Errors
    /// The worker's own failure, or that it didn't answer in time or died.
    pub fn ask(&self, request: impl FnOnce(u64) -> Request, timeout: Duration) -> Result<String, Failure> {
        let id = self.next_id.fetch_add(1, Relaxed);
        let (sink, answer) = mpsc::channel();
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sink);
        if !self.send(&request(id)) {
            self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            return Err(Failure::new(FailureClass::Failed, format!("the worker on {} is gone", self.host)));
        }
        let result = answer.recv_timeout(timeout);
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        match result {
            Ok(result) => result,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(Failure {
                class: FailureClass::Failed,
                text: format!("no answer within {:.1} s", timeout.as_secs_f64()),
                errno: 110,
            }),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                Err(Failure::new(FailureClass::Failed, format!("the worker on {} died", self.host)))
            }
        }
    }

    /// Closes the pipe and waits; kills what is still there after `grace`.
    pub fn close(&self, grace: Duration) {
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
        let deadline = Instant::now() + grace;
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        while Instant::now() < deadline {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let _ = child.wait();
    }

    fn how_it_ended(&self) -> String {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..200 {
            match child.try_wait() {
                Ok(Some(status)) => {
                    return match (status.code(), status.signal()) {
                        (Some(code), _) => format!("it exited with code {code}"),
                        (None, Some(signal)) => format!("it was killed by signal {signal}"),
                        (None, None) => "it ended".to_owned(),
                    };
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(5)),
                Err(_) => break,
            }
        }
        "it closed its output".to_owned()
    }
}

impl Drop for Conn {
    fn drop(&mut self) {
        self.close(Duration::from_secs(2));
    }
}

fn read_line(lines: &mut impl std::io::BufRead) -> Option<Reply> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if lines.take(LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        // A login shell or a library may print something of its own: skip what isn't ours.
        if let Ok(reply) = serde_json::from_slice(&line) {
            return Some(reply);
        }
    }
}

fn read_all(
    conn: &Conn,
    lines: &mut impl std::io::BufRead,
    last_words: &Mutex<VecDeque<String>>,
    mut on: impl FnMut(&Conn, Incoming),
) {
    while let Some(reply) = read_line(lines) {
        if let Reply::Answer { id, result } = reply {
            let sink = conn.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            if let Some(sink) = sink {
                let _ = sink.send(result);
            }
        } else {
            on(conn, Incoming::Reply(reply));
        }
    }
    conn.pending.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let mut how = conn.how_it_ended();
    let said = last_words.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.is_empty() {
        how = format!("{how}; it last said: {}", said.iter().cloned().collect::<Vec<_>>().join(" | "));
    }
    on(conn, Incoming::Gone(how));
}

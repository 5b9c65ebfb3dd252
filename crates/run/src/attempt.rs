//! One attempt as the controller sees it: a worker process is started, given one step, listened to and ended.
//!
//! Whatever happens to the worker, this returns within a known time, and what the worker said until then is stored.
use crate::{
    conn::{Conn, Incoming, Transport},
    protocol::{Failure, FailureClass, Reply, Request},
    recorder::Recorder,
    watch::StuckReport,
};
use fathom_model::{AttemptEnd, Connect, Event, EventKind, OwnIo, Step, StopReason};
use std::{
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

/// Preparation may take long, but not without progress for this long.
const PREPARE_WAIT: Duration = Duration::from_secs(120);
/// On top of ramp, duration and the operations' own deadline.
const END_SLACK: Duration = Duration::from_secs(10);
/// After a cancel the worker gets this long.
const CANCEL_WAIT: Duration = Duration::from_secs(15);

/// What one attempt came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Why load ended.
    pub stop: StopReason,
    /// A failure that came before or after the load.
    pub failure: Option<Failure>,
}

impl Ended {
    /// True when there is a result to use.
    #[must_use]
    pub fn measured(&self) -> bool {
        matches!(
            self.stop,
            StopReason::Duration | StopReason::Ops | StopReason::Tight | StopReason::Space | StopReason::Cancelled
        )
    }
}

/// What the controller reads of a worker's stream.
enum Seen {
    Progress,
    LoadStarted,
    Ended(StopReason),
    Finished(Option<Failure>),
    Gone(String),
}

/// Everything an attempt needs.
pub(crate) struct Attempt<'a> {
    pub id: u32,
    pub step_index: u32,
    pub repeat: u32,
    pub step: &'a Step,
    pub connect: &'a Connect,
    pub transport: &'a Transport,
    pub recorder: &'a Recorder,
    pub stuck: Option<mpsc::Sender<StuckReport>>,
    pub keep: bool,
}

impl Attempt<'_> {
    /// Runs it.
    pub(crate) fn run(&self, cancel: &AtomicBool) -> Ended {
        let (sink, seen) = mpsc::channel();
        let conn = match Conn::open(self.transport, self.listener(sink)) {
            Ok(conn) => conn,
            Err(failure) => {
                let stop = StopReason::NotStarted { error: failure.text.clone() };
                self.start_event("controller");
                self.end_event(AttemptEnd::not_started(stop.clone()));
                return Ended { stop, failure: Some(failure) };
            }
        };
        self.start_event(conn.host());
        conn.send(&Request::Run { attempt: self.id, step: Box::new(self.step.clone()), connect: self.connect.clone() });
        let ended = self.follow(&conn, &seen, cancel);
        conn.close(Duration::from_secs(3));
        ended
    }

    fn start_event(&self, host: &str) {
        let kind = EventKind::AttemptStarted { step: self.step_index, repeat: self.repeat };
        let at_unix_ns = crate::worker::unix_ns();
        self.recorder.event(Event { at_unix_ns, host: host.to_owned(), attempt: Some(self.id), kind });
    }

    fn end_event(&self, end: AttemptEnd) {
        self.recorder.own(Some(self.id), EventKind::AttemptEnded(end));
    }

    fn follow(&self, conn: &Conn, seen: &mpsc::Receiver<Seen>, cancel: &AtomicBool) -> Ended {
        let load = &self.step.load;
        let load_wait = Duration::from_nanos(load.ramp_ns + load.stop.duration_ns + load.op_timeout_ns) + END_SLACK;
        let mut deadline = Instant::now() + PREPARE_WAIT;
        let mut started = false;
        let mut stop = None;
        let mut cancelled = false;
        loop {
            if !cancelled && (cancel.load(Relaxed) || self.recorder.failed().is_some()) {
                cancelled = true;
                conn.send(&Request::Cancel);
                deadline = deadline.min(Instant::now() + CANCEL_WAIT);
            }
            match seen.recv_timeout(Duration::from_millis(100)) {
                Ok(Seen::Progress) if !started && !cancelled => deadline = Instant::now() + PREPARE_WAIT,
                Ok(Seen::LoadStarted) => {
                    started = true;
                    if !cancelled {
                        deadline = Instant::now() + load_wait;
                    }
                }
                Ok(Seen::Progress) | Err(mpsc::RecvTimeoutError::Timeout) => {}
                Ok(Seen::Ended(reason)) => stop = Some(reason),
                Ok(Seen::Finished(failure)) => {
                    let none = StopReason::NotStarted { error: "the worker gave no account".into() };
                    return Ended { stop: stop.unwrap_or(none), failure };
                }
                Ok(Seen::Gone(how)) => return self.lost(stop, &format!("the worker process is gone: {how}")),
                Err(mpsc::RecvTimeoutError::Disconnected) => return self.lost(stop, "the worker process is gone"),
            }
            if Instant::now() > deadline {
                conn.close(Duration::ZERO);
                let what = if started { "did not end in time" } else { "made no progress while preparing" };
                return self.lost(stop, &format!("the worker {what} and was killed"));
            }
        }
    }

    fn lost(&self, stop: Option<StopReason>, how: &str) -> Ended {
        self.recorder.note(Some(self.id), format!("{}: {how}", self.step.name));
        let failure = Some(Failure::new(FailureClass::Failed, how));
        Ended { stop: stop.unwrap_or_else(|| StopReason::WorkerLost { error: how.to_owned() }), failure }
    }

    /// Turns the worker's stream into recorded events. Runs on the connection's reading thread.
    fn listener(&self, sink: mpsc::Sender<Seen>) -> impl FnMut(&Conn, Incoming) + Send + 'static {
        let (recorder, stuck, attempt, keep) = (self.recorder.clone(), self.stuck.clone(), self.id, self.keep);
        let text = |key: &str| self.step.params.get(key).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        let (pool, namespace) = (text("pool"), text("namespace"));
        let mut account = AttemptEnd::not_started(StopReason::Duration);
        let mut loading = false;
        let mut ended = false;
        let mut prepared = 0;
        move |conn, incoming| match incoming {
            Incoming::Reply(Reply::Event { at_unix_ns, kind }) => {
                let host = conn.host().to_owned();
                let _ = sink.send(match &*kind {
                    EventKind::LoadStarted => Seen::LoadStarted,
                    EventKind::AttemptEnded(end) => Seen::Ended(end.stop.clone()),
                    _ => Seen::Progress,
                });
                match &*kind {
                    EventKind::Preparing { done, .. } => prepared = *done,
                    EventKind::LoadStarted => {
                        loading = true;
                        if prepared > 0 {
                            // The marker that says the data set is whole is one more.
                            let io = OwnIo { pool: pool.clone(), writes: prepared + 1, removes: 0, reads: 0 };
                            recorder.own(Some(attempt), EventKind::OwnIo(io));
                        }
                    }
                    EventKind::Sample(s) => {
                        account.completed += s.ops;
                        account.failed += s.failed();
                        account.timed_out += s.timeouts;
                        account.unsent += s.unsent;
                    }
                    EventKind::AttemptEnded(_) => ended = true,
                    _ => {}
                }
                if let (EventKind::Stuck(op), Some(stuck)) = (&*kind, &stuck) {
                    let place = (!pool.is_empty()).then(|| (pool.clone(), namespace.clone()));
                    let report = StuckReport { attempt, host, at_unix_ns, op: op.clone(), place };
                    let _ = stuck.send(report);
                } else {
                    recorder.event(Event { at_unix_ns, host, attempt: Some(attempt), kind: *kind });
                }
            }
            Incoming::Reply(Reply::Ledger { id, made }) => {
                let error = recorder.ledger(made, keep).err();
                conn.send(&Request::Stored { id, error });
            }
            Incoming::Reply(Reply::Finished { error }) => drop(sink.send(Seen::Finished(error))),
            Incoming::Reply(_) => {}
            Incoming::Gone(how) => {
                if loading && !ended {
                    // The account as far as it was told: what the worker had in flight is unknown.
                    account.issued = account.completed + account.failed + account.timed_out;
                    account.stop = StopReason::WorkerLost { error: how.clone() };
                    recorder.own(Some(attempt), EventKind::AttemptEnded(account.clone()));
                }
                let _ = sink.send(Seen::Gone(how));
            }
        }
    }
}

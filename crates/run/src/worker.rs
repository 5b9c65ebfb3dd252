//! The worker process: makes load and talks to the cluster, so that the controller survives whatever a storage
//! library does to its process. It speaks [`crate::protocol`] on stdin and stdout.
//!
//! When stdin closes the controller is gone: the worker makes nothing more and ends.
use crate::{
    host_facts,
    protocol::{CommandTarget, Failure, FailureClass, LINE_BYTES_MAX, PROTOCOL, Reply, Request},
};
use fathom_load::{
    control::{ControlHandle, Target},
    layer::{Cx, LoadError, Stored},
    layers,
};
use fathom_model::{AttemptEnd, Connect, EventKind, Fact, Made, Step, StopReason};
use std::{
    collections::HashMap,
    io::{BufRead as _, Read as _, Write as _},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// How long a worker waits for the ledger to answer before it takes the controller for dead.
const LEDGER_WAIT: Duration = Duration::from_secs(30);
/// How long an orphaned worker may still take to end by itself.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// Unix time in nanoseconds.
pub(crate) fn unix_ns() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos() as i64)
}

/// What all threads of a worker share.
struct Shared {
    out: Mutex<std::io::Stdout>,
    cancel: AtomicBool,
    orphaned: AtomicBool,
    next_ledger: AtomicU64,
    ledger_waits: Mutex<HashMap<u64, Stored>>,
    control: OnceLock<ControlHandle>,
}

impl Shared {
    fn send(&self, reply: &Reply) {
        let Ok(mut line) = serde_json::to_vec(reply) else { return };
        line.push(b'\n');
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            self.orphaned.store(true, Relaxed);
            self.cancel.store(true, Relaxed);
        }
    }

    fn event(&self, kind: EventKind) {
        self.send(&Reply::Event { at_unix_ns: unix_ns(), kind: Box::new(kind) });
    }
}

/// Serves one controller until it closes stdin.
pub fn serve(build: &str) {
    let shared = Arc::new(Shared {
        out: Mutex::new(std::io::stdout()),
        cancel: AtomicBool::new(false),
        orphaned: AtomicBool::new(false),
        next_ledger: AtomicU64::new(1),
        ledger_waits: Mutex::new(HashMap::new()),
        control: OnceLock::new(),
    });
    shared.send(&Reply::Hello {
        protocol: PROTOCOL,
        build: build.to_owned(),
        host: host_facts::host_name(),
        pid: std::process::id(),
    });
    let mut runner = None;
    let mut input = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut input).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        match serde_json::from_slice::<Request>(&line) {
            Ok(Request::Run { attempt: _, step, connect }) => {
                let shared = Arc::clone(&shared);
                runner = Some(std::thread::spawn(move || run_step(&shared, &step, &connect)));
            }
            Ok(request) => answer(&shared, request),
            Err(error) => shared.event(EventKind::Note { text: format!("worker: unreadable request: {error}") }),
        }
    }
    // Nobody listens any more.
    shared.orphaned.store(true, Relaxed);
    shared.cancel.store(true, Relaxed);
    shared.ledger_waits.lock().unwrap_or_else(PoisonError::into_inner).clear();
    if let Some(runner) = runner {
        let deadline = std::time::Instant::now() + ORPHAN_GRACE;
        while !runner.is_finished() && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    // Not a return: threads of a storage library may never end, and their destructors may hang.
    std::process::exit(0);
}

fn answer(shared: &Arc<Shared>, request: Request) {
    match request {
        Request::Run { .. } => {}
        Request::Stored { id, error } => {
            let wait = shared.ledger_waits.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            if let Some(wait) = wait {
                wait(match error {
                    None => Ok(()),
                    Some(error) => Err(LoadError::Failed(format!("the ledger could not be written: {error}"))),
                });
            }
        }
        Request::Cancel => shared.cancel.store(true, Relaxed),
        Request::Connect { id, connect } => in_thread(shared, id, move |shared| {
            let handle = ControlHandle::connect(&connect)?;
            let fsid = handle.fsid().to_owned();
            let _ = shared.control.set(handle);
            Ok(fsid)
        }),
        Request::Command { id, target, json } => in_thread(shared, id, move |shared| {
            let target = match target {
                CommandTarget::Mon => Target::Mon,
                CommandTarget::MonNamed(name) => Target::MonNamed(name),
                CommandTarget::Mgr => Target::Mgr,
                CommandTarget::Osd(id) => Target::Osd(id),
            };
            control(shared)?.command(&target, &json).map_err(|e| Failure {
                class: FailureClass::Failed,
                errno: e.errno,
                text: match e.status.as_str() {
                    "" => fathom_model::errno_name(e.errno).to_owned(),
                    status => format!("{status} ({})", fathom_model::errno_name(e.errno)),
                },
            })
        }),
        Request::ReadObject { id, pool, namespace, name } => in_thread(shared, id, move |shared| {
            let bytes = control(shared)?.read_object(&pool, &namespace, &name, 4096)?;
            let hex = bytes.map(|b| b.iter().map(|x| format!("{x:02x}")).collect::<String>());
            Ok(serde_json::json!(hex).to_string())
        }),
        Request::HostFacts { id } => in_thread(shared, id, |_| {
            serde_json::to_string(&host_facts::capture()).map_err(|e| Failure::new(FailureClass::Failed, e.to_string()))
        }),
        Request::Remove { id, made, connect } => in_thread(shared, id, move |shared| {
            let mut progress = |done, total| shared.send(&Reply::Progress { id, done, total });
            let removed = fathom_load::remove::remove(&made, &connect, &mut progress)?;
            Ok(serde_json::json!({"removed": removed.removed, "absent": removed.absent}).to_string())
        }),
    }
}

fn control(shared: &Shared) -> Result<&ControlHandle, Failure> {
    shared.control.get().ok_or_else(|| Failure::new(FailureClass::Failed, "the worker is not connected to a cluster"))
}

/// Cluster calls block; each has a thread of its own, so that a dead OSD holds up nothing but its own answer.
fn in_thread(shared: &Arc<Shared>, id: u64, work: impl FnOnce(&Shared) -> Result<String, Failure> + Send + 'static) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let result = work(&shared);
        shared.send(&Reply::Answer { id, result });
    });
}

fn run_step(shared: &Shared, step: &Step, connect: &Connect) {
    let result = try_step(shared, step, connect);
    let (error, abandoned) = match result {
        Ok(abandoned) => (None, abandoned),
        Err(failure) => {
            let stop = StopReason::NotStarted { error: failure.text.clone() };
            shared.event(EventKind::AttemptEnded(AttemptEnd::not_started(stop)));
            (Some(failure), true)
        }
    };
    shared.send(&Reply::Finished { error });
    if abandoned {
        // Operations that may still complete own leaked buffers; only the end of the process is safe.
        std::process::exit(0);
    }
}

fn try_step(shared: &Shared, step: &Step, connect: &Connect) -> Result<bool, Failure> {
    let layer = layers::find(&step.layer)
        .ok_or_else(|| Failure::new(FailureClass::Usage, format!("there is no layer `{}`", step.layer)))?;
    let job = layer.job(step, connect)?;
    let cx = WorkerCx { shared };
    job.prepare(&cx)?;
    let settings: Vec<String> = job.settings().iter().map(|(k, v)| format!("{k} = {v}")).collect();
    if !settings.is_empty() {
        shared.event(EventKind::Fact(Fact {
            moment: "attempt".into(),
            source: format!("{} client settings", step.layer),
            text: settings.join("\n"),
            error: None,
        }));
    }
    if cx.cancelled() {
        return Err(Failure::new(FailureClass::Failed, "cancelled while preparing"));
    }
    let account = fathom_load::run(&*job, &step.load, &cx, None, &mut |kind| shared.event(kind))?;
    let failed = account.error.map(Failure::from);
    let mut end = account.end;
    if let Some(failure) = &failed {
        end.stop = StopReason::WorkerLost { error: failure.text.clone() };
    }
    let completed = end.completed;
    let whole = failed.is_none() && end.stop != StopReason::Cancelled;
    shared.event(EventKind::AttemptEnded(end));
    if let Some(failure) = failed {
        shared.event(EventKind::Note { text: format!("{}: {failure}", step.name) });
    }
    if whole && let Err(error) = job.finish(completed, &cx) {
        shared.event(EventKind::Note { text: format!("{}: {error}", step.name) });
    }
    if account.abandoned {
        std::mem::forget(job);
    }
    Ok(account.abandoned)
}

/// The job's view of this process.
struct WorkerCx<'a> {
    shared: &'a Shared,
}

impl Cx for WorkerCx<'_> {
    fn ledger(&self, made: &Made) -> Result<(), LoadError> {
        if self.shared.orphaned.load(Relaxed) {
            return Err(LoadError::Orphaned);
        }
        let (done, wait) = mpsc::channel();
        self.ledger_ahead(made, Box::new(move |result| drop(done.send(result))));
        wait.recv_timeout(LEDGER_WAIT).unwrap_or(Err(LoadError::Orphaned))
    }

    fn ledger_ahead(&self, made: &Made, stored: Stored) {
        let id = self.shared.next_ledger.fetch_add(1, Relaxed);
        self.shared.ledger_waits.lock().unwrap_or_else(PoisonError::into_inner).insert(id, stored);
        self.shared.send(&Reply::Ledger { id, made: made.clone() });
    }

    fn progress(&self, done: u64, total: u64, unit: &str) {
        self.shared.event(EventKind::Preparing { done, total, unit: unit.to_owned() });
    }

    fn note(&self, text: &str) {
        self.shared.event(EventKind::Note { text: text.to_owned() });
    }

    fn cancelled(&self) -> bool {
        self.shared.cancel.load(Relaxed)
    }
}

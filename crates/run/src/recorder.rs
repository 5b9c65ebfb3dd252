//! The one consumer of a run's event stream: the store first, then whoever watches (screen, plain lines).
//!
//! It has a thread of its own, so that neither a slow disk under the store nor a slow terminal holds up a worker.
use crate::{
    store::{Store, StoreError, same_name},
    worker::unix_ns,
};
use fathom_model::{Event, EventKind, LedgerEntry, Made};
use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Events are made permanent at least this often.
const COMMIT: Duration = Duration::from_millis(400);

/// Somebody who watches the stream.
pub type Observer = Box<dyn FnMut(&Event) + Send>;

enum Message {
    Event(Box<Event>),
    Ledger { made: Made, keep: bool, done: mpsc::Sender<Result<(), String>> },
    Removed { id: u64 },
    End,
    Sync(mpsc::Sender<()>),
}

/// What both sides see.
#[derive(Default)]
struct Shared {
    /// The ledger as it should be on disk. Clean-up goes by it even when the disk under the store is full.
    ledger: Vec<LedgerEntry>,
    /// The first failure of the store.
    failed: Option<String>,
}

/// A handle to the recorder; cheap to clone.
#[derive(Clone)]
pub struct Recorder {
    sink: mpsc::Sender<Message>,
    shared: Arc<Mutex<Shared>>,
}

/// The recorder's thread; joined when the run is over.
pub struct Recording(JoinHandle<Option<Store>>);

impl Recording {
    /// Waits until everything is written. Every [`Recorder`] must have been dropped.
    #[must_use]
    pub fn finish(self) -> Option<Store> {
        self.0.join().ok().flatten()
    }
}

impl Recorder {
    /// Starts recording into `store`.
    #[must_use]
    pub fn start(store: Store, observers: Vec<Observer>) -> (Recorder, Recording) {
        let (sink, source) = mpsc::channel();
        let shared = Arc::new(Mutex::new(Shared::default()));
        let mine = Arc::clone(&shared);
        let thread = std::thread::spawn(move || Writer { store, observers, shared: mine }.run(&source));
        (Recorder { sink, shared }, Recording(thread))
    }

    /// Records an event.
    pub fn event(&self, event: Event) {
        let _ = self.sink.send(Message::Event(Box::new(event)));
    }

    /// Records an event of the controller, now.
    pub fn own(&self, attempt: Option<u32>, kind: EventKind) {
        self.event(Event { at_unix_ns: unix_ns(), host: "controller".into(), attempt, kind });
    }

    /// Records a note.
    pub fn note(&self, attempt: Option<u32>, text: impl Into<String>) {
        self.own(attempt, EventKind::Note { text: text.into() });
    }

    /// Writes a ledger entry; returns when it is on disk.
    ///
    /// # Errors
    /// When it could not be written: then the thing must not be made.
    pub fn ledger(&self, made: Made, keep: bool) -> Result<(), String> {
        let (done, wait) = mpsc::channel();
        let _ = self.sink.send(Message::Ledger { made, keep, done });
        wait.recv().unwrap_or_else(|_| Err("the recorder is gone".into()))
    }

    /// Marks an entry as removed.
    pub fn removed(&self, id: u64) {
        let _ = self.sink.send(Message::Removed { id });
    }

    /// Marks the run as ended.
    pub fn end(&self) {
        let _ = self.sink.send(Message::End);
    }

    /// Waits until everything recorded so far is on disk.
    pub fn sync(&self) {
        let (done, wait) = mpsc::channel();
        let _ = self.sink.send(Message::Sync(done));
        let _ = wait.recv();
    }

    /// The ledger's entries that are not removed yet.
    #[must_use]
    pub fn open_entries(&self) -> Vec<LedgerEntry> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.ledger.iter().filter(|e| e.removed_unix_ns.is_none()).cloned().collect()
    }

    /// Why the store can't be written any more.
    #[must_use]
    pub fn failed(&self) -> Option<String> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).failed.clone()
    }
}

struct Writer {
    store: Store,
    observers: Vec<Observer>,
    shared: Arc<Mutex<Shared>>,
}

impl Writer {
    fn run(mut self, source: &mpsc::Receiver<Message>) -> Option<Store> {
        let mut committed = Instant::now();
        loop {
            match source.recv_timeout(COMMIT) {
                Ok(message) => self.take(message),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if committed.elapsed() >= COMMIT {
                let result = self.store.commit();
                self.check(result);
                committed = Instant::now();
            }
        }
        let result = self.store.commit();
        self.check(result);
        Some(self.store)
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Event(event) => {
                let result = self.store.event(&event);
                self.check(result);
                self.observers.iter_mut().for_each(|o| o(&event));
            }
            Message::Ledger { made, keep, done } => {
                let at = unix_ns();
                let result = self.store.ledger(at, &made, keep).map_err(|e| e.to_string());
                if result.is_ok() {
                    self.remember(at, made, keep);
                } else {
                    self.fail(result.clone().err());
                }
                let _ = done.send(result);
            }
            Message::Removed { id } => {
                let at = unix_ns();
                {
                    let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(entry) = shared.ledger.iter_mut().find(|e| e.id == id) {
                        entry.removed_unix_ns = Some(at);
                    }
                }
                let result = self.store.removed(id, at);
                self.check(result);
            }
            Message::End => {
                let result = self.store.end(unix_ns());
                self.check(result);
            }
            Message::Sync(done) => {
                let result = self.store.commit();
                self.check(result);
                let _ = done.send(());
            }
        }
    }

    fn remember(&mut self, at_unix_ns: i64, made: Made, keep: bool) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shared.ledger.iter_mut().find(|e| e.removed_unix_ns.is_none() && same_name(&e.made, &made));
        if let Some(entry) = known {
            entry.made = made;
            return;
        }
        // Ids count up from 1 in the store, too: entries are only ever added, by this thread alone.
        let id = shared.ledger.len() as u64 + 1;
        shared.ledger.push(LedgerEntry { id, at_unix_ns, keep, removed_unix_ns: None, made });
    }

    fn check(&mut self, result: Result<(), StoreError>) {
        self.fail(result.err().map(|e| e.to_string()));
    }

    fn fail(&mut self, error: Option<String>) {
        if let Some(error) = error {
            self.shared.lock().unwrap_or_else(PoisonError::into_inner).failed.get_or_insert(error);
        }
    }
}

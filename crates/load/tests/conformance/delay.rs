//! A layer that takes as long as it is told, and fails, hangs, stalls and disorders as it is told.
use fathom_load::layer::{Cx, Done, Job, Lane, LaneSpec, LoadError, Op, Space};
use fathom_model::ErrorClass;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What failing operations fail with.
pub const EIO: ErrorClass = ErrorClass::Errno(5);
const ECANCELED: ErrorClass = ErrorClass::Errno(125);

/// The job, and all that is told.
#[derive(Clone, Debug)]
pub struct Delay {
    /// Every operation takes this long.
    pub delay: Duration,
    /// Addresses.
    pub blocks: u64,
    /// Every so many-th operation of a lane fails; 0: none.
    pub fail_every: u64,
    /// Every so many-th operation of a lane never ends by itself; 0: none.
    pub lose_every: u64,
    /// Every so many-th operation of a lane takes so long instead; 0: none.
    pub slow: (u64, Duration),
    /// Cancels are ignored.
    pub deaf: bool,
    /// Every second operation takes twice as long, so that later ones overtake it.
    pub disorder: bool,
    /// Whatever would end in this part of the lane's life ends at its end.
    pub stall: Option<(Duration, Duration)>,
}

impl Delay {
    pub fn of(delay: Duration) -> Delay {
        Delay {
            delay,
            blocks: 1 << 20,
            fail_every: 0,
            lose_every: 0,
            slow: (0, delay),
            deaf: false,
            disorder: false,
            stall: None,
        }
    }
}

impl Job for Delay {
    fn space(&self) -> Space {
        Space { blocks: self.blocks }
    }
    fn prepare(&self, _: &dyn Cx) -> Result<(), LoadError> {
        Ok(())
    }
    fn lane<'a>(&'a self, _: LaneSpec, _: &'a dyn Cx) -> Result<Box<dyn Lane + 'a>, LoadError> {
        let (ask, asked) = channel();
        let (give, done) = channel();
        let clock = Clock { told: self.clone(), began: Instant::now(), count: 0, pending: Vec::new(), give };
        let thread = std::thread::spawn(move || clock.serve(&asked));
        Ok(Box::new(DelayLane { ask: Some(ask), done, thread: Some(thread) }))
    }
    fn target(&self, at: u64) -> String {
        format!("block {at}")
    }
}

enum Ask {
    Start(Op, Instant),
    Cancel(u32),
}

struct DelayLane {
    ask: Option<Sender<Ask>>,
    done: Receiver<Done>,
    thread: Option<JoinHandle<()>>,
}

impl Lane for DelayLane {
    fn submit(&mut self, op: Op) -> Result<(), LoadError> {
        self.ask.as_ref().unwrap().send(Ask::Start(op, Instant::now())).unwrap();
        Ok(())
    }
    fn reap(&mut self, wait: Duration, done: &mut Vec<Done>) -> Result<(), LoadError> {
        let first = if wait.is_zero() { self.done.try_recv().ok() } else { self.done.recv_timeout(wait).ok() };
        done.extend(first);
        done.extend(self.done.try_iter());
        Ok(())
    }
    fn cancel(&mut self, slot: u32) {
        self.ask.as_ref().unwrap().send(Ask::Cancel(slot)).unwrap();
    }
}

impl Drop for DelayLane {
    fn drop(&mut self) {
        self.ask = None;
        self.thread.take().unwrap().join().unwrap();
    }
}

struct Pending {
    op: Op,
    /// `None`: never.
    due: Option<Instant>,
    result: Result<u32, ErrorClass>,
}

/// The thread that ends operations.
struct Clock {
    told: Delay,
    began: Instant,
    count: u64,
    pending: Vec<Pending>,
    give: Sender<Done>,
}

impl Clock {
    fn serve(mut self, asked: &Receiver<Ask>) {
        loop {
            let now = Instant::now();
            self.end(|p| p.due.is_some_and(|due| due <= now), None);
            let next = self.pending.iter().filter_map(|p| p.due).min();
            let ask = match next {
                Some(due) => asked.recv_timeout(due.saturating_duration_since(now)),
                None => asked.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match ask {
                Ok(Ask::Start(op, sent)) => self.start(op, sent),
                Ok(Ask::Cancel(_)) if self.told.deaf => {}
                Ok(Ask::Cancel(slot)) => self.end(|p| p.op.slot == slot, Some(Err(ECANCELED))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn start(&mut self, op: Op, sent: Instant) {
        self.count += 1;
        let nth = |every: u64| every > 0 && self.count.is_multiple_of(every);
        let times = if self.told.disorder && self.count.is_multiple_of(2) { 2 } else { 1 };
        let takes = if nth(self.told.slow.0) { self.told.slow.1 } else { self.told.delay * times };
        let mut due = sent + takes;
        if let Some((from, to)) = self.told.stall
            && (self.began + from..self.began + to).contains(&due)
        {
            due = self.began + to;
        }
        let result = if nth(self.told.fail_every) { Err(EIO) } else { Ok(op.len) };
        self.pending.push(Pending { op, due: (!nth(self.told.lose_every)).then_some(due), result });
    }

    fn end(&mut self, which: impl Fn(&Pending) -> bool, instead: Option<Result<u32, ErrorClass>>) {
        let give = &self.give;
        self.pending.retain(|p| {
            if !which(p) {
                return true;
            }
            let _ = give.send(Done { slot: p.op.slot, at: Instant::now(), result: instead.unwrap_or(p.result) });
            false
        });
    }
}

//! How far objects may be made: the ledger names them before they exist.
//!
//! A load that writes new objects does not know how many it will write. The ledger gets a bound ahead of the load;
//! it is raised when half of what it was raised by last is used up. Cleaning up tries every name below the bound, so
//! the bound must not be far ahead; each raise costs a round trip to the controller, so it must not be raised often:
//! the chunk grows until a raise lasts for two seconds.
use crate::layer::{Cx, LoadError};
use fathom_model::Made;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first chunk, in objects.
const CHUNK: u64 = 8192;
/// The largest: at most this many names too many are tried when cleaning up.
const CHUNK_MAX: u64 = 1 << 18;
/// A raise should last this long at least.
const LASTS: Duration = Duration::from_secs(2);

/// The bound, shared by all lanes of a job.
pub(super) struct Lease(Arc<Inner>);

struct Inner {
    /// Objects of the space; the bound never exceeds it.
    objects: u64,
    /// Stored: everything below may be made.
    until: AtomicU64,
    /// From this index on a lane asks for more.
    ask_from: AtomicU64,
    last: Mutex<Last>,
}

struct Last {
    chunk: u64,
    at: Option<Instant>,
    /// The largest bound asked for. Never smaller than what is stored: bounds must not shrink.
    asked: u64,
}

impl Inner {
    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stored(&self, until: u64, chunk: u64) {
        self.until.fetch_max(until, Ordering::AcqRel);
        let ask_from = if until == self.objects { u64::MAX } else { until - chunk / 2 };
        self.ask_from.store(ask_from, Ordering::Release);
    }
}

impl Lease {
    pub(super) fn new(objects: u64) -> Lease {
        Lease(Arc::new(Inner {
            objects,
            until: AtomicU64::new(0),
            ask_from: AtomicU64::new(0),
            last: Mutex::new(Last { chunk: CHUNK, at: None, asked: 0 }),
        }))
    }

    /// Raises the bound to the whole space: for loads that go anywhere in it.
    pub(super) fn whole(&self, cx: &dyn Cx, made: impl Fn(u64) -> Made) -> Result<(), LoadError> {
        self.wait_for(self.0.objects - 1, cx, &made)
    }

    /// Returns when the object `index` may be made: at once, unless the ledger was not asked in time.
    #[inline]
    pub(super) fn cover(&self, index: u64, cx: &dyn Cx, made: impl Fn(u64) -> Made) -> Result<(), LoadError> {
        if index < self.0.ask_from.load(Ordering::Acquire) { Ok(()) } else { self.ask(index, cx, &made) }
    }

    #[cold]
    fn ask(&self, index: u64, cx: &dyn Cx, made: &dyn Fn(u64) -> Made) -> Result<(), LoadError> {
        if index >= self.0.until.load(Ordering::Acquire) {
            return self.wait_for(index, cx, made);
        }
        let (until, chunk) = {
            let mut last = self.0.last();
            let stored = self.0.until.load(Ordering::Acquire);
            if last.asked > stored || index < self.0.ask_from.load(Ordering::Acquire) {
                return Ok(());
            }
            self.next(stored, &mut last)
        };
        // Nobody asks again until this is answered; a lane that reaches the bound before that waits.
        let inner = Arc::clone(&self.0);
        cx.ledger_ahead(
            &made(until),
            Box::new(move |result| match result {
                Ok(()) => inner.stored(until, chunk),
                Err(_) => inner.last().asked = inner.until.load(Ordering::Acquire),
            }),
        );
        Ok(())
    }

    /// The next bound above `from` and the chunk it was raised by.
    fn next(&self, from: u64, last: &mut Last) -> (u64, u64) {
        if last.at.is_some_and(|at| at.elapsed() < LASTS) {
            last.chunk = (last.chunk * 2).min(CHUNK_MAX);
        }
        last.at = Some(Instant::now());
        last.asked = last.asked.max(from.saturating_add(last.chunk)).min(self.0.objects);
        (last.asked, last.chunk)
    }

    fn wait_for(&self, index: u64, cx: &dyn Cx, made: &dyn Fn(u64) -> Made) -> Result<(), LoadError> {
        let mut last = self.0.last();
        if index < self.0.until.load(Ordering::Acquire) {
            return Ok(());
        }
        let (until, chunk) = self.next(index.saturating_add(1), &mut last);
        cx.ledger(&made(until))?;
        self.0.stored(until, chunk);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers the bounds it was told.
    struct Told(Mutex<Vec<u64>>);
    impl Cx for Told {
        fn ledger(&self, made: &Made) -> Result<(), LoadError> {
            let Made::Objects { until, .. } = made else { panic!("{made:?}") };
            self.0.lock().unwrap().push(*until);
            Ok(())
        }
        fn progress(&self, _: u64, _: u64, _: &str) {}
        fn note(&self, _: &str) {}
        fn cancelled(&self) -> bool {
            false
        }
    }

    fn made(until: u64) -> Made {
        Made::Objects {
            fsid: String::new(),
            pool: String::new(),
            namespace: String::new(),
            prefix: String::new(),
            until,
        }
    }

    #[test]
    fn the_bound_is_ahead_of_every_object() {
        let cx = Told(Mutex::new(Vec::new()));
        let lease = Lease::new(1 << 40);
        for index in 0..100_000 {
            lease.cover(index, &cx, made).unwrap();
            assert!(*cx.0.lock().unwrap().last().unwrap() > index);
        }
        let told = cx.0.lock().unwrap();
        assert!(told.is_sorted() && told.len() < 12, "{told:?}");
        assert!(told.last().unwrap() - 100_000 <= CHUNK_MAX);
    }

    #[test]
    fn the_bound_ends_with_the_space() {
        let cx = Told(Mutex::new(Vec::new()));
        let lease = Lease::new(100);
        for index in [5, 99, 0, 50] {
            lease.cover(index, &cx, made).unwrap();
        }
        assert_eq!(*cx.0.lock().unwrap(), [100]);
        let whole = Lease::new(1 << 30);
        whole.whole(&cx, made).unwrap();
        whole.cover((1 << 30) - 1, &cx, made).unwrap();
        assert_eq!(*cx.0.lock().unwrap(), [100, 1 << 30]);
    }

    #[test]
    fn many_lanes_share_one_bound() {
        let cx = Told(Mutex::new(Vec::new()));
        let lease = Lease::new(1 << 40);
        std::thread::scope(|scope| {
            for lane in 0..4u64 {
                let (lease, cx) = (&lease, &cx);
                scope.spawn(move || (0..20_000).for_each(|n| lease.cover(n * 4 + lane, cx, made).unwrap()));
            }
        });
        let told = cx.0.lock().unwrap();
        assert!(told.is_sorted() && *told.last().unwrap() >= 80_000, "{told:?}");
    }
}

//! Object operations in flight: one completion each, one thread that submits and collects.
//!
//! librados calls back on threads of its own. The callback stamps the time, pushes the slot to a bounded queue and
//! wakes the thread; nothing else, because the callbacks of one handle run one after the other and whatever they do
//! is added to every later operation.
use super::ioctx::IoCtx;
use super::librados::Librados;
use super::{Errno, checked};
use crossbeam_queue::ArrayQueue;
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// What a client may tell the store about an object it writes: sizes, and `LIBRADOS_ALLOC_HINT_FLAG_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Size the object will have.
    pub object_bytes: u64,
    /// Size of writes to it.
    pub write_bytes: u64,
    /// Flags of `rados_write_op_set_alloc_hint2`.
    pub flags: u32,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Into the slot's buffer.
    Read {
        /// Bytes.
        len: usize,
        /// Where in the object.
        offset: u64,
    },
    /// From the slot's buffer.
    Write {
        /// Bytes.
        len: usize,
        /// Where in the object.
        offset: u64,
        /// Sent along when given.
        hint: Option<Hint>,
    },
    /// From the slot's buffer, as the object's whole content.
    WriteFull {
        /// Bytes.
        len: usize,
        /// Sent along when given.
        hint: Option<Hint>,
    },
    /// Removes the object.
    Remove,
    /// Asks whether the object is there.
    Stat,
}

/// An operation that came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Its slot.
    pub slot: u32,
    /// When the callback ran.
    pub at: Instant,
    /// Bytes read, 0 for others; or the errno.
    pub result: Result<u32, Errno>,
}

/// What callbacks may touch. Freed only when the last callback has returned; otherwise never.
struct Arena {
    finished: ArrayQueue<(u32, Instant)>,
    collector: Thread,
    /// Callbacks that have returned. The last thing a callback touches.
    returned: AtomicU64,
    slots: Box<[Slot]>,
}

struct Slot {
    arena: *const Arena,
    index: u32,
    buffer: NonNull<u8>,
    size: UnsafeCell<u64>,
    mtime: UnsafeCell<libc::time_t>,
}

/// The submitting thread's side of a slot.
#[derive(Clone)]
struct Flight {
    /// Null while the slot is free.
    completion: *mut c_void,
    handle: usize,
}

/// Up to `depth` operations in flight over one or several handles. Stays on the thread that made it.
pub struct Ring {
    api: &'static Librados,
    handles: Vec<Arc<IoCtx>>,
    arena: NonNull<Arena>,
    flights: Vec<Flight>,
    buffer_bytes: usize,
    in_flight: u32,
    submitted: u64,
    refused: Vec<Finished>,
}

/// How long a dropped ring waits for cancelled operations before it leaks what they may still touch.
const DROP_WAIT: Duration = Duration::from_secs(1);

/// Told by librados that the operation of the [`Slot`] behind `arg` has finished.
unsafe extern "C" fn finished(_completion: *mut c_void, arg: *mut c_void) {
    let at = Instant::now();
    // SAFETY: `arg` is the slot given to `rados_aio_create_completion2`; its arena lives until `returned` counts
    // this very call, which happens last.
    unsafe {
        let slot = &*arg.cast::<Slot>();
        let arena = &*slot.arena;
        // Never full: it has one place per slot, and a slot has one operation.
        let _ = arena.finished.push((slot.index, at));
        arena.collector.unpark();
        arena.returned.fetch_add(1, Ordering::Release);
    }
}

impl Ring {
    /// A ring for the calling thread. `handles` must not be empty, `depth` not 0; each slot gets a buffer of
    /// `buffer_bytes` zeros.
    #[must_use]
    pub fn new(handles: Vec<Arc<IoCtx>>, depth: u32, buffer_bytes: usize) -> Ring {
        assert!(!handles.is_empty() && depth > 0, "a ring needs a handle and a slot");
        let api = handles[0].api();
        let slots = (0..depth).map(|index| Slot {
            arena: ptr::null(),
            index,
            buffer: leak(vec![0; buffer_bytes]),
            size: UnsafeCell::new(0),
            mtime: UnsafeCell::new(0),
        });
        let arena = Box::into_raw(Box::new(Arena {
            finished: ArrayQueue::new(depth as usize),
            collector: std::thread::current(),
            returned: AtomicU64::new(0),
            slots: slots.collect(),
        }));
        // SAFETY: just made, and nobody else has it yet.
        for slot in unsafe { &mut (*arena).slots } {
            slot.arena = arena;
        }
        Ring {
            api,
            handles,
            // SAFETY: a box is never null.
            arena: unsafe { NonNull::new_unchecked(arena) },
            flights: vec![Flight { completion: ptr::null_mut(), handle: 0 }; depth as usize],
            buffer_bytes,
            in_flight: 0,
            submitted: 0,
            refused: Vec::with_capacity(depth as usize),
        }
    }

    /// How many handles there are.
    #[must_use]
    pub fn handles(&self) -> usize {
        self.handles.len()
    }

    /// Operations that were submitted and not yet collected.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.in_flight + self.refused.len() as u32
    }

    /// The buffer of a slot that has nothing in flight.
    ///
    /// # Panics
    /// When the slot is in flight: the library may be writing into it.
    #[must_use]
    pub fn buffer(&mut self, slot: u32) -> &mut [u8] {
        let flight = &self.flights[slot as usize];
        assert!(flight.completion.is_null(), "slot {slot} is in flight");
        // SAFETY: allocated in `new` with this length; nobody else touches it while nothing is in flight, and
        // `&mut self` keeps anything from being submitted while the slice is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.slot(slot).buffer.as_ptr(), self.buffer_bytes) }
    }

    /// Starts an operation. A refusal by the library comes back through [`Ring::collect`] like any failure.
    ///
    /// # Panics
    /// When the slot is in flight, or the request is longer than its buffer.
    pub fn submit(&mut self, slot: u32, handle: usize, name: &CStr, request: Request) {
        assert!(self.flights[slot as usize].completion.is_null(), "slot {slot} is in flight");
        if let Request::Read { len, .. } | Request::Write { len, .. } | Request::WriteFull { len, .. } = request {
            assert!(len <= self.buffer_bytes, "{len} bytes asked of a buffer of {}", self.buffer_bytes);
        }
        let mut completion = ptr::null_mut();
        let place = ptr::from_ref(self.slot(slot)).cast_mut().cast::<c_void>();
        // SAFETY: the slot lives until the callback has returned.
        let code = unsafe { (self.api.rados_aio_create_completion2)(place, Some(finished), &mut completion) };
        let code = if code < 0 { code } else { self.start(slot, handle, name, completion, request) };
        if let Err(errno) = checked(code) {
            if !completion.is_null() {
                // SAFETY: no operation took it.
                unsafe { (self.api.rados_aio_release)(completion) };
            }
            self.refused.push(Finished { slot, at: Instant::now(), result: Err(errno) });
            return;
        }
        self.flights[slot as usize] = Flight { completion, handle };
        self.in_flight += 1;
        self.submitted += 1;
    }

    fn start(&self, slot: u32, handle: usize, name: &CStr, completion: *mut c_void, request: Request) -> c_int {
        let (api, io, name) = (self.api, self.handles[handle].raw(), name.as_ptr());
        let place = self.slot(slot);
        let buf = place.buffer.as_ptr().cast::<c_char>();
        // SAFETY: context and completion are alive, the name is a C string that librados copies, and the lengths
        // were checked against the buffer, which lives until the operation came back.
        unsafe {
            match request {
                Request::Read { len, offset } => (api.rados_aio_read)(io, name, completion, buf, len, offset),
                Request::Write { len, offset, hint: None } => {
                    (api.rados_aio_write)(io, name, completion, buf, len, offset)
                }
                Request::WriteFull { len, hint: None } => (api.rados_aio_write_full)(io, name, completion, buf, len),
                Request::Write { len, offset, hint: Some(hint) } => {
                    self.operate(io, completion, name, hint, |op| (api.rados_write_op_write)(op, buf, len, offset))
                }
                Request::WriteFull { len, hint: Some(hint) } => {
                    self.operate(io, completion, name, hint, |op| (api.rados_write_op_write_full)(op, buf, len))
                }
                Request::Remove => (api.rados_aio_remove)(io, name, completion),
                Request::Stat => (api.rados_aio_stat)(io, name, completion, place.size.get(), place.mtime.get()),
            }
        }
    }

    /// A write with a hint before it, as one transaction.
    ///
    /// # Safety
    /// Context, completion and name are alive; `write` adds to the operation it is given.
    unsafe fn operate(
        &self,
        io: *mut c_void,
        completion: *mut c_void,
        name: *const c_char,
        hint: Hint,
        write: impl FnOnce(*mut c_void),
    ) -> c_int {
        let api = self.api;
        // SAFETY: the operation is made, used and released here; librados copies data and operation. A null mtime
        // means now.
        unsafe {
            let op = (api.rados_create_write_op)();
            (api.rados_write_op_set_alloc_hint2)(op, hint.object_bytes, hint.write_bytes, hint.flags);
            write(op);
            let code = (api.rados_aio_write_op_operate)(op, io, completion, name, ptr::null_mut(), 0);
            (api.rados_release_write_op)(op);
            code
        }
    }

    /// Moves everything that came back to `out`. When nothing did, waits for the first at most `wait`.
    pub fn collect(&mut self, wait: Duration, out: &mut Vec<Finished>) {
        if self.take(out) || wait.is_zero() || self.in_flight == 0 {
            return;
        }
        let begun = Instant::now();
        let mut left = wait;
        // A callback between `take` and here has left its token, so `park` returns at once: no wake-up is lost.
        loop {
            std::thread::park_timeout(left);
            if self.take(out) {
                return;
            }
            match wait.checked_sub(begun.elapsed()) {
                Some(rest) if !rest.is_zero() => left = rest,
                _ => return,
            }
        }
    }

    fn take(&mut self, out: &mut Vec<Finished>) -> bool {
        let before = out.len();
        out.append(&mut self.refused);
        while let Some((slot, at)) = self.arena().finished.pop() {
            let flight = &mut self.flights[slot as usize];
            let completion = std::mem::replace(&mut flight.completion, ptr::null_mut());
            // SAFETY: the operation has finished; this is our reference, given back once.
            let code = unsafe {
                let code = (self.api.rados_aio_get_return_value)(completion);
                (self.api.rados_aio_release)(completion);
                code
            };
            self.in_flight -= 1;
            out.push(Finished { slot, at, result: checked(code) });
        }
        out.len() > before
    }

    /// Asks that the operation in `slot` end now; it comes back with `ECANCELED` unless it was just ending.
    pub fn cancel(&mut self, slot: u32) {
        let flight = &self.flights[slot as usize];
        if !flight.completion.is_null() {
            // SAFETY: context and completion are alive: the slot was not collected yet.
            unsafe { (self.api.rados_aio_cancel)(self.handles[flight.handle].raw(), flight.completion) };
        }
    }

    fn arena(&self) -> &Arena {
        // SAFETY: freed in `drop` only. Callbacks share it; it has no field that is written without a cell.
        unsafe { self.arena.as_ref() }
    }

    fn slot(&self, slot: u32) -> &Slot {
        &self.arena().slots[slot as usize]
    }

    /// True when no callback can touch the arena any more.
    fn quiet(&self) -> bool {
        self.in_flight == 0 && self.arena().returned.load(Ordering::Acquire) == self.submitted
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let begun = Instant::now();
        for slot in 0..self.flights.len() as u32 {
            self.cancel(slot);
        }
        let mut late = Vec::new();
        while !self.quiet() {
            let Some(left) = DROP_WAIT.checked_sub(begun.elapsed()) else {
                // The buffers and the handles stay for ever: closing a handle with operations in flight is not
                // something librados promises to survive.
                std::mem::forget(std::mem::take(&mut self.handles));
                return;
            };
            // The last callback may have pushed and not yet returned; that wait has no wake-up, so it is short.
            self.collect(left.min(Duration::from_millis(1)), &mut late);
            std::thread::yield_now();
        }
        // SAFETY: made by `Box::into_raw` in `new`, and nobody else can reach it any more.
        let arena = unsafe { Box::from_raw(self.arena.as_ptr()) };
        for slot in &arena.slots {
            let bytes = ptr::slice_from_raw_parts_mut(slot.buffer.as_ptr(), self.buffer_bytes);
            // SAFETY: made by `leak` with this length.
            drop(unsafe { Box::from_raw(bytes) });
        }
    }
}

/// Gives a buffer up to raw access. Taken back in `drop`.
fn leak(bytes: Vec<u8>) -> NonNull<u8> {
    NonNull::from(Box::leak(bytes.into_boxed_slice())).cast()
}

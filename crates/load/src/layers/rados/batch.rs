//! Many operations that are not measured: filling and removing. Always with a deadline for each.
use crate::layer::LoadError;
use crate::sys::{Errno, IoCtx, Request, Ring};
use std::ffi::CStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often deadlines are looked at and the caller is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);
/// A cancelled operation that has not come back after this long never will.
const ABANDON: Duration = Duration::from_secs(1);

/// Runs operations `0..count`, as many at once as the ring has slots. `start` submits operation `n` in a free slot;
/// `done` gets each one's result (`ETIMEDOUT` past `deadline`) and ends the batch with an error; `go_on` is asked
/// several times a second, after results when there are some.
///
/// # Errors
/// What `done` or `go_on` returned. Operations still in flight are cancelled when the ring is dropped.
pub(crate) fn run(
    ring: &mut Ring,
    slots: u32,
    count: u64,
    deadline: Duration,
    mut start: impl FnMut(&mut Ring, u32, u64),
    mut done: impl FnMut(u64, Result<u32, Errno>) -> Result<(), LoadError>,
    mut go_on: impl FnMut() -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let mut flights: Vec<Option<Flight>> = (0..slots).map(|_| None).collect();
    let mut free: Vec<u32> = (0..slots).collect();
    let mut back = Vec::new();
    let mut next = 0;
    let mut looked = Instant::now();
    while next < count || free.len() < flights.len() {
        while next < count
            && let Some(slot) = free.pop()
        {
            flights[slot as usize] = Some(Flight { n: next, since: Instant::now(), cancelled: false });
            start(ring, slot, next);
            next += 1;
        }
        ring.collect(LOOK, &mut back);
        for finished in back.drain(..) {
            let Some(flight) = flights[finished.slot as usize].take() else { continue };
            free.push(finished.slot);
            let late = flight.cancelled && finished.result == Err(libc::ECANCELED);
            done(flight.n, if late { Err(libc::ETIMEDOUT) } else { finished.result })?;
        }
        if looked.elapsed() >= LOOK {
            looked = Instant::now();
            go_on()?;
            for (slot, flight) in flights.iter_mut().enumerate() {
                let Some(flight) = flight else { continue };
                let age = flight.since.elapsed();
                if age > deadline && !flight.cancelled {
                    flight.cancelled = true;
                    ring.cancel(slot as u32);
                } else if age > deadline + ABANDON {
                    done(flight.n, Err(libc::ETIMEDOUT))?;
                    return Err(LoadError::Failed("an operation could not be cancelled".into()));
                }
            }
        }
    }
    Ok(())
}

struct Flight {
    n: u64,
    since: Instant,
    cancelled: bool,
}

/// One operation with a deadline; returns the bytes read.
///
/// # Errors
/// The operation's errno; `ETIMEDOUT` past `deadline`.
pub(crate) fn single(
    io: &Arc<IoCtx>,
    name: &CStr,
    request: Request,
    data: &mut [u8],
    deadline: Duration,
) -> Result<u32, Errno> {
    let mut ring = Ring::new(vec![Arc::clone(io)], 1, data.len());
    ring.buffer(0).copy_from_slice(data);
    let mut result = Err(libc::ETIMEDOUT);
    let ended = run(
        &mut ring,
        1,
        1,
        deadline,
        |ring, slot, _| ring.submit(slot, 0, name, request),
        |_, got| {
            result = got;
            Ok(())
        },
        || Ok(()),
    );
    if ended.is_ok() && result.is_ok() {
        data.copy_from_slice(ring.buffer(0));
    }
    result
}

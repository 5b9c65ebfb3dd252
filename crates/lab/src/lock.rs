//! One fathom at a time works on a lab.
use crate::error::{LabError, Result};
use rustix::fs::{FlockOperation, flock};
use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// How long to wait for another fathom before giving up.
const PATIENCE: Duration = Duration::from_secs(10);

/// A lock on a lab's directory itself: no lock file is left behind, and the kernel drops it when the process ends,
/// however it ends.
#[derive(Debug)]
pub(crate) struct DirLock {
    _dir: File,
}

impl DirLock {
    /// Locks an existing directory; `None` when it does not exist.
    pub fn take(dir: &Path) -> Result<Option<DirLock>> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let file = match File::open(dir) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(LabError::io("open", dir, &error)),
            };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                // A `down` may have removed the directory, and an `up` made a new one of that name, since the open.
                let held = file.metadata().map_err(|error| LabError::io("look at", dir, &error))?;
                match fs::metadata(dir) {
                    Ok(there) if (there.dev(), there.ino()) == (held.dev(), held.ino()) => {
                        return Ok(Some(DirLock { _dir: file }));
                    }
                    _ => continue,
                }
            }
            if Instant::now() >= deadline {
                return Err(LabError::Refused(format!(
                    "another fathom is working on the lab in {}: wait for it to end, or end it, and try again",
                    dir.display()
                )));
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

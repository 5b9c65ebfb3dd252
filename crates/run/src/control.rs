//! The controller's way to the cluster: a worker process that runs commands. When that process dies the next call
//! starts another, so a crash inside a storage library costs one answer and not the run.
use crate::{
    conn::{Conn, Incoming, Transport},
    protocol::{CommandTarget, Failure, FailureClass, Reply, Request},
};
use fathom_model::{Connect, Fact, Made};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

/// Time on top of the worker's own deadline before the controller gives up on it.
const SLACK: Duration = Duration::from_secs(5);
/// A removal may take long; without any progress for this long it is given up.
const REMOVE_WAIT: Duration = Duration::from_secs(600);

/// What a removal found.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, PartialEq, Eq)]
pub struct Removed {
    /// Things that were there.
    pub removed: u64,
    /// Things that were not.
    pub absent: u64,
}

/// Commands to one cluster.
pub struct Control {
    transport: Transport,
    connect: Connect,
    conn: Mutex<Option<Arc<Conn>>>,
    fsid: Mutex<String>,
}

impl Control {
    /// Starts a worker and connects it.
    ///
    /// # Errors
    /// When the worker can't be started or the cluster can't be reached: the sentence says what to do.
    pub fn open(transport: Transport, connect: Connect) -> Result<Control, Failure> {
        let control = Control { transport, connect, conn: Mutex::new(None), fsid: Mutex::new(String::new()) };
        control.conn()?;
        Ok(control)
    }

    /// How the cluster is reached.
    #[must_use]
    pub fn connect(&self) -> &Connect {
        &self.connect
    }

    /// The cluster's id.
    #[must_use]
    pub fn fsid(&self) -> String {
        self.fsid.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn timeout(&self) -> Duration {
        Duration::from_nanos(self.connect.timeout_ns) + SLACK
    }

    fn conn(&self) -> Result<Arc<Conn>, Failure> {
        let mut slot = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(conn) = &*slot {
            return Ok(Arc::clone(conn));
        }
        let conn = Conn::open(&self.transport, |_, incoming| {
            if let Incoming::Reply(Reply::Event { kind, .. }) = incoming {
                tracing::debug!(?kind, "event of the control worker");
            }
        })?;
        // Connecting may take twice its deadline: monitors first, then the first map.
        let connect = self.connect.clone();
        let fsid = conn.ask(|id| Request::Connect { id, connect }, self.timeout() * 2)?;
        *self.fsid.lock().unwrap_or_else(PoisonError::into_inner) = fsid;
        *slot = Some(Arc::clone(&conn));
        Ok(conn)
    }

    fn ask(&self, request: impl FnOnce(u64) -> Request, timeout: Duration) -> Result<String, Failure> {
        let conn = self.conn()?;
        conn.ask(request, timeout).inspect_err(|failure| {
            if failure.errno == 0 && !conn.send(&Request::Stored { id: 0, error: None }) {
                self.conn.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
        })
    }

    /// Runs a command. `timeout`: wait no longer, even though the daemon may still answer; `None`: the connection's.
    ///
    /// # Errors
    /// The daemon's errno and text, or that nobody answered.
    pub fn command(&self, target: CommandTarget, json: &str, timeout: Option<Duration>) -> Result<String, Failure> {
        let json = json.to_owned();
        self.ask(|id| Request::Command { id, target, json }, timeout.unwrap_or_else(|| self.timeout()))
    }

    /// Runs a monitor command that answers in JSON.
    ///
    /// # Errors
    /// As [`Control::command`].
    pub fn mon(&self, prefix: &str) -> Result<String, Failure> {
        let json = serde_json::json!({"prefix": prefix, "format": "json"}).to_string();
        self.command(CommandTarget::Mon, &json, None)
    }

    /// The first bytes of an object; `None` when there is none.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn read_object(&self, pool: &str, namespace: &str, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let (pool, namespace, name) = (pool.to_owned(), namespace.to_owned(), name.to_owned());
        let text = self.ask(|id| Request::ReadObject { id, pool, namespace, name }, self.timeout())?;
        let hex: Option<String> = serde_json::from_str(&text)
            .map_err(|e| Failure::new(FailureClass::Failed, format!("unreadable answer: {e}")))?;
        Ok(hex.map(|hex| {
            (0..hex.len() / 2).filter_map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok()).collect()
        }))
    }

    /// Raw texts that describe the worker's host.
    ///
    /// # Errors
    /// When the worker is gone.
    pub fn host_facts(&self) -> Result<Vec<Fact>, Failure> {
        host_facts(&*self.conn()?)
    }

    /// Removes what a ledger entry names.
    ///
    /// # Errors
    /// When something could not be removed: it is still there then.
    pub fn remove(&self, made: &Made) -> Result<Removed, Failure> {
        let (made, connect) = (made.clone(), self.connect.clone());
        let text = self.ask(|id| Request::Remove { id, made, connect }, REMOVE_WAIT)?;
        serde_json::from_str(&text).map_err(|e| Failure::new(FailureClass::Failed, format!("unreadable answer: {e}")))
    }
}

/// Raw texts that describe the host of a worker.
pub(crate) fn host_facts(conn: &Conn) -> Result<Vec<Fact>, Failure> {
    let text = conn.ask(|id| Request::HostFacts { id }, Duration::from_secs(20))?;
    serde_json::from_str(&text).map_err(|e| Failure::new(FailureClass::Failed, format!("unreadable answer: {e}")))
}

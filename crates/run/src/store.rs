//! The store: one SQLite file per results directory. Everything a report needs is in it, and nothing else is.
//!
//! Rows are only ever added, but for the ledger's marks and the ends of run and attempts. A run that is killed leaves
//! a store that opens: what was committed is there.
use fathom_model::{
    Attempt, AttemptEnd, ErrorClass, Event, EventKind, Fact, Latency, LedgerEntry, Made, Phase, RunData, RunInfo,
    Sample, Step, Verb,
};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use std::path::{Path, PathBuf};

/// Name of the file in the results directory.
pub const FILE: &str = "run.sqlite";
/// Version of the schema below, kept in `user_version`.
const SCHEMA: i32 = 1;

/// Why the store can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is none.
    #[error("{0} holds no run: there is no {FILE} in it")]
    Missing(PathBuf),
    /// There is one already.
    #[error("{0} already holds a run: name another directory with --results")]
    Exists(PathBuf),
    /// A run is writing it.
    #[error("the run in {0} is still going: stop it first")]
    Busy(PathBuf),
    /// Made by a newer program.
    #[error("{path} was written by a newer fathom (store version {found}, this program knows {SCHEMA}): update fathom")]
    Newer {
        /// Which.
        path: PathBuf,
        /// Its version.
        found: i32,
    },
    /// SQLite or the disk under it.
    #[error("{path}: {source}: the results can't be written or read there; check space and permissions")]
    Sql {
        /// Which.
        path: PathBuf,
        /// What.
        source: rusqlite::Error,
    },
    /// The directory.
    #[error("{path}: {source}: name a directory that can be written with --results")]
    Dir {
        /// Which.
        path: PathBuf,
        /// What.
        source: std::io::Error,
    },
    /// A row that isn't what this program wrote.
    #[error("{path}: damaged: {what}")]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What.
        what: String,
    },
}

/// An open store.
pub struct Store {
    sql: Connection,
    path: PathBuf,
    open: bool,
    writes: bool,
}

impl Drop for Store {
    /// Folds the log into the one file, so that it can be copied, and read where nothing can be written. A store that
    /// somebody else has open stays as it is.
    fn drop(&mut self) {
        if self.writes {
            let _ = self.commit();
            let _ = self.sql.busy_timeout(std::time::Duration::ZERO);
            let _ = self.sql.pragma_update(None, "journal_mode", "DELETE");
        }
    }
}

/// A character of a path in SQLite's `file:` form.
fn escaped(c: char) -> String {
    if matches!(c, '%' | '?' | '#') { format!("%{:02X}", c as u32) } else { c.to_string() }
}

const TABLES: &str = "
CREATE TABLE run(id INTEGER PRIMARY KEY CHECK(id = 1), info TEXT NOT NULL, ended_unix_ns INTEGER) STRICT;
CREATE TABLE step(idx INTEGER PRIMARY KEY, name TEXT NOT NULL, json TEXT NOT NULL) STRICT;
CREATE TABLE attempt(id INTEGER PRIMARY KEY, step INTEGER NOT NULL, repeat INTEGER NOT NULL, host TEXT NOT NULL,
  load_started_unix_ns INTEGER, end_json TEXT) STRICT;
CREATE TABLE sample(seq INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, host TEXT NOT NULL, phase TEXT NOT NULL,
  verb TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, ops INTEGER NOT NULL, bytes INTEGER NOT NULL,
  timeouts INTEGER NOT NULL, unsent INTEGER NOT NULL, errors TEXT NOT NULL,
  response_count INTEGER NOT NULL, response_sum_ns INTEGER NOT NULL, response_min_ns INTEGER NOT NULL,
  response_max_ns INTEGER NOT NULL, response_hdr TEXT NOT NULL,
  service_count INTEGER NOT NULL, service_sum_ns INTEGER NOT NULL, service_min_ns INTEGER NOT NULL,
  service_max_ns INTEGER NOT NULL, service_hdr TEXT NOT NULL) STRICT;
CREATE INDEX sample_by_attempt ON sample(attempt);
CREATE TABLE event(seq INTEGER PRIMARY KEY, at_unix_ns INTEGER NOT NULL, host TEXT NOT NULL, attempt INTEGER,
  json TEXT NOT NULL) STRICT;
CREATE TABLE fact(seq INTEGER PRIMARY KEY, host TEXT NOT NULL, moment TEXT NOT NULL, source TEXT NOT NULL,
  text TEXT NOT NULL, error TEXT) STRICT;
CREATE TABLE ledger(id INTEGER PRIMARY KEY, at_unix_ns INTEGER NOT NULL, keep INTEGER NOT NULL,
  removed_unix_ns INTEGER, made TEXT NOT NULL) STRICT;
";

fn word<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_value(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

fn unword<T: serde::de::DeserializeOwned>(text: String) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(text)).ok()
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl Store {
    /// Makes a results directory and an empty store in it.
    ///
    /// # Errors
    /// When there is one already, or the directory can't be written.
    pub fn create(dir: &Path, info: &RunInfo, steps: &[Step]) -> Result<Store, StoreError> {
        let path = dir.join(FILE);
        if path.exists() {
            return Err(StoreError::Exists(dir.to_owned()));
        }
        let there = dir.exists();
        std::fs::create_dir_all(dir).map_err(|source| StoreError::Dir { path: dir.to_owned(), source })?;
        Store::make(&path, info, steps).inspect_err(|_| {
            // A run that could not begin must not stand in the way of the next. All this was made just now.
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let _ = std::fs::remove_file(dir.join(format!("{FILE}{suffix}")));
            }
            if !there {
                let _ = std::fs::remove_dir(dir);
            }
        })
    }

    fn make(path: &Path, info: &RunInfo, steps: &[Step]) -> Result<Store, StoreError> {
        let sql = Connection::open(path).map_err(|source| StoreError::Sql { path: path.to_owned(), source })?;
        let mut store = Store { sql, path: path.to_owned(), open: false, writes: true };
        store.set_up()?;
        store.try_sql(|sql| {
            sql.execute_batch(TABLES)?;
            sql.pragma_update(None, "user_version", SCHEMA)?;
            sql.execute("INSERT INTO run(id, info) VALUES (1, ?1)", [json(info)])?;
            for (idx, step) in steps.iter().enumerate() {
                sql.execute("INSERT INTO step VALUES (?1, ?2, ?3)", params![idx as i64, step.name, json(step)])?;
            }
            Ok(())
        })?;
        Ok(store)
    }

    /// Opens the store of a results directory to read it. Nothing is written: it may be somebody else's, or on a disk
    /// that can only be read.
    ///
    /// # Errors
    /// When there is none, it is newer than this program, or can't be read.
    pub fn open_to_read(dir: &Path) -> Result<Store, StoreError> {
        let path = dir.join(FILE);
        if !path.is_file() {
            return Err(StoreError::Missing(dir.to_owned()));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let name: String = path.display().to_string().chars().map(escaped).collect();
        let open = |options: &str| {
            let sql = Connection::open_with_flags(format!("file:{name}{options}"), flags)
                .map_err(|source| StoreError::Sql { path: path.clone(), source })?;
            let store = Store { sql, path: path.clone(), open: false, writes: false };
            store.check_version()?;
            Ok(store)
        };
        // A run that was killed left a log beside the file, which takes a writable directory to read; without one the
        // file alone is what there is.
        match open("") {
            Err(StoreError::Sql { .. }) => open("?immutable=1"),
            other => other,
        }
    }

    /// Opens the store of a results directory.
    ///
    /// # Errors
    /// When there is none, it is newer than this program, or can't be read.
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        let path = dir.join(FILE);
        if !path.is_file() {
            return Err(StoreError::Missing(dir.to_owned()));
        }
        let sql = Connection::open(&path).map_err(|source| StoreError::Sql { path: path.clone(), source })?;
        let mut store = Store { sql, path, open: false, writes: true };
        store.check_version()?;
        store.set_up()?;
        Ok(store)
    }

    fn check_version(&self) -> Result<(), StoreError> {
        let found: i32 = self.try_sql(|sql| sql.pragma_query_value(None, "user_version", |r| r.get(0)))?;
        let path = self.path.clone();
        match found {
            _ if found > SCHEMA => Err(StoreError::Newer { path, found }),
            _ if found < 1 => Err(StoreError::Damaged { path, what: "it has no tables".into() }),
            _ => Ok(()),
        }
    }

    fn set_up(&mut self) -> Result<(), StoreError> {
        self.try_sql(|sql| {
            sql.busy_timeout(std::time::Duration::from_secs(5))?;
            sql.pragma_update(None, "journal_mode", "WAL")?;
            // Each commit reaches the disk: a ledger entry must not be lost with the power.
            sql.pragma_update(None, "synchronous", "FULL")
        })
    }

    fn try_sql<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        work(&self.sql).map_err(|source| StoreError::Sql { path: self.path.clone(), source })
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        if !self.open {
            self.try_sql(|sql| sql.execute_batch("BEGIN"))?;
            self.open = true;
        }
        Ok(())
    }

    /// Makes everything written so far permanent.
    ///
    /// # Errors
    /// When the disk is full or gone.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        if self.open {
            self.open = false;
            self.try_sql(|sql| sql.execute_batch("COMMIT"))?;
        }
        Ok(())
    }

    /// Adds an event; permanent with the next [`Store::commit`].
    ///
    /// # Errors
    /// When the disk is full or gone.
    pub fn event(&mut self, event: &Event) -> Result<(), StoreError> {
        self.begin()?;
        self.try_sql(|sql| match (&event.kind, event.attempt) {
            (EventKind::Sample(s), Some(attempt)) => insert_sample(sql, attempt, &event.host, s),
            (EventKind::Fact(f), _) => insert_fact(sql, &event.host, f),
            (EventKind::AttemptStarted { step, repeat }, Some(attempt)) => sql
                .execute(
                    "INSERT OR REPLACE INTO attempt(id, step, repeat, host) VALUES (?1, ?2, ?3, ?4)",
                    params![attempt, step, repeat, event.host],
                )
                .map(drop),
            (EventKind::LoadStarted, Some(attempt)) => sql
                .execute(
                    "UPDATE attempt SET load_started_unix_ns = ?2 WHERE id = ?1",
                    params![attempt, event.at_unix_ns],
                )
                .map(drop),
            (EventKind::AttemptEnded(end), Some(attempt)) => {
                sql.execute("UPDATE attempt SET end_json = ?2 WHERE id = ?1", params![attempt, json(end)]).map(drop)
            }
            // Progress is for the screen.
            (EventKind::Preparing { .. }, _) => Ok(()),
            (kind, attempt) => sql
                .execute(
                    "INSERT INTO event(at_unix_ns, host, attempt, json) VALUES (?1, ?2, ?3, ?4)",
                    params![event.at_unix_ns, event.host, attempt, json(kind)],
                )
                .map(drop),
        })
    }

    /// Writes a ledger entry, or extends the one with the same name; permanent when this returns.
    ///
    /// # Errors
    /// When the disk is full or gone: then the thing must not be made.
    pub fn ledger(&mut self, at_unix_ns: i64, made: &Made, keep: bool) -> Result<(), StoreError> {
        self.begin()?;
        let known: Vec<LedgerEntry> = self.ledger_entries()?;
        let same = known.iter().find(|e| e.removed_unix_ns.is_none() && same_name(&e.made, made));
        self.try_sql(|sql| match same {
            Some(entry) => {
                sql.execute("UPDATE ledger SET made = ?2 WHERE id = ?1", params![entry.id as i64, json(made)])
            }
            None => sql.execute(
                "INSERT INTO ledger(at_unix_ns, keep, made) VALUES (?1, ?2, ?3)",
                params![at_unix_ns, keep, json(made)],
            ),
        })?;
        self.commit()
    }

    /// Marks an entry as removed.
    ///
    /// # Errors
    /// When the disk is full or gone.
    pub fn removed(&mut self, id: u64, at_unix_ns: i64) -> Result<(), StoreError> {
        self.begin()?;
        self.try_sql(|sql| {
            sql.execute("UPDATE ledger SET removed_unix_ns = ?2 WHERE id = ?1", params![id as i64, at_unix_ns])
        })?;
        self.commit()
    }

    /// The ledger, in order.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn ledger_entries(&self) -> Result<Vec<LedgerEntry>, StoreError> {
        self.try_sql(|sql| {
            let mut query =
                sql.prepare("SELECT id, at_unix_ns, keep, removed_unix_ns, made FROM ledger ORDER BY id")?;
            let rows = query.query_map([], |r| {
                let made: String = r.get(4)?;
                Ok((r.get::<_, i64>(0)? as u64, r.get(1)?, r.get(2)?, r.get(3)?, made))
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })?
        .into_iter()
        .map(|(id, at_unix_ns, keep, removed_unix_ns, made)| {
            let made = self.parse(&made, "ledger entry")?;
            Ok(LedgerEntry { id, at_unix_ns, keep, removed_unix_ns, made })
        })
        .collect()
    }

    /// Marks the run as ended.
    ///
    /// # Errors
    /// When the disk is full or gone.
    pub fn end(&mut self, at_unix_ns: i64) -> Result<(), StoreError> {
        self.begin()?;
        self.try_sql(|sql| sql.execute("UPDATE run SET ended_unix_ns = ?1", [at_unix_ns]))?;
        self.commit()
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, text: &str, what: &str) -> Result<T, StoreError> {
        serde_json::from_str(text)
            .map_err(|e| StoreError::Damaged { path: self.path.clone(), what: format!("{what}: {e}") })
    }

    fn texts(&self, query: &str) -> Result<Vec<String>, StoreError> {
        self.try_sql(|sql| sql.prepare(query)?.query_map([], |r| r.get(0))?.collect())
    }

    /// Who ran what.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn info(&self) -> Result<RunInfo, StoreError> {
        let row: Option<(String, Option<i64>)> = self.try_sql(|sql| {
            sql.query_row("SELECT info, ended_unix_ns FROM run", [], |r| Ok((r.get(0)?, r.get(1)?))).optional()
        })?;
        let (text, ended) =
            row.ok_or_else(|| StoreError::Damaged { path: self.path.clone(), what: "it holds no run".into() })?;
        let mut info: RunInfo = self.parse(&text, "run")?;
        info.ended_unix_ns = ended;
        Ok(info)
    }

    /// Everything, with the findings that today's rules make of it: findings are not stored, so that a run gains by
    /// what is learnt later.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn read_with_findings(&self) -> Result<RunData, StoreError> {
        let mut data = self.read()?;
        data.findings = fathom_ceph::rules::of_run(&data);
        Ok(data)
    }

    /// Everything stored.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn read(&self) -> Result<RunData, StoreError> {
        let mut data = RunData {
            info: self.info()?,
            steps: Vec::new(),
            attempts: self.attempts()?,
            facts: self.facts()?,
            ticks: Vec::new(),
            probes: Vec::new(),
            own_io: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            ledger: self.ledger_entries()?,
        };
        for text in self.texts("SELECT json FROM step ORDER BY idx")? {
            data.steps.push(self.parse(&text, "step")?);
        }
        let events: Vec<(i64, Option<u32>, String)> = self.try_sql(|sql| {
            sql.prepare("SELECT at_unix_ns, attempt, json FROM event ORDER BY seq")?
                .query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?
                .collect()
        })?;
        for (at, attempt, text) in events {
            match self.parse::<EventKind>(&text, "event")? {
                EventKind::Cluster(tick) => data.ticks.push((at, tick)),
                EventKind::Probe(probe) => data.probes.push((at, probe)),
                EventKind::OwnIo(io) => data.own_io.push(io),
                EventKind::Note { text } => data.notes.push((at, text)),
                EventKind::Stuck(op) => {
                    if let Some(a) = data.attempts.iter_mut().find(|a| Some(a.id) == attempt) {
                        a.stuck.push((at, op));
                    }
                }
                _ => {}
            }
        }
        Ok(data)
    }

    fn attempts(&self) -> Result<Vec<Attempt>, StoreError> {
        type Row = (u32, u32, u32, String, Option<i64>, Option<String>);
        let rows: Vec<Row> = self.try_sql(|sql| {
            sql.prepare("SELECT id, step, repeat, host, load_started_unix_ns, end_json FROM attempt ORDER BY id")?
                .query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?)))?
                .collect()
        })?;
        rows.into_iter()
            .map(|(id, step, repeat, host, load_started_unix_ns, end)| {
                let end: Option<AttemptEnd> = end.map(|text| self.parse(&text, "attempt")).transpose()?;
                let samples = self.samples(id)?;
                Ok(Attempt { id, step, repeat, host, load_started_unix_ns, end, samples, stuck: Vec::new() })
            })
            .collect()
    }

    fn samples(&self, attempt: u32) -> Result<Vec<Sample>, StoreError> {
        self.try_sql(|sql| {
            sql.prepare(
                "SELECT phase, verb, start_ns, end_ns, ops, bytes, timeouts, unsent, errors,
                 response_count, response_sum_ns, response_min_ns, response_max_ns, response_hdr,
                 service_count, service_sum_ns, service_min_ns, service_max_ns, service_hdr
                 FROM sample WHERE attempt = ?1 ORDER BY start_ns, phase, verb",
            )?
            .query_map([attempt], |r| {
                let errors: String = r.get(8)?;
                let errors: Vec<(ErrorClass, u64)> = serde_json::from_str(&errors).unwrap_or_default();
                Ok(Sample {
                    phase: unword(r.get(0)?).unwrap_or(Phase::Ramp),
                    verb: unword(r.get(1)?).unwrap_or(Verb::Read),
                    start_ns: r.get::<_, i64>(2)? as u64,
                    end_ns: r.get::<_, i64>(3)? as u64,
                    ops: r.get::<_, i64>(4)? as u64,
                    bytes: r.get::<_, i64>(5)? as u64,
                    timeouts: r.get::<_, i64>(6)? as u64,
                    unsent: r.get::<_, i64>(7)? as u64,
                    errors,
                    response: latency(r, 9)?,
                    service: latency(r, 14)?,
                })
            })?
            .collect()
        })
    }

    fn facts(&self) -> Result<Vec<Fact>, StoreError> {
        self.try_sql(|sql| {
            sql.prepare("SELECT moment, source, text, error FROM fact ORDER BY seq")?
                .query_map([], |r| {
                    Ok(Fact { moment: r.get(0)?, source: r.get(1)?, text: r.get(2)?, error: r.get(3)? })
                })?
                .collect()
        })
    }
}

fn latency(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Latency> {
    Ok(Latency {
        count: row.get::<_, i64>(at)? as u64,
        sum_ns: row.get::<_, i64>(at + 1)? as u64,
        min_ns: row.get::<_, i64>(at + 2)? as u64,
        max_ns: row.get::<_, i64>(at + 3)? as u64,
        hdr: row.get(at + 4)?,
    })
}

fn insert_sample(sql: &Connection, attempt: u32, host: &str, s: &Sample) -> rusqlite::Result<()> {
    sql.prepare_cached(
        "INSERT INTO sample(attempt, host, phase, verb, start_ns, end_ns, ops, bytes, timeouts, unsent, errors,
         response_count, response_sum_ns, response_min_ns, response_max_ns, response_hdr,
         service_count, service_sum_ns, service_min_ns, service_max_ns, service_hdr)
         VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)",
    )?
    .execute(params![
        attempt,
        host,
        word(&s.phase),
        word(&s.verb),
        s.start_ns as i64,
        s.end_ns as i64,
        s.ops as i64,
        s.bytes as i64,
        s.timeouts as i64,
        s.unsent as i64,
        json(&s.errors),
        s.response.count as i64,
        s.response.sum_ns as i64,
        s.response.min_ns as i64,
        s.response.max_ns as i64,
        s.response.hdr,
        s.service.count as i64,
        s.service.sum_ns as i64,
        s.service.min_ns as i64,
        s.service.max_ns as i64,
        s.service.hdr,
    ])
    .map(drop)
}

fn insert_fact(sql: &Connection, host: &str, f: &Fact) -> rusqlite::Result<()> {
    sql.execute(
        "INSERT INTO fact(host, moment, source, text, error) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![host, f.moment, f.source, f.text, f.error],
    )
    .map(drop)
}

/// Held while a run goes on, so that nobody cleans up under it. The kernel lets go of it when the process dies.
pub struct RunLock(#[allow(dead_code, reason = "held, not read")] std::fs::File);

impl RunLock {
    /// Takes the lock of a results directory.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when a run holds it.
    pub fn take(dir: &Path) -> Result<RunLock, StoreError> {
        let path = dir.join("run.lock");
        let fail = |source| StoreError::Dir { path: path.clone(), source };
        let file = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => Ok(RunLock(file)),
            Err(std::fs::TryLockError::WouldBlock) => Err(StoreError::Busy(dir.to_owned())),
            Err(std::fs::TryLockError::Error(source)) => Err(fail(source)),
        }
    }
}

/// Objects with the same prefix are one entry that grows; anything else is the same only when it is equal.
pub(crate) fn same_name(a: &Made, b: &Made) -> bool {
    match (a, b) {
        (
            Made::Objects { fsid: f1, pool: p1, namespace: n1, prefix: x1, .. },
            Made::Objects { fsid: f2, pool: p2, namespace: n2, prefix: x2, .. },
        ) => (f1, p1, n1, x1) == (f2, p2, n2, x2),
        _ => a == b,
    }
}

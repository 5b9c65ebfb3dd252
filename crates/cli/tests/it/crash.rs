//! Runs that are killed at any moment: their report works, and `clean` takes away all they made and nothing else.
//!
//! `FATHOM_TEST_KILLS` says how many runs are killed (4), `FATHOM_TEST_SEED` when.
use crate::{
    program::{QUICK, RUN, Ran, Running, fathom, run, signal_pid, start},
    shared_lab::{Cluster, Contents, Pool, unique},
};
use rustix::process::Signal;
use std::{path::Path, time::Duration};
use tempfile::TempDir;

/// A small generator: the moments must be repeatable, not good.
struct Moments(u64);

impl Moments {
    fn new() -> Moments {
        let given = std::env::var("FATHOM_TEST_SEED").ok().map(|text| text.parse().unwrap());
        let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = given.unwrap_or_else(now);
        println!("FATHOM_TEST_SEED={seed}");
        Moments(seed)
    }

    fn below(&mut self, limit: u64) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

fn kills() -> u32 {
    std::env::var("FATHOM_TEST_KILLS").map_or(4, |text| text.parse().unwrap())
}

/// Workers of a controller in the order they were started: its child processes.
fn workers(pid: u32) -> Vec<u32> {
    let parent = |child: &u32| {
        // pid (name) state parent …; the name may hold anything. proc(5)
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u32>().ok())
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    let mut found: Vec<u32> = all.filter(|child| parent(child) == Some(pid)).collect();
    found.sort_unstable();
    found
}

/// Waits until the store is there and has its tables: from then on a killed run has something to tell.
fn until_stored(running: &mut Running, results: &Path) {
    let file = results.join("run.sqlite");
    running.until("the store is there", RUN, |_| file.exists() && rows(&file, "run") == Some(1));
}

fn rows(file: &Path, table: &str) -> Option<u64> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let sql = rusqlite::Connection::open_with_flags(file, flags).ok()?;
    sql.query_row(&format!("SELECT count(*) FROM {table}"), [], |r| r.get::<_, i64>(0)).ok().map(|n| n as u64)
}

/// Objects that look like those of a run and are not: names next to its own, its own names elsewhere.
fn put_foreign(pool: &Pool, namespace: &str, prefix: &str, until: u64) {
    let ends = ["", "00", "007", "-1", "0x", "1_", " 0", "+1", "1.0", "18446744073709551616"];
    let mut names: Vec<(&str, String)> = ends.iter().map(|end| (namespace, format!("{prefix}{end}"))).collect();
    // The ledger names what may exist: the next one and those beyond are somebody else's.
    names.extend([0, 1, 1_000_000].map(|beyond| (namespace, format!("{prefix}{}", until + beyond))));
    names.push((namespace, prefix[..prefix.len() - 1].to_owned()));
    for elsewhere in ["", "other"] {
        names.extend([0, 1, until / 2].map(|n| (elsewhere, format!("{prefix}{n}"))));
    }
    let contents: Vec<String> = names.iter().map(|(ns, name)| format!("foreign {ns}/{name}")).collect();
    let rows = names.iter().zip(&contents).map(|((ns, name), content)| (*ns, name.as_str(), content.as_bytes()));
    pool.put_all(&rows.collect::<Vec<_>>());
}

/// What a run's ledger names.
#[derive(Debug, Default)]
struct Named {
    /// Namespace, prefix and bound.
    ranges: Vec<(String, String, u64)>,
    /// Namespace and name.
    singles: Vec<(String, String)>,
}

impl Named {
    fn of(results: &Path) -> Named {
        let sql = rusqlite::Connection::open(results.join("run.sqlite")).unwrap();
        let mut query = sql.prepare("SELECT made FROM ledger").unwrap();
        let rows: Vec<String> = query.query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
        let mut named = Named::default();
        for row in rows {
            let made: serde_json::Value = serde_json::from_str(&row).unwrap();
            let text = |key: &str| made[key].as_str().unwrap().to_owned();
            match text("made").as_str() {
                "objects" => {
                    named.ranges.push((text("namespace"), text("prefix"), made["until"].as_u64().unwrap()));
                }
                "object" => named.singles.push((text("namespace"), text("name"))),
                _ => {}
            }
        }
        named
    }

    fn has(&self, namespace: &str, name: &str) -> bool {
        let single = self.singles.iter().any(|(ns, n)| (ns.as_str(), n.as_str()) == (namespace, name));
        single
            || self.ranges.iter().any(|(ns, prefix, until)| {
                let index = name.strip_prefix(prefix.as_str()).and_then(|n| n.parse::<u64>().ok());
                ns == namespace && index.is_some_and(|n| n < *until && format!("{prefix}{n}") == name)
            })
    }
}

#[track_caller]
fn report_works(results: &Path) -> serde_json::Value {
    let text = run(fathom(["report"]).arg(results), QUICK).exits(0);
    assert!(text.out.contains("VERDICT"), "{text:#?}");
    let html = run(fathom(["report", "--html", "-"]).arg(results), QUICK).exits(0);
    assert!(html.out.contains("</html>"));
    run(fathom(["report", "--json"]).arg(results), QUICK).exits(0).json()
}

#[track_caller]
fn clean(cluster: &Cluster, results: &Path) -> Ran {
    let ran = run(&mut cluster.clean(results, &[]), RUN).exits(0);
    let again = run(&mut cluster.clean(results, &[]), QUICK).exits(0);
    assert_eq!(again.out.trim(), "nothing to remove", "{again:#?}");
    ran
}

/// Everything that is not one of the run's own objects.
fn foreign(pool: &Pool, own: &Named) -> Contents {
    pool.get_all(pool.list().into_iter().filter(|(ns, name)| !own.has(ns, name)).collect())
}

/// When a run is killed, and what it does then.
struct Death {
    /// Mode, objects.
    load: [&'static str; 2],
    /// After the store is there.
    after: Duration,
    /// This long after Ctrl-C: while it cleans up.
    cleaning: Option<Duration>,
}

fn kill_one(pool: &Pool, death: &Death) {
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let namespace = unique("ns");
    pool.put(&namespace, "there before", b"foreign, there before");
    let [mode, objects] = death.load;
    let args = [mode, "-N", &namespace, "-b", "4k", "-t", "8", "--max-objects", objects, "--duration", "60s"];
    let mut running = start(pool.bench(&args).args(["--ramp", "0", "--repeat", "2", "--results"]).arg(&results));
    until_stored(&mut running, &results);
    std::thread::sleep(death.after);
    assert!(running.goes_on(), "it ended before it was killed: {}", running.err_so_far());
    if let Some(cleaning) = death.cleaning {
        running.signal(Signal::INT);
        std::thread::sleep(cleaning);
    }
    running.kill();
    report_works(&results);
    let own = Named::of(&results);
    for (namespace, prefix, until) in &own.ranges {
        put_foreign(pool, namespace, prefix, *until);
    }
    let before = foreign(pool, &own);
    let cleaned = clean(&pool.cluster, &results);
    println!("cleaned {own:?} in {:?}", cleaned.took);
    let after = pool.contents();
    let left: Vec<_> = after.keys().filter(|k| !before.contains_key(*k)).collect();
    assert_eq!(left, Vec::<&(String, String)>::new(), "left of the run: {cleaned:#?}");
    let gone: Vec<_> = before.keys().filter(|k| !after.contains_key(*k)).collect();
    assert_eq!(gone, Vec::<&(String, String)>::new(), "foreign and removed: {cleaned:#?}");
    assert!(after == before, "foreign and changed");
    let json = report_works(&results);
    assert_eq!(json["ledger"]["left"], 0, "{:#}", json["ledger"]);
}

#[test]
fn killed_at_random_moments() {
    let pool = Pool::shared("killed");
    let mut moments = Moments::new();
    for n in 0..kills() {
        // While it writes, while it fills a data set, while it uses one, and while it cleans up.
        let load = [["write", "200000"], ["rand", "20000"], ["mixed", "100"], ["write", "200000"]][(n % 4) as usize];
        let after = Duration::from_millis(moments.below(8000));
        let cleaning = (n % 4 == 3).then(|| Duration::from_millis(moments.below(2500)));
        println!("kill {n}: {load:?}, {after:?} after the store is there, {cleaning:?} after Ctrl-C");
        kill_one(&pool, &Death { load, after, cleaning });
    }
}

#[test]
fn killed_with_a_pool_of_its_own() {
    let cluster = Cluster::shared();
    let mut moments = Moments::new();
    for n in 0..kills().div_ceil(4) {
        let after = Duration::from_millis(moments.below(8000));
        println!("kill {n}: {after:?} after the store is there");
        let dir = TempDir::new().unwrap();
        let results = dir.path().join("r");
        let args = ["-b", "4k", "-t", "8", "--duration", "60s", "--pg-num", "8", "--results"];
        let mut running = start(cluster.bench(&args).arg(&results));
        until_stored(&mut running, &results);
        std::thread::sleep(after);
        running.kill();
        let id = report_works(&results)["run"]["id"].as_str().unwrap().to_owned();
        clean(&cluster, &results);
        let pools = cluster.pools();
        assert!(!pools.contains(&format!("fathom-{id}")), "{pools:?}");
    }
}

/// The process that makes the load dies, as librados may make it: the run goes on to its end and cleans up itself.
#[test]
fn the_worker_is_killed() {
    let pool = Pool::shared("worker");
    pool.put("", "foreign", b"foreign");
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["-b", "4k", "-t", "8", "--duration", "30s", "--repeat", "1", "--results"];
    let mut running = start(pool.bench(&args).arg(&results));
    running.until_err("1s", RUN);
    // The first worker carries the commands, the last one makes the load.
    let load = workers(running.pid());
    assert!(load.len() >= 2, "{load:?}");
    signal_pid(*load.last().unwrap(), Signal::KILL);
    running.end(RUN).exits(5).mentions(&["fathom: ", "signal 9"]);
    assert_eq!(pool.list(), vec![(String::new(), "foreign".to_owned())]);
    let json = report_works(&results);
    assert_eq!(json["ledger"]["left"], 0);
    assert!(
        json["steps"][0]["repeats"][0]["series"].as_array().is_some_and(|s| !s.is_empty()),
        "what it measured is lost"
    );
}

#[test]
fn ctrl_c() {
    let pool = Pool::shared("stopped");
    pool.put("", "foreign", b"foreign");
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["-b", "4k", "-t", "8", "--duration", "60s", "--repeat", "3", "--results"];
    let mut running = start(pool.bench(&args).arg(&results));
    running.until_err("2s", RUN);
    running.signal(Signal::INT);
    let ran = running.end(RUN).exits(130).mentions(&["fathom: ", "stopped", "stored", results.to_str().unwrap()]);
    assert_eq!(pool.list(), vec![(String::new(), "foreign".to_owned())], "{ran:#?}");
    let json = report_works(&results);
    assert_eq!(json["ledger"]["left"], 0, "{:#}", json["ledger"]);
    assert!(json["steps"][0]["account"]["completed"].as_u64().unwrap() > 0, "what it measured is lost");
    let again = run(&mut pool.cluster.clean(&results, &[]), QUICK).exits(0);
    assert_eq!(again.out.trim(), "nothing to remove");
}

/// Nobody cleans up under a run; looking at it is allowed.
#[test]
fn the_run_still_goes_on() {
    let pool = Pool::shared("going");
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["-b", "4k", "-t", "8", "--duration", "60s", "--repeat", "1", "--results"];
    let mut running = start(pool.bench(&args).arg(&results));
    running.until_err("2s", RUN);
    let ran = run(&mut pool.cluster.clean(&results, &[]), QUICK);
    ran.says(4, &[results.to_str().unwrap(), "still going"]);
    report_works(&results);
    assert!(running.goes_on(), "{}", running.err_so_far());
    running.signal(Signal::TERM);
    running.end(RUN).exits(130);
}

/// The ledger says which cluster: the same names in another one are somebody else's.
#[test]
fn another_cluster() {
    let pool = Pool::shared("elsewhere");
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let args = ["-b", "4k", "-t", "4", "--ops", "20", "--repeat", "1", "--no-cleanup", "-q", "--results"];
    run(pool.bench(&args).arg(&results), RUN).exits(0);
    let before = pool.contents();
    assert_eq!(before.len(), 20);
    // Kept on purpose: left alone, and told.
    let ran = run(&mut pool.cluster.clean(&results, &[]), QUICK).exits(0);
    assert!(ran.err.contains("--kept"), "{ran:#?}");
    assert_eq!(pool.contents(), before);

    let fsid = "00000000-0000-4000-8000-000000000000";
    let real = pool.cluster.ceph(&["fsid"]).trim().to_owned();
    let edit = |from: &str, to: &str| {
        let sql = rusqlite::Connection::open(results.join("run.sqlite")).unwrap();
        let rows = sql.execute("UPDATE ledger SET made = replace(made, ?1, ?2)", [from, to]).unwrap();
        assert!(rows > 0);
    };
    edit(&real, fsid);
    let ran = run(&mut pool.cluster.clean(&results, &["--kept"]), RUN);
    assert!(matches!(ran.code, Some(4 | 6)), "{ran:#?}");
    let ran = ran.mentions(&["fathom: ", fsid, &real]);
    assert_eq!(pool.contents(), before, "{ran:#?}");
    edit(fsid, &real);
    run(&mut pool.cluster.clean(&results, &["--kept"]), RUN).exits(0);
    assert_eq!(pool.list(), vec![]);
}

//! Steps of the rados layer: names, data sets, and the forms that `rados bench` reads and writes.
use crate::fail::Fail;
use fathom_ceph::{ClusterFacts, radosbench};
use fathom_model::{ExitCode, Load, Size, Step, Verb, bytes_text};
use fathom_run::Control;
use serde_json::{Map, Value, json};

/// A data set for reads is about this large: more than any client caches, quick to fill.
const DATA_SET_BYTES: u64 = 1 << 30;
/// Objects of a data set, at most: filling takes time.
const DATA_SET_OBJECTS: u64 = 20_000;
/// A write of new objects fills at most this part of what is free, in percent.
const FILL_PCT: u64 = 50;

/// What to do to which objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// New objects, one after the other.
    Write,
    /// Reads of a data set in order.
    Seq,
    /// Reads of a data set at random.
    Rand,
    /// Reads and overwrites of a data set at random.
    Mixed,
}

/// Where the objects are.
pub struct Place<'a> {
    /// Run id.
    pub id: &'a str,
    /// Pool name.
    pub pool: &'a str,
    /// Namespace.
    pub namespace: &'a str,
    /// Size of an object.
    pub object_bytes: u64,
    /// Objects at most, when asked for.
    pub max_objects: Option<u64>,
    /// The pool's room: bytes that fit, with copies accounted for; `None` when unknown.
    pub room_bytes: Option<u64>,
}

/// The step of a mode with fathom's own objects. Steps of one run that read the same object size share a data set.
pub fn step(mode: Mode, place: &Place<'_>, load: Load, extra: &Map<String, Value>) -> Result<Step, Fail> {
    let block = u64::from(load.block_bytes);
    if place.object_bytes < block || !place.object_bytes.is_multiple_of(block) {
        return Err(Fail::usage(format!(
            "--object-size {} must be a multiple of the block size {}",
            Size(place.object_bytes),
            Size(block)
        )));
    }
    let fill = mode != Mode::Write;
    let room = place.room_bytes.map_or(u64::MAX, |bytes| bytes / 100 * FILL_PCT / place.object_bytes);
    let objects = match (place.max_objects, fill) {
        (Some(asked), _) => asked,
        (None, true) => (DATA_SET_BYTES / place.object_bytes).clamp(64, DATA_SET_OBJECTS),
        (None, false) => room.clamp(1, 1 << 32),
    };
    if objects > room {
        return Err(Fail::new(
            ExitCode::Refused,
            format!(
                "{objects} objects of {} are more than {FILL_PCT} % of the {} that are free in pool {}: lower --max-objects",
                Size(place.object_bytes),
                bytes_text(place.room_bytes.unwrap_or(0) as f64),
                place.pool
            ),
        ));
    }
    let what = if fill { format!("data{}", place.object_bytes) } else { format!("new{}t{}", block, load.depth) };
    let name = format!("rados {} {} T={}", words(mode, &load), Size(block), load.depth);
    let mut params = Map::new();
    params.insert("pool".into(), json!(place.pool));
    params.insert("namespace".into(), json!(place.namespace));
    params.insert("prefix".into(), json!(format!("benchmark_data_fathom_{}_{what}_object", place.id)));
    params.insert("object_size".into(), json!(place.object_bytes.to_string()));
    params.insert("objects".into(), json!(objects.to_string()));
    params.insert("fill".into(), json!(fill.to_string()));
    params.extend(extra.clone());
    Ok(Step { name, layer: "rados".into(), params, load })
}

fn words(mode: Mode, load: &Load) -> String {
    match mode {
        Mode::Write => "write".into(),
        Mode::Seq => "seq read".into(),
        Mode::Rand => "rand read".into(),
        Mode::Mixed => {
            let reads: u32 = load.mix.iter().filter(|s| s.verb == Verb::Read).map(|s| s.weight).sum();
            format!("mixed {reads}:{}", 100 - reads)
        }
    }
}

/// Bytes that fit into a pool, from `df` before the run; for a pool that is still to be made, from what is free raw.
pub fn room_bytes(control: &Control, pool: Option<&str>, copies: u64) -> Option<u64> {
    let text = control.mon("df").ok()?;
    let fact = fathom_model::Fact { moment: "before".into(), source: "ceph df".into(), text, error: None };
    let df = ClusterFacts::read([&fact]).df?;
    match pool {
        // A pool that was just made is not in `df` yet: then what is free raw bounds it.
        Some(name) => {
            let told = df.pool(name).map(|p| p.max_avail_bytes).filter(|bytes| *bytes > 0);
            Some(told.unwrap_or(df.avail_bytes / copies.max(1)))
        }
        None => Some(df.avail_bytes / copies.max(1)),
    }
}

/// Objects that `rados bench` can read: its names, its content, its metadata object.
pub fn rados_bench_write(control: &Control, mut step: Step, host: &str, run_name: Option<&str>) -> Result<Step, Fail> {
    let (pool, namespace) = place_of(&step);
    let metadata = radosbench::metadata_object(run_name);
    if control.read_object(&pool, &namespace, metadata)?.is_some() {
        return Err(Fail::new(
            ExitCode::Refused,
            format!(
                "pool {pool} already holds the metadata object `{metadata}` of another rados bench run: \
                 give this one a name of its own with --run-name"
            ),
        ));
    }
    // Not this process's number: a number no process can have (above pid_max's 4194304) is nobody else's.
    let pid = 0x0080_0000 | (step.load.seed as u32 & 0x3f7f_ffff);
    step.params.insert("prefix".into(), json!(format!("{}_object", radosbench::data_prefix(host, pid))));
    step.params.insert("payload".into(), json!("rados-bench"));
    step.params.insert("metadata".into(), json!(metadata));
    step.params.insert("bench_pid".into(), json!(pid.to_string()));
    step.load.lanes = 1;
    Ok(step)
}

/// What `rados bench` wrote on this host, described by its metadata object.
pub fn rados_bench_read(
    control: &Control,
    mut step: Step,
    mode: Mode,
    host: &str,
    run_name: Option<&str>,
) -> Result<Step, Fail> {
    let (pool, namespace) = place_of(&step);
    let name = radosbench::metadata_object(run_name);
    let Some(bytes) = control.read_object(&pool, &namespace, name)? else {
        return Err(Fail::new(
            ExitCode::Unreachable,
            format!(
                "pool {pool} holds no object `{name}`: run `rados bench -p {pool} SECONDS write --no-cleanup` on this host \
                 first, or name its run with --run-name"
            ),
        ));
    };
    let found =
        radosbench::Metadata::decode(&bytes).map_err(|e| Fail::new(ExitCode::Unreachable, format!("{name}: {e}")))?;
    let (pid, ops) = (u32::try_from(found.pid).unwrap_or(0), u64::try_from(found.ops).unwrap_or(0));
    let per_object = (found.object_size_bytes / found.op_size_bytes.max(1)).max(1);
    if ops == 0 || found.op_size_bytes == 0 || found.op_size_bytes > 1 << 30 {
        return Err(Fail::new(ExitCode::Unreachable, format!("`{name}` says that nothing was written")));
    }
    step.params.insert("prefix".into(), json!(format!("{}_object", radosbench::data_prefix(host, pid))));
    // An object's remainder below a whole operation is never written.
    step.params.insert("object_size".into(), json!((per_object * found.op_size_bytes).to_string()));
    step.params.insert("objects".into(), json!(ops.div_ceil(per_object).to_string()));
    step.params.insert("payload".into(), json!("rados-bench"));
    step.params.insert("fill".into(), json!("false"));
    step.load.block_bytes = found.op_size_bytes as u32;
    step.load.verify = true;
    if mode == Mode::Seq {
        step.load.pattern = fathom_model::Pattern::Sequential { wrap: false };
        step.load.stop.ops = Some(step.load.stop.ops.map_or(ops, |asked| asked.min(ops)));
        step.load.ramp_ns = 0;
    } else if !ops.is_multiple_of(per_object) {
        // The last object is not whole: leave it out rather than read what isn't there.
        step.params.insert("objects".into(), json!((ops / per_object).max(1).to_string()));
    }
    step.name = format!(
        "rados {} {} T={} of rados bench's objects",
        words(mode, &step.load),
        Size(found.op_size_bytes),
        step.load.depth
    );
    Ok(step)
}

fn place_of(step: &Step) -> (String, String) {
    let text = |key: &str| step.params.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    (text("pool"), text("namespace"))
}

//! The layer's parameters: what they are called, what they may be, and a step's values checked.
use crate::layer::{Kind, LoadError, Param};
use fathom_model::{Size, Step};
use serde_json::Value;

/// The table behind plan checks, flags and documentation.
pub(super) const PARAMS: &[Param] = &[
    Param { name: "pool", short: Some('p'), kind: Kind::Text, default: None, help: "pool to use; required" },
    Param {
        name: "namespace",
        short: Some('N'),
        kind: Kind::Text,
        default: Some(""),
        help: "namespace inside the pool; empty: the default one",
    },
    Param {
        name: "prefix",
        short: None,
        kind: Kind::Text,
        default: None,
        help: "object names are this and a number from 0; required",
    },
    Param {
        name: "object_size",
        short: Some('O'),
        kind: Kind::Size,
        default: None,
        help: "size of one object, a multiple of the block size; without it an object is one block",
    },
    Param { name: "objects", short: None, kind: Kind::Count, default: None, help: "number of objects; required" },
    Param {
        name: "fill",
        short: None,
        kind: Kind::Switch,
        default: Some("false"),
        help: "write every object before the load, so that it overwrites or reads what is there",
    },
    Param {
        name: "handles",
        short: None,
        kind: Kind::Count,
        default: Some("0"),
        help: "connections to the cluster (each has its own threads and one socket per OSD); 0: half the CPUs, 1 to 8",
    },
    Param {
        name: "payload",
        short: None,
        kind: Kind::Text,
        default: Some("random"),
        help: "what is written: `random`, or `rados-bench` for the text `rados bench` writes and expects",
    },
    Param {
        name: "metadata",
        short: None,
        kind: Kind::Text,
        default: None,
        help: "write the metadata object of `rados bench` under this name when the load has ended; without it, none",
    },
    Param {
        name: "bench_pid",
        short: None,
        kind: Kind::Count,
        default: Some("0"),
        help: "process number put into the metadata object",
    },
    Param {
        name: "hints",
        short: None,
        kind: Kind::Switch,
        default: Some("false"),
        help: "send the allocation hints `rados bench` sends (written once, in order, never changed)",
    },
];

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PayloadKind {
    Random,
    RadosBench,
}

impl PayloadKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            PayloadKind::Random => "random",
            PayloadKind::RadosBench => "rados-bench",
        }
    }
}

/// A step's parameters, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Params {
    pub(super) pool: String,
    pub(super) namespace: String,
    pub(super) prefix: String,
    pub(super) object_bytes: u64,
    pub(super) objects: u64,
    pub(super) fill: bool,
    /// At least 1.
    pub(super) handles: u32,
    pub(super) payload: PayloadKind,
    /// Name of the metadata object and the process number in it.
    pub(super) metadata: Option<(String, i32)>,
    pub(super) hints: bool,
}

/// librados refuses longer operations (`UINT_MAX / 2`).
const LONGEST_OP_BYTES: u64 = u32::MAX as u64 / 2;
/// Names longer than `osd_max_object_name_len` are refused by OSDs; an index has at most 20 digits.
const LONGEST_PREFIX_BYTES: usize = 2048 - 20;

impl Params {
    /// Reads a step's parameters; `cpus` is what `handles = 0` is worked out from.
    pub(super) fn of(step: &Step, cpus: u32) -> Result<Params, LoadError> {
        let values = Values(step);
        values.only_known()?;
        let block = u64::from(step.load.block_bytes);
        if block == 0 || block > LONGEST_OP_BYTES {
            return Err(usage(format!("block size {block} is not possible: 1 to {LONGEST_OP_BYTES} bytes")));
        }
        let object_bytes = match values.text("object_size")? {
            None => block,
            Some(text) => text.parse::<Size>().map_err(|e| usage(format!("object_size: {e}")))?.0,
        };
        if object_bytes < block || object_bytes % block != 0 {
            return Err(usage(format!(
                "object_size {object_bytes} is not a multiple of the block size {block}: use one that is"
            )));
        }
        let objects = values.required("objects")?;
        let objects = count("objects", &objects)?;
        let blocks = objects.checked_mul(object_bytes / block).filter(|blocks| *blocks < 1 << 62);
        if objects == 0 || blocks.is_none() {
            return Err(usage(format!("objects = {objects} is not possible: use 1 to 2^62 blocks in all")));
        }
        let depth = step.load.depth.max(1);
        let handles = match count("handles", &values.or_default("handles", "0")?)? {
            0 => (cpus / 2).clamp(1, 8),
            n if n <= 64 => n as u32,
            n => return Err(usage(format!("handles = {n} is too many: use at most 64"))),
        };
        let payload = match values.or_default("payload", "random")?.as_str() {
            "random" => PayloadKind::Random,
            "rados-bench" => PayloadKind::RadosBench,
            other => return Err(usage(format!("payload = `{other}` is not known: use random or rados-bench"))),
        };
        let prefix = values.required("prefix")?;
        if prefix.len() > LONGEST_PREFIX_BYTES {
            return Err(usage(format!("prefix has {} bytes: use at most {LONGEST_PREFIX_BYTES}", prefix.len())));
        }
        let pid = count("bench_pid", &values.or_default("bench_pid", "0")?)?;
        let pid = i32::try_from(pid).map_err(|_| usage(format!("bench_pid = {pid} is not a process number")))?;
        let metadata = values.text("metadata")?.filter(|name| !name.is_empty()).map(|name| (name, pid));
        if metadata.is_some() && payload != PayloadKind::RadosBench {
            return Err(usage("metadata is for payload = rados-bench: `rados bench` could not read other data".into()));
        }
        Ok(Params {
            pool: values.required("pool")?,
            namespace: values.or_default("namespace", "")?,
            prefix,
            object_bytes,
            objects,
            fill: switch("fill", &values.or_default("fill", "false")?)?,
            handles: handles.min(depth),
            payload,
            metadata,
            hints: switch("hints", &values.or_default("hints", "false")?)?,
        })
    }
}

/// A step's parameters as texts. TOML and JSON write numbers and switches without quotes, so those count as texts too.
struct Values<'a>(&'a Step);

impl Values<'_> {
    fn only_known(&self) -> Result<(), LoadError> {
        for key in self.0.params.keys() {
            if !PARAMS.iter().any(|p| p.name == key) {
                let known: Vec<&str> = PARAMS.iter().map(|p| p.name).collect();
                return Err(usage(format!("`{key}` is not a parameter of rados: use one of {}", known.join(", "))));
            }
        }
        Ok(())
    }

    fn text(&self, key: &str) -> Result<Option<String>, LoadError> {
        let text = match self.0.params.get(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(on)) => on.to_string(),
            Some(Value::Number(n)) => n.to_string(),
            Some(_) => return Err(usage(format!("{key} must be one value"))),
        };
        if text.contains('\0') {
            return Err(usage(format!("{key} contains a NUL byte")));
        }
        Ok(Some(text))
    }

    fn required(&self, key: &str) -> Result<String, LoadError> {
        let text = self.text(key)?.filter(|text| !text.is_empty());
        text.ok_or_else(|| usage(format!("rados needs the parameter {key}")))
    }

    fn or_default(&self, key: &str, default: &str) -> Result<String, LoadError> {
        Ok(self.text(key)?.unwrap_or_else(|| default.to_owned()))
    }
}

fn count(key: &str, text: &str) -> Result<u64, LoadError> {
    text.parse().map_err(|_| usage(format!("{key} = `{text}` is not a whole number")))
}

fn switch(key: &str, text: &str) -> Result<bool, LoadError> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(usage(format!("{key} = `{text}` is neither true nor false"))),
    }
}

fn usage(text: String) -> LoadError {
    LoadError::Usage(text)
}

//! From arguments to resolved steps: after this no default is left open.
mod load;
pub mod rados;

pub use load::{LoadArgs, load, matrix};

use crate::fail::Fail;
use fathom_load::layers;
use fathom_model::{Connect, RunInfo, Step};
use std::path::{Path, PathBuf};

/// How to reach the cluster, as asked; paths absolute, so that the stored run can be cleaned from anywhere here.
pub fn connect(m: &clap::ArgMatches) -> Connect {
    let absolute = |path: &str| std::path::absolute(path).map_or_else(|_| path.to_owned(), |p| p.display().to_string());
    let conf =
        m.get_one::<String>("conf").cloned().or_else(|| std::env::var("CEPH_CONF").ok().filter(|v| !v.is_empty()));
    let id = m.get_one::<String>("id").map_or("admin", String::as_str);
    Connect {
        conf: conf.map(|path| absolute(&path)),
        user: if id.contains('.') { id.to_owned() } else { format!("client.{id}") },
        keyring: m.get_one::<String>("keyring").map(|path| absolute(path)),
        timeout_ns: m.get_one::<std::time::Duration>("connect-timeout").map_or(15_000_000_000, |d| d.as_nanos() as u64),
    }
}

/// Who runs what.
pub fn info(m: &clap::ArgMatches, name: &str, connect: &Connect) -> RunInfo {
    let id = fathom_run::new_run_id();
    // Shown as JSON numbers too, which carry 53 bits.
    let fresh = u64::from_str_radix(&id, 16).unwrap_or(0) & ((1 << 48) - 1);
    let seed = m.get_one::<u64>("seed").copied().unwrap_or(fresh);
    RunInfo {
        name: name.to_owned(),
        command: repeatable(std::env::args(), seed),
        build: crate::BUILD.to_owned(),
        seed,
        started_unix_ns: 0,
        ended_unix_ns: None,
        connect: connect.clone(),
        fsid: String::new(),
        id,
    }
}

/// The command line that gives the same run again: the seed that was used in it, and not the directory, which is taken.
fn repeatable(args: impl Iterator<Item = String>, seed: u64) -> String {
    let mut words = Vec::new();
    let mut args = args.peekable();
    while let Some(arg) = args.next() {
        match arg.split_once('=').map_or(arg.as_str(), |(flag, _)| flag) {
            "--results" | "--seed" => {
                if !arg.contains('=') {
                    args.next();
                }
            }
            _ if arg.contains([' ', '*', '?', '$', '\'', '"']) => {
                words.push(format!("'{}'", arg.replace('\'', "'\\''")))
            }
            _ => words.push(arg),
        }
    }
    format!("{} --seed {seed}", words.join(" "))
}

/// Where the results go: what was asked for, or a directory named by time.
pub fn results_dir(m: &clap::ArgMatches, name: &str) -> PathBuf {
    m.get_one::<PathBuf>("results").cloned().unwrap_or_else(|| {
        let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
        Path::new("fathom-results").join(format!("{now}-{name}"))
    })
}

/// Checks a step without a cluster, by asking its layer for a job.
pub fn check(step: &Step, connect: &Connect) -> Result<(), Fail> {
    let layer = layers::find(&step.layer).ok_or_else(|| Fail::usage(format!("there is no layer {}", step.layer)))?;
    layer.job(step, connect)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::repeatable;

    #[test]
    fn the_command_can_be_pasted() {
        let given = ["fathom", "bench", "null", "--results", "a b", "--seed=3", "--conf", "a b"].map(str::to_owned);
        assert_eq!(repeatable(given.into_iter(), 7), "fathom bench null --conf 'a b' --seed 7");
    }
}

//! `fathom bench rados` against `rados bench`: the same pool, sizes and depth, run by run in the order ABBA.
use super::cluster::{Cluster, NAMESPACE};
use super::compare::{Goal, Ratios, Verdict, median};
use super::options::Options;
use super::ours;
use super::quiet::{self, Mark};
use super::theirs::{Mode, RadosBench};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

const DEPTH: &str = "16";
/// Objects of a data set for reads: filled before each of our runs, once for theirs.
const DATA_SET: &str = "4096";
/// A pair during which others used more than this share of the machine's CPUs is repeated. A few idle labs and the
/// kernel's own threads stay below.
const OTHERS_MAX: f64 = 0.25;
/// Fewer undisturbed pairs than this give no interval of 95 %: then all pairs count, and the result says so.
const PAIRS_MIN: usize = 6;
/// Between removal and the next run.
const PAUSE: Duration = Duration::from_secs(2);

/// What is raced.
struct Workload {
    name: &'static str,
    block: &'static str,
    write: bool,
    iops: Goal,
    cpu: Option<Goal>,
}

const WORKLOADS: [Workload; 3] = [
    Workload {
        name: "4 KiB write T=16",
        block: "4096",
        write: true,
        iops: Goal::AtLeast(1.0),
        cpu: Some(Goal::AtMost(0.85)),
    },
    Workload {
        name: "4 KiB read T=16",
        block: "4096",
        write: false,
        iops: Goal::AtLeast(1.0),
        cpu: Some(Goal::AtMost(1.0)),
    },
    Workload { name: "4 MiB write T=16", block: "4194304", write: true, iops: Goal::AtLeast(1.0), cpu: None },
];

/// What is the same on both sides, what is not, and what each figure contains.
const CONDITIONS: &str = "\
Both: one pool and namespace, one client process, incompressible or not makes no difference (no compression). Writes make
new objects, both without allocation hints (`rados bench --no-hints`); each run's objects are removed before the next. Ours has
a ramp of 1 s before its window: a window that begins with nothing in flight would miss `T` operations that theirs, with its drain,
counts.
Random reads of 4096 whole objects, not verified on either side; ours are written before each run, theirs once.
IOPS: ours are operations completed in the measured window ÷ window; theirs are operations ÷ `Total time run`.
CPU per operation: ours is the worker process, user and system, all threads, in the measured window ÷ operations in it;
theirs is the whole process less that of a run of one operation (start, connect, end) ÷ operations. Neither contains
start-up. `whole command` is everything: `fathom bench` also captures, watches, fills, settles and cleans.";

/// One side's figures of one run.
#[derive(Clone, Copy)]
struct Figures {
    ops_per_s: f64,
    cpu_ns_per_op: f64,
}

/// What came of one run of one side.
struct Side {
    figures: Figures,
    /// CPU of the whole command, start-up and all.
    whole_cpu_ns_per_op: f64,
    /// Share of the machine's CPUs that others used meanwhile, 0 to 1.
    others: f64,
    client: String,
}

struct Pair {
    ours: Figures,
    theirs: Figures,
    /// Whole commands, ours and theirs.
    whole: [f64; 2],
    client: String,
    /// The larger of both sides' [`Side::others`].
    others: f64,
}

pub fn run(fathom: &Path, options: &Options) -> Result<bool> {
    let (pairs, seconds) = (options.count("--pairs", 8)?, options.count("--seconds", 6)?);
    let only = options.text("--only").unwrap_or_default();
    let chosen: Vec<&Workload> = WORKLOADS.iter().filter(|w| w.name.contains(only)).collect();
    ensure!(!chosen.is_empty(), "--only {only}: no workload is named like this");
    let cluster = Cluster::open(fathom, options.text("--conf"))?;
    let theirs = RadosBench::new(&cluster)?;
    let race = Race { fathom, cluster: &cluster, theirs, seconds, patience: options.patience()? };
    let mut results = Vec::new();
    for workload in chosen {
        let pairs = race.workload(workload, pairs)?;
        results.push(Outcome::of(workload, pairs));
    }
    let good = results.iter().all(Outcome::good);
    let client = format!("{}; ours with {}; theirs with defaults", release(&cluster), results[0].client);
    if options.json {
        let all: Vec<Value> = results.iter().map(Outcome::json).collect();
        let document = json!({
            "race": "rados", "conditions": CONDITIONS, "client": client, "seconds": seconds, "depth": DEPTH,
            "rados_bench_start_up_cpu_s": race.theirs.start_up_cpu_s, "workloads": all,
        });
        println!("{document:#}");
    } else {
        println!("{CONDITIONS}\nClient library: {client}\n");
        results.iter().for_each(|r| println!("{}", r.text()));
    }
    Ok(good)
}

/// The release both sides run on.
fn release(cluster: &Cluster) -> String {
    cluster.ceph(&["--version"]).map(|text| text.trim().to_owned()).unwrap_or_default()
}

struct Race<'a> {
    fathom: &'a Path,
    cluster: &'a Cluster,
    theirs: RadosBench<'a>,
    seconds: u32,
    patience: Duration,
}

impl Race<'_> {
    /// Pairs until `count` of them were undisturbed, twice as many at most.
    fn workload(&self, w: &Workload, count: u32) -> Result<Vec<Pair>> {
        if !w.write {
            self.theirs.fill(w.block, DEPTH, DATA_SET, "race-data")?;
        }
        let mut pairs: Vec<Pair> = Vec::new();
        while pairs.len() < 2 * count as usize && pairs.iter().filter(|p| p.undisturbed()).count() < count as usize {
            // ABBA: whatever drifts, and whatever a run leaves behind, falls on both.
            let pair = if pairs.len().is_multiple_of(2) {
                let ours = self.ours(w)?;
                Pair::of(ours, self.theirs(w)?)
            } else {
                let theirs = self.theirs(w)?;
                Pair::of(self.ours(w)?, theirs)
            };
            eprintln!("{} pair {} ({count} undisturbed are wanted): {}", w.name, pairs.len() + 1, pair.text());
            pairs.push(pair);
        }
        Ok(pairs)
    }

    fn ours(&self, w: &Workload) -> Result<Side> {
        self.cluster.go_on()?;
        quiet::wait(self.patience)?;
        let (conf, duration) = (self.cluster.conf.to_string_lossy(), format!("{}s", self.seconds));
        let mode = if w.write { "write" } else { "rand" };
        let more: &[&str] = if w.write { &[] } else { &["--max-objects", DATA_SET] };
        let place = ["rados", mode, "-c", &*conf, "-p", &self.cluster.pool, "-N", NAMESPACE];
        let load = ["-b", w.block, "-t", DEPTH, "--duration", &*duration, "--ramp", "1s", "--repeat", "1"];
        let deadline = Duration::from_secs(u64::from(self.seconds) + 300);
        let mark = Mark::now(&self.cluster.conf)?;
        let run = ours::bench(self.fathom, &[&place[..], &load[..], more].concat(), &self.cluster.scratch.0, deadline)?;
        let others = mark.others(&self.cluster.conf, run.whole_cpu_s)?;
        std::thread::sleep(PAUSE);
        ensure!(run.repeats.len() == 1, "fathom made {} repeats", run.repeats.len());
        let figures = Figures { ops_per_s: run.repeats[0].ops_per_s, cpu_ns_per_op: run.repeats[0].cpu_ns_per_op };
        let whole_cpu_ns_per_op = run.whole_cpu_s * 1e9 / run.ops.max(1) as f64;
        Ok(Side { figures, whole_cpu_ns_per_op, others, client: run.client })
    }

    fn theirs(&self, w: &Workload) -> Result<Side> {
        self.cluster.go_on()?;
        quiet::wait(self.patience)?;
        let mode =
            if w.write { Mode::Write { block: w.block, name: "race-new" } } else { Mode::Rand { name: "race-data" } };
        let mark = Mark::now(&self.cluster.conf)?;
        let run = self.theirs.run(mode, DEPTH, self.seconds)?;
        let others = mark.others(&self.cluster.conf, run.whole_cpu_s)?;
        if w.write {
            self.theirs.clean("race-new")?;
        }
        std::thread::sleep(PAUSE);
        let figures = Figures { ops_per_s: run.ops_per_s, cpu_ns_per_op: run.cpu_ns_per_op };
        let whole_cpu_ns_per_op = run.whole_cpu_s * 1e9 / run.ops as f64;
        Ok(Side { figures, whole_cpu_ns_per_op, others, client: String::new() })
    }
}

impl Pair {
    fn of(ours: Side, theirs: Side) -> Pair {
        Pair {
            ours: ours.figures,
            theirs: theirs.figures,
            whole: [ours.whole_cpu_ns_per_op, theirs.whole_cpu_ns_per_op],
            client: ours.client,
            others: ours.others.max(theirs.others),
        }
    }

    fn undisturbed(&self) -> bool {
        self.others <= OTHERS_MAX
    }

    fn text(&self) -> String {
        format!(
            "IOPS {:.0} / {:.0} = {:.3}, CPU {:.1} / {:.1} µs = {:.3}; others used {:.0} % of the CPUs",
            self.ours.ops_per_s,
            self.theirs.ops_per_s,
            self.ours.ops_per_s / self.theirs.ops_per_s,
            self.ours.cpu_ns_per_op / 1e3,
            self.theirs.cpu_ns_per_op / 1e3,
            self.ours.cpu_ns_per_op / self.theirs.cpu_ns_per_op,
            self.others * 100.0,
        )
    }
}

/// A figure of both sides and its goal.
struct Figure {
    what: &'static str,
    ours: f64,
    theirs: f64,
    ratios: Ratios,
    goal: Option<Goal>,
}

impl Figure {
    fn of(what: &'static str, pairs: &[Pair], of: fn(&Figures) -> f64, goal: Option<Goal>) -> Option<Figure> {
        let side = |side: fn(&Pair) -> &Figures| pairs.iter().map(|p| of(side(p))).collect::<Vec<_>>();
        let (ours, theirs) = (side(|p| &p.ours), side(|p| &p.theirs));
        let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a / b).collect();
        Some(Figure { what, ours: median(&ours), theirs: median(&theirs), ratios: Ratios::of(&ratios)?, goal })
    }

    fn verdict(&self) -> Option<Verdict> {
        self.goal.map(|goal| goal.verdict(&self.ratios))
    }

    fn text(&self) -> String {
        let (r, verdict) = (&self.ratios, self.verdict());
        let end = match (self.goal, verdict) {
            (Some(goal), Some(verdict)) => format!("goal {}: {}", goal.text(), verdict.word()),
            _ => "no goal".to_owned(),
        };
        format!(
            "  {:<10} ours {:>9.1}, theirs {:>9.1} (medians); ratio median {:.3}, {:.3} to {:.3}; {:.0} % interval {:.3} to {:.3}; {end}",
            self.what,
            self.ours,
            self.theirs,
            r.median,
            r.min,
            r.max,
            r.level * 100.0,
            r.low,
            r.high,
        )
    }

    fn json(&self) -> Value {
        let r = &self.ratios;
        json!({
            "figure": self.what, "ours_median": self.ours, "theirs_median": self.theirs,
            "ratio": {"median": r.median, "min": r.min, "max": r.max, "low": r.low, "high": r.high, "level": r.level},
            "goal": self.goal.map(Goal::text), "verdict": self.verdict().map(Verdict::word),
        })
    }
}

/// What came of a workload.
struct Outcome {
    name: &'static str,
    client: String,
    /// Pairs during which others used the machine, and whether they were left out.
    disturbed: usize,
    left_out: bool,
    pairs: Vec<Pair>,
    figures: Vec<Figure>,
}

impl Outcome {
    fn of(w: &Workload, all: Vec<Pair>) -> Outcome {
        let disturbed = all.iter().filter(|p| !p.undisturbed()).count();
        let enough = all.len() - disturbed >= PAIRS_MIN.min(all.len());
        let pairs: Vec<Pair> = if enough { all.into_iter().filter(Pair::undisturbed).collect() } else { all };
        let iops = Figure::of("IOPS", &pairs, |f| f.ops_per_s, Some(w.iops));
        let cpu = Figure::of("CPU µs/op", &pairs, |f| f.cpu_ns_per_op / 1e3, w.cpu);
        let client = pairs.first().map(|p| p.client.clone()).unwrap_or_default();
        Outcome {
            name: w.name,
            client,
            disturbed,
            left_out: enough,
            figures: iops.into_iter().chain(cpu).collect(),
            pairs,
        }
    }

    fn good(&self) -> bool {
        self.figures.iter().all(|f| f.verdict() != Some(Verdict::Missed))
    }

    /// Whole commands, ours and theirs, medians.
    fn whole_us_per_op(&self) -> [f64; 2] {
        [0, 1].map(|side| median(&self.pairs.iter().map(|p| p.whole[side] / 1e3).collect::<Vec<_>>()))
    }

    fn disturbance(&self) -> String {
        match (self.disturbed, self.left_out) {
            (0, _) => "none disturbed".to_owned(),
            (n, true) => format!("{n} more were disturbed by others and are left out"),
            (n, false) => format!("DISTURBED: others used the machine during {n} of them; repeat it when it is quiet"),
        }
    }

    fn text(&self) -> String {
        let figures: Vec<String> = self.figures.iter().map(Figure::text).collect();
        let [ours, theirs] = self.whole_us_per_op();
        format!(
            "{}, {} pairs, {}\n{}\n  whole command, CPU µs/op: ours {ours:.1}, theirs {theirs:.1}\n",
            self.name,
            self.pairs.len(),
            self.disturbance(),
            figures.join("\n")
        )
    }

    fn json(&self) -> Value {
        let side = |f: &Figures| json!({"ops_per_s": f.ops_per_s, "cpu_ns_per_op": f.cpu_ns_per_op});
        let pair = |p: &Pair| {
            json!({
                "ours": side(&p.ours), "theirs": side(&p.theirs), "others_cpu_share": p.others,
                "whole_command_cpu_ns_per_op": {"ours": p.whole[0], "theirs": p.whole[1]},
            })
        };
        json!({
            "workload": self.name, "disturbed": self.disturbed, "disturbed_left_out": self.left_out,
            "figures": self.figures.iter().map(Figure::json).collect::<Vec<_>>(),
            "pairs": self.pairs.iter().map(pair).collect::<Vec<_>>(),
        })
    }
}

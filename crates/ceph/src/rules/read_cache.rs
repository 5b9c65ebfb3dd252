//! Reads that came from the OSDs' memory and not from their devices.
use super::finding;
use crate::osd_counters::{OsdCounters, ReadOrigin, read_origin};
use crate::{ClusterFacts, Facts};
use fathom_model::{Attempt, Finding, Severity, Verb};

/// Share of bytes from the cache above which a read figure is one of memory.
const MOSTLY: f64 = 0.5;
/// Share below which it is not worth a word.
const HARDLY: f64 = 0.1;

const SOURCE: &str = "BlueStore's buffer_hit_bytes and buffer_miss_bytes of all OSDs, after minus before";

/// What happened on each OSD between two moments, for the OSDs that were captured at both.
#[must_use]
pub fn osd_deltas(before: &ClusterFacts, after: &ClusterFacts) -> Vec<OsdCounters> {
    let pair = |after: &OsdCounters| {
        let before = before.osd_counters.iter().find(|b| b.osd == after.osd)?;
        Some(after.since(before))
    };
    after.osd_counters.iter().filter_map(pair).collect()
}

/// Where the reads of one attempt came from; `None` when the OSDs' counters were not captured around it
/// (`attempt-N-before` and `attempt-N-after`, `ceph tell osd.N perf dump`) or nothing was read.
#[must_use]
pub fn attempt_origin(facts: &Facts<'_>, attempt: &Attempt) -> Option<ReadOrigin> {
    let (before, after) = facts.around(attempt.id);
    read_origin(&osd_deltas(&before, &after))
}

pub(super) fn share(facts: &Facts<'_>) -> Vec<Finding> {
    let reads = |a: &&Attempt| facts.step_of(a).is_some_and(|s| s.load.has(Verb::Read));
    // One finding per step: the attempt with the greatest share stands for its repeats.
    let mut worst: Vec<(u32, &Attempt, ReadOrigin)> = Vec::new();
    for attempt in facts.attempts.iter().filter(reads) {
        let Some(origin) = attempt_origin(facts, attempt) else { continue };
        match worst.iter_mut().find(|(step, ..)| *step == attempt.step) {
            Some(w) if w.2.cache_share < origin.cache_share => *w = (attempt.step, attempt, origin),
            Some(_) => {}
            None => worst.push((attempt.step, attempt, origin)),
        }
    }
    let named: Vec<(String, ReadOrigin)> =
        worst.into_iter().filter_map(|(_, a, origin)| Some((facts.step_of(a)?.name.clone(), origin))).collect();
    let mut out: Vec<Finding> =
        [Severity::Warn, Severity::Note].into_iter().filter_map(|s| of_steps(&named, s)).collect();
    // Without captures around each attempt the run as a whole can tell, when it did nothing but read.
    let only_reads = !facts.steps.is_empty() && facts.steps.iter().all(|s| !s.load.has(Verb::Write));
    if out.is_empty()
        && only_reads
        && let Some(origin) = read_origin(&osd_deltas(&facts.before, &facts.after))
    {
        let whole = [("the whole run".to_owned(), origin)];
        out.extend([Severity::Warn, Severity::Note].into_iter().filter_map(|s| of_steps(&whole, s)));
    }
    out
}

fn severity(origin: &ReadOrigin) -> Option<Severity> {
    match origin.cache_share {
        s if s > MOSTLY => Some(Severity::Warn),
        s if s > HARDLY => Some(Severity::Note),
        _ => None,
    }
}

/// One finding for all steps of a severity; of each step its attempt with the greatest share.
fn of_steps(named: &[(String, ReadOrigin)], wanted: Severity) -> Option<Finding> {
    let those: Vec<&(String, ReadOrigin)> = named.iter().filter(|(_, o)| severity(o) == Some(wanted)).collect();
    let (first, origin) = those.first()?;
    let what: Vec<String> = those.iter().map(|(name, _)| format!("`{name}`")).collect();
    let most = those.iter().map(|(_, o)| o.cache_share).fold(0.0, f64::max) * 100.0;
    let lines: Vec<String> = those
        .iter()
        .map(|(name, o)| {
            let onodes = o
                .onode_hit_share
                .map_or_else(String::new, |s| format!(", {:.0} % of onode look-ups from cache", s * 100.0));
            format!(
                "{name}: {:.0} % ({} from BlueStore's cache, {} from devices{onodes})",
                o.cache_share * 100.0,
                fathom_model::Size(o.cache_bytes),
                fathom_model::Size(o.device_bytes)
            )
        })
        .collect();
    let title = match those.len() {
        1 => format!("{} read {most:.0} % of its bytes from OSD memory", what[0]),
        n => format!("{n} steps read up to {most:.0} % of their bytes from OSD memory"),
    };
    let mut out = finding(
        "reads-from-cache",
        wanted,
        title,
        format!("{}; {} OSDs; {}", lines.join("; "), origin.osds, origin.limits),
        "for the devices' speed read much more data than osd_memory_target × OSDs, or drop the caches first (`ceph tell osd.* cache drop`); for the speed of a warm cache the number is right",
        SOURCE,
    );
    out.step = (those.len() == 1 && first != "the whole run").then(|| first.clone());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::{Severity, Share, Verb};

    fn dump(hit: u64, miss: u64) -> String {
        format!(
            r#"{{"osd":{{"op":9,"op_out_bytes":{}}},"bluestore":{{"buffer_hit_bytes":{hit},"buffer_miss_bytes":{miss}}}}}"#,
            hit + miss
        )
    }

    fn with(hit: u64, miss: u64) -> Option<Severity> {
        let mut case = Case::healthy();
        case.run.steps[0].load.mix = vec![Share { verb: Verb::Read, weight: 1 }];
        case.text("attempt-1-before", "ceph tell osd.0 perf dump", &dump(1000, 1000));
        case.text("attempt-1-after", "ceph tell osd.0 perf dump", &dump(1000 + hit, 1000 + miss));
        case.severity("reads-from-cache")
    }

    #[test]
    fn half_is_the_line() {
        assert_eq!(with(51, 49), Some(Severity::Warn));
        assert_eq!(with(50, 50), Some(Severity::Note));
        assert_eq!(with(10, 90), None);
        assert_eq!(with(0, 0), None);
    }

    #[test]
    fn a_run_of_reads_as_a_whole() {
        let mut case = Case::healthy();
        case.run.steps[0].load.mix = vec![Share { verb: Verb::Read, weight: 1 }];
        case.replace_at("after", "ceph tell osd.1 perf dump", "\"buffer_hit_bytes\": ", "\"buffer_hit_bytes\": 9");
        let found = case.one("reads-from-cache");
        assert!(found.evidence.contains("the whole run") && found.evidence.contains("may still come from a cache"));
    }
}

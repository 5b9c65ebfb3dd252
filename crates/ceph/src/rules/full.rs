//! Space: OSDs near full, pools near full, writes that were refused.
use super::episode::attempts_text;
use super::{finding, osd_names};
use crate::Facts;
use fathom_model::{Attempt, ErrorClass, Finding, Severity};

/// Used share of a pool from which on a run may fill it.
const POOL_SHARE: f64 = 0.85;
/// ENOSPC and EDQUOT: what a full pool or a pool at its quota answers.
const FULL: [i32; 2] = [28, 122];

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out = osds(facts);
    out.extend(pools(facts));
    out.extend(refused(facts));
    out
}

fn osds(facts: &Facts<'_>) -> Vec<Finding> {
    let ratio = |of: fn(&crate::dump::OsdDump) -> f64, default: f64| {
        facts.before.osd_dump.as_ref().map(of).filter(|r| *r > 0.0).unwrap_or(default)
    };
    let (near, full) = (ratio(|d| d.nearfull_ratio, 0.85), ratio(|d| d.full_ratio, 0.95));
    let Some(df) = facts.after.osd_df.as_ref().or(facts.before.osd_df.as_ref()) else { return Vec::new() };
    // The map keeps ratios as 32-bit floats: 0.85 comes back as 0.85000002.
    let above = |r: f64| df.osds.iter().filter(move |o| o.utilization_pct / 100.0 >= r - 1e-6);
    let near_osds: Vec<i32> = above(near).map(|o| o.id).collect();
    if near_osds.is_empty() {
        return Vec::new();
    }
    let is_full = above(full).next().is_some();
    let most = df.osds.iter().map(|o| o.utilization_pct).fold(0.0, f64::max);
    vec![finding(
        if is_full { "osd-full" } else { "osd-near-full" },
        if is_full { Severity::Invalid } else { Severity::Warn },
        format!("{} {} full", osd_names(&near_osds), if is_full { "are or come close to" } else { "are nearly" }),
        format!("the fullest at {most:.1} %; nearfull at {:.0} %, writes stop at {:.0} %", near * 100.0, full * 100.0),
        "free space or add OSDs: allocation gets slower and writes stop at the full ratio",
        "ceph osd df, ratios of ceph osd dump",
    )]
}

fn pools(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for name in facts.pool_names() {
        let of = |side: &crate::ClusterFacts| side.df.as_ref().and_then(|df| df.pool(name).cloned());
        let Some(pool) = of(&facts.after).or_else(|| of(&facts.before)) else { continue };
        if pool.used_share < POOL_SHARE {
            continue;
        }
        out.push(finding(
            "pool-near-full",
            Severity::Warn,
            format!("pool `{name}` is {:.0} % full", pool.used_share * 100.0),
            format!(
                "{} stored, {} can still be written",
                fathom_model::Size(pool.stored_bytes),
                fathom_model::Size(pool.max_avail_bytes)
            ),
            "clean up (`fathom clean`), or write fewer or smaller objects",
            "ceph df detail (percent_used, max_avail)",
        ));
    }
    out
}

fn refused(facts: &Facts<'_>) -> Vec<Finding> {
    let count = |a: &Attempt| {
        let errors = a.samples.iter().flat_map(|s| &s.errors);
        let full = errors.filter(|(class, _)| matches!(class, ErrorClass::Errno(n) if FULL.contains(n)));
        full.fold(0u64, |sum, (_, n)| sum.saturating_add(*n))
    };
    let hit: Vec<&Attempt> = facts.attempts.iter().filter(|a| count(a) > 0).collect();
    let total = hit.iter().fold(0u64, |sum, a| sum.saturating_add(count(a)));
    if total == 0 {
        return Vec::new();
    }
    vec![finding(
        "pool-full-during-run",
        Severity::Invalid,
        "writes were refused for lack of space".to_owned(),
        format!("{total} operations failed with ENOSPC or EDQUOT in {}", attempts_text(facts, &hit)),
        "free space or raise the pool's quota and repeat; these attempts measured a full pool",
        "errno of the operations",
    )]
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::{ErrorClass, Severity};

    #[test]
    fn nearfull_and_full_osds() {
        let with = |pct: &str| {
            let mut case = Case::healthy();
            case.text(
                "after",
                "ceph osd df tree",
                &format!(r#"{{"nodes":[{{"id":0,"utilization":10}},{{"id":1,"utilization":{pct}}}]}}"#),
            );
            (case.severity("osd-near-full"), case.severity("osd-full"))
        };
        assert_eq!(with("84.9"), (None, None));
        assert_eq!(with("85"), (Some(Severity::Warn), None));
        assert_eq!(with("95"), (None, Some(Severity::Invalid)));
    }

    #[test]
    fn a_pool_that_fills() {
        let with = |share: &str| {
            let mut case = Case::healthy();
            case.text("after", "ceph df detail", &format!(r#"{{"stats":{{}},"pools":[{{"id":1,"name":"fx","stats":{{"percent_used":{share},"stored":4096,"max_avail":8192}}}}]}}"#));
            case.severity("pool-near-full")
        };
        assert_eq!((with("0.84"), with("0.86")), (None, Some(Severity::Warn)));
    }

    #[test]
    fn refused_writes() {
        let with = |errno| {
            let mut case = Case::healthy();
            case.run.attempts[1].samples[0].errors = vec![(ErrorClass::Errno(errno), 7)];
            case.severity("pool-full-during-run")
        };
        assert_eq!((with(28), with(122), with(5)), (Some(Severity::Invalid), Some(Severity::Invalid), None));
    }
}

//! How many placement groups there are, and whether their number changes under the measurement.
use super::finding;
use crate::Facts;
use fathom_model::{Finding, Severity};

/// What `mon_pg_warn_min_per_osd` warned of: fewer PG copies per OSD than this make the load uneven.
const MIN_PER_OSD: f64 = 30.0;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out = changing(facts);
    out.extend(autoscaler(facts));
    out.extend(few(facts));
    out
}

fn changing(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out: Vec<Finding> = Vec::new();
    for name in facts.pool_names() {
        for (moment, side) in [("before", &facts.before), ("after", &facts.after)] {
            let Some(p) = side.pool(name) else { continue };
            if p.pg_num == p.pg_num_target && p.pg_placement_num == p.pg_num {
                continue;
            }
            out.push(finding(
                "pool-pgs-changing",
                Severity::Warn,
                format!("the number of placement groups of pool `{name}` was changing"),
                format!("{moment} the run: pg_num {}, target {}, pgp_num {}", p.pg_num, p.pg_num_target, p.pg_placement_num),
                "wait until pg_num, its target and pgp_num are equal, and switch the autoscaler off for the pool (`ceph osd pool set POOL pg_autoscale_mode off`): splitting moves data",
                "ceph osd pool ls detail",
            ));
            break;
        }
        if let (Some(before), Some(after)) = (facts.before.pool(name), facts.after.pool(name))
            && before.id == after.id
            && before.pg_num != after.pg_num
        {
            out.retain(|f| !f.title.contains(&format!("`{name}`")));
            out.push(finding(
                "pool-pgs-changing",
                Severity::Warn,
                format!("the number of placement groups of pool `{name}` changed during the run"),
                format!("pg_num {} before, {} after", before.pg_num, after.pg_num),
                "switch the autoscaler off for the pool and repeat: the attempts were measured on different layouts",
                "ceph osd pool ls detail, before and after",
            ));
        }
    }
    out
}

fn autoscaler(facts: &Facts<'_>) -> Vec<Finding> {
    let would = facts.before.autoscale.as_ref().map_or(&[][..], |a| &a.would_adjust);
    let on = facts.pools().into_iter().filter(|p| p.autoscale_mode == "on");
    on.map(|pool| match would.iter().find(|(name, _, _)| *name == pool.name) {
        Some((_, now, wanted)) => finding(
            "autoscaler-acts",
            Severity::Warn,
            format!("the autoscaler is about to change pool `{}`", pool.name),
            format!("pg_num {now}, it wants {wanted}"),
            "set pg_autoscale_mode to off for the pool, or let it finish first",
            "ceph osd pool autoscale-status (would_adjust)",
        ),
        None => finding(
            "autoscaler-on",
            Severity::Note,
            format!("the autoscaler may change pool `{}` while it is measured", pool.name),
            format!("pg_autoscale_mode on, pg_num {}", pool.pg_num),
            "set pg_autoscale_mode to off for the time of the run; it looks every 60 s and acts beyond a factor of 3",
            "ceph osd pool ls detail; a pool of 8 PGs was changed to 32 within seconds on 16.2.15",
        ),
    })
    .collect()
}

fn few(facts: &Facts<'_>) -> Vec<Finding> {
    let osds = facts.before.osds_in().max(facts.after.osds_in());
    if osds == 0 {
        return Vec::new();
    }
    // A pool the run made is only there afterwards.
    let copies = facts.before.pg_copies().max(facts.after.pg_copies());
    let all = copies as f64 / osds as f64;
    if copies > 0 && all < MIN_PER_OSD && facts.steps.is_empty() {
        return vec![few_finding("too-few-pgs", Severity::Warn, "the cluster".to_owned(), copies, osds, all)];
    }
    let pools = facts.pools().into_iter().filter_map(|p| {
        let copies = p.pg_num.saturating_mul(p.size);
        let per_osd = copies as f64 / osds as f64;
        if copies == 0 || per_osd >= MIN_PER_OSD {
            return None;
        }
        // With other pools the OSDs still have PGs enough to use their queues; only this pool's spread is coarse.
        let others = all.max(per_osd) >= MIN_PER_OSD;
        let (id, severity) = if others { ("pool-few-pgs", Severity::Note) } else { ("too-few-pgs", Severity::Warn) };
        Some(few_finding(id, severity, format!("pool `{}`", p.name), copies, osds, per_osd))
    });
    pools.collect()
}

fn few_finding(id: &str, severity: Severity, what: String, copies: u64, osds: u64, per_osd: f64) -> Finding {
    finding(
        id,
        severity,
        format!("{what} has few placement groups: {per_osd:.0} copies per OSD"),
        format!("{copies} PG copies on {osds} OSDs = {per_osd:.1} per OSD, below {MIN_PER_OSD:.0}"),
        "use more placement groups (about 100 copies per OSD over all pools): with few, OSDs get unequal shares and the busiest sets the pace",
        "Ceph's own warning `too few PGs per OSD (… < min 30)`, mon_pg_warn_min_per_osd; Ceph documentation, placement groups",
    )
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;
    use fathom_model::Severity;

    #[test]
    fn a_number_that_changes() {
        let mut case = Case::healthy();
        case.replace("ceph osd pool ls detail", "\"pg_num_target\":32", "\"pg_num_target\":64");
        assert!(case.one("pool-pgs-changing").evidence.contains("pg_num 32, target 64"));
        let mut case = Case::healthy();
        case.replace_at("after", "ceph osd pool ls detail", "\"pg_num\":32", "\"pg_num\":64");
        assert!(case.one("pool-pgs-changing").title.contains("changed during the run"));
        assert!(Case::healthy().all("pool-pgs-changing").is_empty());
    }

    #[test]
    fn the_autoscaler() {
        let mut case = Case::healthy();
        case.replace("ceph osd pool ls detail", "\"pg_autoscale_mode\":\"off\"", "\"pg_autoscale_mode\":\"on\"");
        assert_eq!(case.severity("autoscaler-on"), Some(Severity::Note));
        case.text(
            "before",
            "ceph osd pool autoscale-status",
            r#"[{"pool_name":"fx","would_adjust":true,"pg_num_target":32,"pg_num_final":128}]"#,
        );
        assert_eq!(case.severity("autoscaler-acts"), Some(Severity::Warn));
        assert!(case.all("autoscaler-on").is_empty());
    }

    #[test]
    fn thirty_per_osd_is_the_line() {
        // 3 OSDs, size 2: 44 PGs are 29.3 copies per OSD, 45 are 30.
        let with = |pg_num: u64| {
            let mut case = Case::healthy();
            let one = format!(r#"[{{"pool_id":1,"pool_name":"fx","type":1,"size":2,"min_size":2,"pg_num":{pg_num}}}]"#);
            case.text("before", "ceph osd pool ls detail", &one);
            case.text("after", "ceph osd pool ls detail", &one);
            case.severity("too-few-pgs")
        };
        assert_eq!(with(44), Some(Severity::Warn));
        assert_eq!(with(45), None);
        assert_eq!(
            Case::healthy().severity("pool-few-pgs"),
            Some(Severity::Note),
            "32 PGs of 2 copies on 3 OSDs, beside other pools"
        );
    }
}

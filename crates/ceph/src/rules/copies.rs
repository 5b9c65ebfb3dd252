//! How many copies the pools under test keep.
use super::finding;
use crate::Facts;
use crate::dump::PoolKind;
use fathom_model::{Finding, Severity};

pub(super) fn few(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for pool in facts.pools() {
        let name = &pool.name;
        if pool.kind == PoolKind::Replicated && pool.size == 1 {
            out.push(finding(
                "pool-size-1",
                Severity::Warn,
                format!("pool `{name}` keeps a single copy"),
                "size 1: no write waits for another OSD".to_owned(),
                "use the size of your real pools for numbers that stand for them; size 1 only shows the price of replication",
                "ceph osd pool ls detail",
            ));
        } else if pool.kind == PoolKind::Replicated && pool.min_size == 1 && pool.size > 1 {
            out.push(finding(
                "pool-min-size-1",
                Severity::Note,
                format!("pool `{name}` serves writes with a single copy when others are down"),
                format!("size {}, min_size 1", pool.size),
                "no effect on numbers while all OSDs are up; for data that matters use min_size 2",
                "ceph osd pool ls detail; Ceph documentation, pools",
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    #[test]
    fn one_copy_warns_and_two_do_not() {
        let with = |size: u64, min_size: u64| {
            let mut case = Case::healthy();
            let pools = format!(
                r#"[{{"pool_id":1,"pool_name":"fx","type":1,"size":{size},"min_size":{min_size},"pg_num":256}}]"#
            );
            case.text("before", "ceph osd pool ls detail", &pools);
            (case.severity("pool-size-1").is_some(), case.severity("pool-min-size-1").is_some())
        };
        assert_eq!((with(1, 1), with(2, 1), with(3, 2)), ((true, false), (false, true), (false, false)));
    }
}

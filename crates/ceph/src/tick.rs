//! The once-a-second watch: what in two short dumps can disturb a measurement.
use crate::dump::{OsdDump, Status};
use fathom_model::ClusterTick;

/// State of the cluster from `ceph status` and, where it was asked for, `ceph osd dump`.
///
/// `ceph status` alone gives counts of OSDs but not which; with `osd dump` those that are not both up and in are named.
/// Never fails: a text that cannot be read becomes [`ClusterTick::error`], with what the other text still told.
/// Both dumps measured on 16.2.15, 18.2.7 and 20.2.4.
#[must_use]
pub fn cluster_tick(status_json: &str, osd_dump_json: Option<&str>) -> ClusterTick {
    let mut tick = ClusterTick::default();
    let mut errors = Vec::new();
    match Status::parse(status_json) {
        Ok(status) => {
            tick.health = status.health.status;
            tick.checks = status.health.checks.into_iter().map(|c| (c.code, c.message)).collect();
            tick.pg_states = status.pg_states;
            tick.osd_epoch = status.osd_epoch;
            tick.recovering_objects_per_s = status.recovering_objects_per_s;
        }
        Err(error) => errors.push(error.to_string()),
    }
    match osd_dump_json.map(OsdDump::parse) {
        Some(Ok(map)) => {
            tick.osds_not_up_in = map.not_up_in();
            tick.osd_epoch = tick.osd_epoch.max(map.epoch);
        }
        Some(Err(error)) => errors.push(error.to_string()),
        None => {}
    }
    tick.error = (!errors.is_empty()).then(|| errors.join("; "));
    tick
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, dump, mutated};
    use fathom_model::OsdState;
    use proptest::prelude::*;

    #[test]
    fn ticks_of_all_releases() {
        for (release, epoch) in RELEASES.into_iter().zip([32, 22, 26]) {
            let map = dump(release, "ceph-osd_dump.json");
            let tick = cluster_tick(&dump(release, "ceph-status.json"), Some(&map));
            assert_eq!((tick.health.as_str(), tick.osd_epoch, tick.error), ("HEALTH_WARN", epoch, None));
            assert_eq!(tick.pg_states[0].0, "active+clean");
            assert!(tick.checks.contains(&("OSDMAP_FLAGS".into(), "noscrub flag(s) set".into())));
            assert!(tick.osds_not_up_in.is_empty());
        }
    }

    #[test]
    fn a_down_osd_and_recovery_are_seen() {
        let map = dump("reef-18.2.7", "ceph-osd_dump.json").replacen("\"up\":1,\"in\":1", "\"up\":0,\"in\":1", 1);
        let status = dump("reef-18.2.7", "ceph-status.json").replacen(
            "\"num_pgs\"",
            "\"recovering_objects_per_sec\":12,\"num_pgs\"",
            1,
        );
        let tick = cluster_tick(&status, Some(&map));
        assert_eq!(tick.osds_not_up_in, [OsdState { id: 0, up: false, is_in: true }]);
        assert_eq!(tick.recovering_objects_per_s, 12.0);
    }

    #[test]
    fn no_answer_is_an_error_and_not_a_healthy_cluster() {
        let tick = cluster_tick("", None);
        assert!(tick.health.is_empty() && tick.error.unwrap().contains("ceph status"));
        let tick = cluster_tick(&dump("reef-18.2.7", "ceph-status.json"), Some("timed out"));
        assert!(tick.health == "HEALTH_WARN" && tick.error.unwrap().contains("osd dump"));
    }

    proptest! {
        #[test]
        fn no_text_panics(a in ".{0,200}", b in ".{0,200}", at in 0usize..2000) {
            let _ = cluster_tick(&a, Some(&b));
            let _ = cluster_tick(&mutated(&dump("tentacle-20.2.4", "ceph-status.json"), at, &b), None);
        }
    }
}

//! Ceph's timers while a lab comes up.
//!
//! Monitors gather map changes for up to a second and managers hear of PGs every five. A cluster that starts from
//! nothing waits for a dozen of these in a row. So they are shortened over the admin sockets while it comes up and set
//! back afterwards: no setting is left behind, and the lab then has the timing of any other cluster.
use crate::{ask, marker::Marker, marker::mon_names};
use serde_json::json;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(2);
const MON: &[(&str, &str)] = &[("paxos_propose_interval", "0.05"), ("mon_mgr_digest_period", "1")];
const MGR: &[(&str, &str)] = &[("mgr_stats_period", "1"), ("mgr_tick_period", "1")];

fn each(marker: &Marker, name: &str, settings: &[(&str, &str)], hurry: bool) -> bool {
    let socket = marker.run_dir().join(format!("{name}.asok"));
    settings.iter().all(|(key, value)| {
        let request = if hurry {
            json!({"prefix": "config set", "var": key, "val": [value]})
        } else {
            json!({"prefix": "config unset", "var": key})
        };
        ask::admin(&socket, &request, LIMIT).is_ok()
    })
}

/// Shortens the monitors' timers. It does not matter when that fails: the lab is slower to come up, no more.
pub(crate) fn mons(marker: &Marker, hurry: bool) -> bool {
    mon_names(marker.spec.mon_count).into_iter().all(|id| each(marker, &format!("mon.{id}"), MON, hurry))
}

/// The same for the manager, which opens its socket a moment after its start.
pub(crate) fn mgr(marker: &Marker, hurry: bool) -> bool {
    each(marker, "mgr.x", MGR, hurry)
}

//! A throw-away pool for benchmarks: how many placement groups it gets, and the monitor commands that make and remove it.
//!
//! All commands sent to a 16.2.15, twice: they may be repeated. This module sends nothing.
use serde_json::{Value, json};

/// PG copies per OSD aimed at: the documentation's rule of thumb and the autoscaler's `mon_target_pg_per_osd`.
pub const TARGET_PGS_PER_OSD: u64 = 100;

/// `mon_max_pg_per_osd` as it was in 16: the monitors refuse pools that would exceed it. A cluster may allow more (the
/// running value is in `tell osd.N config show`); staying below this is safe on all.
pub const MAX_PGS_PER_OSD: u64 = 250;

/// Number of placement groups for a benchmark pool: the power of two nearest to `osds × 100 ÷ size`, lowered until all
/// PG copies together stay within `osds × 250`. At least 1.
///
/// `osds`: OSDs that are in and under the pool's CRUSH rule. `size`: copies, or k+m. `existing_pg_copies`: the sum of
/// `pg_num × size` over the pools that are there. `max_pgs_per_osd`: [`MAX_PGS_PER_OSD`] unless the cluster sets another.
#[must_use]
pub fn choose_pg_num(osds: u64, size: u64, existing_pg_copies: u64, max_pgs_per_osd: u64) -> u64 {
    let size = size.max(1);
    let wanted = osds.saturating_mul(TARGET_PGS_PER_OSD) / size;
    let room = osds.saturating_mul(max_pgs_per_osd).saturating_sub(existing_pg_copies) / size;
    let mut pg_num = nearest_power_of_two(wanted);
    while pg_num > 1 && pg_num > room {
        pg_num /= 2;
    }
    pg_num
}

fn nearest_power_of_two(n: u64) -> u64 {
    // Beyond this a pool makes no sense (the monitors' own limit, mon_max_pool_pg_num, is 65536).
    let n = n.clamp(1, 65_536);
    let above = n.next_power_of_two();
    let below = if above == n { n } else { above / 2 };
    if n - below < above - n { below } else { above }
}

/// A pool to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchPool {
    /// Name. It must begin with what marks a benchmark pool, so that nobody takes it for another.
    pub name: String,
    /// Placement groups, from [`choose_pg_num`].
    pub pg_num: u64,
    /// Copies; `None` leaves the cluster's default. Not used for erasure coding.
    pub size: Option<u64>,
    /// Fewest copies with which it serves writes; `None` leaves the default.
    pub min_size: Option<u64>,
    /// Erasure-code profile, for an EC pool.
    pub erasure_code_profile: Option<String>,
    /// CRUSH rule; `None` leaves the default.
    pub crush_rule: Option<String>,
}

/// The application a benchmark pool is tagged with; without one the cluster warns (POOL_APP_NOT_ENABLED).
pub const APPLICATION: &str = "fathom";

impl BenchPool {
    /// The monitor commands, in order, one JSON document each. The autoscaler is off from the first command on, so it
    /// never splits PGs during a run. All are safe to repeat. Size 1 needs `mon_allow_pool_size_one` on the cluster.
    #[must_use]
    pub fn create_commands(&self) -> Vec<String> {
        let mut create = json!({
            "prefix": "osd pool create",
            "pool": self.name,
            "pg_num": self.pg_num,
            "pgp_num": self.pg_num,
            "pool_type": if self.erasure_code_profile.is_some() { "erasure" } else { "replicated" },
            "autoscale_mode": "off",
        });
        let mut put = |key: &str, value: Value| {
            if let Some(map) = create.as_object_mut() {
                map.insert(key.to_owned(), value);
            }
        };
        if let Some(profile) = &self.erasure_code_profile {
            put("erasure_code_profile", json!(profile));
        }
        if let Some(rule) = &self.crush_rule {
            put("rule", json!(rule));
        }
        let mut commands = vec![create.to_string()];
        if let (Some(size), None) = (self.size, &self.erasure_code_profile) {
            // The flag is only asked for when size is 1, and is known since 15.
            commands.push(if size == 1 {
                json!({"prefix": "osd pool set", "pool": self.name, "var": "size", "val": "1", "yes_i_really_mean_it": true})
                    .to_string()
            } else {
                self.set("size", &size.to_string())
            });
        }
        if let Some(min_size) = self.min_size {
            commands.push(self.set("min_size", &min_size.to_string()));
        }
        commands.push(
            json!({"prefix": "osd pool application enable", "pool": self.name, "app": APPLICATION, "yes_i_really_mean_it": true})
                .to_string(),
        );
        commands
    }

    fn set(&self, var: &str, value: &str) -> String {
        json!({"prefix": "osd pool set", "pool": self.name, "var": var, "val": value}).to_string()
    }
}

/// The monitor command that removes a pool with everything in it. The cluster must have `mon_allow_pool_delete`, else it
/// answers EPERM. A pool that is not there is success. `config get mon mon_allow_pool_delete` does not tell beforehand
/// when it is set in a conf file (it said false on a 16.2.15 that allowed it); a monitor's own running value does.
#[must_use]
pub fn delete_command(name: &str) -> String {
    json!({"prefix": "osd pool delete", "pool": name, "pool2": name, "yes_i_really_really_mean_it": true}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_placement_groups() {
        assert_eq!(choose_pg_num(3, 3, 0, 250), 128, "100 is nearer to 128 than to 64");
        assert_eq!(choose_pg_num(3, 2, 178, 250), 128);
        assert_eq!(choose_pg_num(3, 3, 600, 250), 32, "50 PGs of room");
        assert_eq!(choose_pg_num(3, 3, 750, 250), 1, "no room: the monitors will say so");
        assert_eq!(choose_pg_num(10, 3, 0, 250), 256);
        assert_eq!(choose_pg_num(60, 3, 0, 250), 2048);
        assert_eq!(choose_pg_num(0, 0, 0, 250), 1);
    }

    #[test]
    fn commands() {
        let pool = BenchPool {
            name: "fathom-ab".into(),
            pg_num: 64,
            size: Some(2),
            min_size: Some(1),
            erasure_code_profile: None,
            crush_rule: None,
        };
        let commands = pool.create_commands();
        assert_eq!(commands.len(), 4);
        let create: Value = serde_json::from_str(&commands[0]).unwrap();
        assert_eq!(create["autoscale_mode"], "off");
        assert_eq!(
            (&create["pg_num"], &create["pgp_num"], &create["pool_type"]),
            (&json!(64), &json!(64), &json!("replicated"))
        );
        assert!(
            commands[1].contains("\"size\"")
                && commands[2].contains("min_size")
                && commands[3].contains("\"app\":\"fathom\"")
        );
        let one = BenchPool { size: Some(1), min_size: None, ..pool.clone() }.create_commands();
        assert!(one[1].contains("yes_i_really_mean_it"));
        let ec = BenchPool { erasure_code_profile: Some("e21".into()), min_size: None, ..pool }.create_commands();
        assert!(ec.len() == 2 && ec[0].contains("\"erasure\"") && ec[0].contains("e21"), "no size for EC: {ec:?}");
        assert!(delete_command("a\"b").contains("\\\"b"), "names are escaped");
    }

    proptest! {
        #[test]
        fn never_beyond_the_limit(osds in 1u64..10_000, size in 1u64..20, existing in 0u64..1_000_000) {
            let pg_num = choose_pg_num(osds, size, existing, MAX_PGS_PER_OSD);
            prop_assert!(pg_num.is_power_of_two());
            prop_assert!(pg_num == 1 || existing + pg_num * size <= osds * MAX_PGS_PER_OSD);
        }
        #[test]
        fn any_numbers(osds: u64, size: u64, existing: u64, max: u64) {
            prop_assert!((1..=65_536).contains(&choose_pg_num(osds, size, existing, max)));
        }
    }
}

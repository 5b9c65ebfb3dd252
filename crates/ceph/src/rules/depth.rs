//! Too few operations in flight to say anything about a whole cluster.
use super::finding;
use crate::Facts;
use fathom_model::{Finding, Severity};

/// Below this a figure is one of a client, not of a cluster.
const CLUSTER_DEPTH: u64 = 64;

pub(super) fn shallow(facts: &Facts<'_>) -> Vec<Finding> {
    let hosts = |step: usize| {
        let of_step = facts.attempts.iter().filter(|a| a.step as usize == step);
        let mut names: Vec<&str> = of_step.map(|a| a.host.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.len().max(1) as u64
    };
    let steps = facts.steps.iter().enumerate().filter(|(_, s)| s.layer == "rados" || s.layer == "rbd");
    let shallow = steps.filter_map(|(i, s)| {
        let all = u64::from(s.load.depth).saturating_mul(hosts(i));
        (all < CLUSTER_DEPTH).then(|| (s.name.clone(), all))
    });
    let shallow: Vec<(String, u64)> = shallow.collect();
    let Some(most) = shallow.iter().map(|(_, d)| *d).max() else { return Vec::new() };
    let names: Vec<String> = shallow.iter().map(|(n, _)| n.clone()).collect();
    vec![finding(
        "shallow-depth",
        Severity::Note,
        format!("with at most {most} operations in flight this is what one client gets, not what the cluster can give"),
        format!(
            "{} of {} steps have fewer than {CLUSTER_DEPTH} in flight, all hosts together: {}",
            shallow.len(),
            facts.steps.len(),
            super::listed(&names)
        ),
        "raise the depth, or use several clients at once, until the rate no longer grows; or quote the figure with its depth",
        "rule of thumb: depth times clients of 64 and more before a figure is called the cluster's",
    )]
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    #[test]
    fn sixty_four_over_all_hosts_is_the_line() {
        let with = |depth, hosts: &[&str]| {
            let mut case = Case::healthy();
            case.run.steps.iter_mut().for_each(|s| s.load.depth = depth);
            for (i, attempt) in case.run.attempts.iter_mut().enumerate() {
                attempt.host = hosts[i % hosts.len()].to_owned();
            }
            case.severity("shallow-depth").is_some()
        };
        assert!(with(63, &["a"]) && !with(64, &["a"]));
        assert!(with(16, &["a", "b", "c"]) && !with(32, &["a", "b", "c"]));
    }
}

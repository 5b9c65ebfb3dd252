//! A pool that holds other people's objects, or that they are using.
use super::finding;
use crate::Facts;
use fathom_model::{Finding, Severity};

pub(super) fn pool(facts: &Facts<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    for name in facts.pool_names().into_iter().filter(|n| !facts.is_own_pool(n)) {
        out.extend(objects(facts, name));
        out.extend(io(facts, name));
    }
    out
}

fn objects(facts: &Facts<'_>, name: &str) -> Option<Finding> {
    let df = facts.before.df.as_ref()?.pool(name)?;
    if df.objects == 0 {
        return None;
    }
    let applications = facts.before.pool(name).map(|p| p.applications.join(", ")).filter(|a| !a.is_empty());
    Some(finding(
        "production-pool",
        Severity::Warn,
        format!("pool `{name}` holds objects that this run did not make"),
        format!(
            "{} objects, {} before the run; application: {}",
            df.objects,
            fathom_model::Size(df.stored_bytes),
            applications.as_deref().unwrap_or("none")
        ),
        "measure a pool of its own, with the same rule and size: load here slows down whoever uses it, and they change the numbers",
        "ceph df detail before the run, the run's ledger",
    ))
}

fn io(facts: &Facts<'_>, name: &str) -> Option<Finding> {
    let io = facts.before.pool_io.as_ref()?.pools.iter().find(|p| p.name == name)?;
    let ops = io.read_ops_per_s + io.write_ops_per_s;
    if ops < 1.0 {
        return None;
    }
    Some(finding(
        "pool-in-use",
        Severity::Warn,
        format!("somebody else used pool `{name}` just before the run"),
        format!("{:.0} reads/s and {:.0} writes/s by other clients", io.read_ops_per_s, io.write_ops_per_s),
        "measure when the pool is idle, or use a pool of its own",
        "ceph osd pool stats before the run (averages of a few seconds)",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::case::Case;

    #[test]
    fn objects_of_others() {
        let mut case = Case::healthy();
        case.run.ledger.clear();
        assert!(case.one("production-pool").evidence.contains("505 objects"), "the pool was not made by the run");
        case.text("before", "ceph df detail", r#"{"stats":{},"pools":[{"id":1,"name":"fx","stats":{"objects":0}}]}"#);
        assert!(case.all("production-pool").is_empty());
    }

    #[test]
    fn io_of_others() {
        let with = |rate| {
            let mut case = Case::healthy();
            case.run.ledger.clear();
            case.text(
                "before",
                "ceph osd pool stats",
                &format!(r#"[{{"pool_name":"fx","pool_id":1,"client_io_rate":{{"write_op_per_sec":{rate}}}}}]"#),
            );
            case.severity("pool-in-use").is_some()
        };
        assert!(with(12) && !with(0));
    }
}

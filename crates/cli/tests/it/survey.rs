//! The survey, at smoke size: every step of every layer, and nothing left of it.
use crate::{
    program::{RUN, fathom, run},
    shared_lab::Cluster,
};
use tempfile::TempDir;

#[test]
fn every_layer_is_measured() {
    let cluster = Cluster::shared();
    let dir = TempDir::new().unwrap();
    let results = dir.path().join("r");
    let mut command = fathom(["survey", "--smoke", "--repeat", "1", "--json", "-q", "--conf"]);
    let ran = run(command.arg(&cluster.conf).arg("--results").arg(&results), RUN).exits(0);
    let json = ran.json();
    let steps = json["steps"].as_array().unwrap();
    let layers: Vec<&str> = steps.iter().map(|s| s["plan"]["layer"].as_str().unwrap()).collect();
    assert_eq!((layers.len(), layers.iter().filter(|l| **l == "null").count()), (13, 1), "{layers:?}");
    for step in steps {
        let account = &step["account"];
        assert!(account["completed"].as_u64() > Some(0), "{}: {account:#}", step["name"]);
        assert_eq!(account["failed"], 0, "{}: {account:#}", step["name"]);
    }
    assert_eq!(json["defects"], serde_json::json!([]));
    assert_eq!(json["ledger"]["left"], 0, "{:#}", json["ledger"]);
    let own = format!("fathom-{}", json["run"]["id"].as_str().unwrap());
    assert!(!cluster.pools().contains(&own));
    assert!(results.join("report.html").is_file());
}

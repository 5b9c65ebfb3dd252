//! Removing what a ledger entry names.
use super::*;

#[test]
fn removal_takes_what_the_entry_names_and_nothing_else() {
    let (ns, cx, connect) = (namespace(), Ledger::default(), connect());
    let params = json!({"pool": pool(), "namespace": ns, "prefix": "r_", "objects": "300", "fill": "true"});
    bench(Verb::Read, 4096, params).job.prepare(&cx).unwrap();
    let handle = ControlHandle::connect(&connect).unwrap();
    let kept = ["r_300", "r_", "r_x1", "s_1"];
    for name in kept {
        handle.write_object(pool(), &ns, name, b"not ours").unwrap();
    }
    handle.remove_object(pool(), &ns, "r_17").unwrap();
    let made = cx.made.lock().unwrap().clone();
    let mut progress = Vec::new();
    let removed = remove(&made[0], &connect, &mut |done, total| progress.push((done, total))).unwrap();
    assert_eq!(removed, Removed { removed: 299, absent: 1 });
    assert!(progress.is_sorted() && progress.last() == Some(&(900, 900)), "{progress:?}");
    assert_eq!(remove(&made[1], &connect, &mut |_, _| {}).unwrap(), Removed { removed: 1, absent: 0 });
    let mut left = kept.map(str::to_owned).to_vec();
    left.sort();
    assert_eq!(names(&ns), left);
    // Again: all absent.
    assert_eq!(remove(&made[0], &connect, &mut |_, _| {}).unwrap(), Removed { removed: 0, absent: 300 });
    assert_eq!(remove(&made[1], &connect, &mut |_, _| {}).unwrap(), Removed { removed: 0, absent: 1 });
}

#[test]
fn objects_that_land_during_removal_are_found() {
    let (ns, connect) = (namespace(), connect());
    let handle = ControlHandle::connect(&connect).unwrap();
    let fsid = handle.fsid().to_owned();
    let entry = Made::Objects { fsid, pool: pool().into(), namespace: ns.clone(), prefix: "z".into(), until: 501 };
    let mut late = false;
    let removed = remove(&entry, &connect, &mut |done, total| {
        // When everything found was removed: as an operation of a killed client would.
        if done == total / 3 * 2 && !late {
            late = true;
            handle.write_object(pool(), &ns, "z123", b"late").unwrap();
        }
    });
    assert_eq!(removed.unwrap(), Removed { removed: 1, absent: 500 });
    assert!(names(&ns).is_empty());
}

#[test]
fn pools_are_removed_only_when_they_are_ours() {
    let connect = connect();
    let fsid = ControlHandle::connect(&connect).unwrap().fsid().to_owned();
    let entry = |pool: &str| Made::Pool { fsid: fsid.clone(), pool: pool.into() };
    let none = &mut |_, _| {};
    let mine = make_pool("remove");
    assert_eq!(remove(&entry(&mine), &connect, none).unwrap(), Removed { removed: 1, absent: 0 });
    assert_eq!(remove(&entry(&mine), &connect, none).unwrap(), Removed { removed: 0, absent: 1 });
    assert!(matches!(remove(&entry("rbd"), &connect, none), Err(LoadError::Refused(_))));
    let elsewhere = "00000000-0000-0000-0000-000000000000";
    let text = failure(remove(&Made::Pool { fsid: elsewhere.into(), pool: mine.clone() }, &connect, none));
    assert!(text.contains(elsewhere) && text.contains(&fsid), "{text}");
    // Objects of a pool that is gone are gone.
    let (namespace, prefix) = (String::new(), String::from("x"));
    let objects = Made::Objects { fsid: fsid.clone(), pool: mine, namespace, prefix, until: 12 };
    assert_eq!(remove(&objects, &connect, none).unwrap(), Removed { removed: 0, absent: 12 });
}

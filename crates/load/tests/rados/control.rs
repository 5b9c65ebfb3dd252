//! Connecting, commands and single objects.
use super::*;

#[test]
fn commands_reach_every_daemon_in_parallel() {
    let handle = ControlHandle::connect(&connect()).unwrap();
    let status: Value = serde_json::from_str(&mon(&handle, json!({"prefix": "status", "format": "json"}))).unwrap();
    assert_eq!(status["fsid"], handle.fsid());
    let version = json!({"prefix": "version"}).to_string();
    let quorum: Value =
        serde_json::from_str(&mon(&handle, json!({"prefix": "quorum_status", "format": "json"}))).unwrap();
    let name = quorum["quorum_names"][0].as_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        for target in [Target::MonNamed(name), Target::Osd(0), Target::Osd(1), Target::Osd(2)] {
            let (handle, version) = (&handle, &version);
            scope.spawn(move || {
                let text = handle.command(&target, version).unwrap_or_else(|e| panic!("{target:?}: {e:?}"));
                assert!(text.contains("version"), "{text}");
            });
        }
        scope.spawn(|| handle.command(&Target::Mgr, &json!({"prefix": "pg stat"}).to_string()).unwrap());
    });
    assert_eq!(handle.command(&Target::Osd(9999), &version).unwrap_err().errno, 2);
    let unknown = handle.command(&Target::Mon, &json!({"prefix": "no such command"}).to_string()).unwrap_err();
    assert_eq!((unknown.errno, unknown.status.as_str()), (22, "command not known"));
    assert_eq!(handle.option("admin_socket").as_deref(), Some(""));
    assert_eq!(handle.option("log_file").as_deref(), Some(""));
}

#[test]
fn objects_are_read_written_and_removed() {
    let (handle, ns) = (ControlHandle::connect(&connect()).unwrap(), namespace());
    assert_eq!(handle.read_object(pool(), &ns, "o", 10).unwrap(), None);
    assert!(!handle.remove_object(pool(), &ns, "o").unwrap());
    handle.write_object(pool(), &ns, "o", b"content").unwrap();
    assert_eq!(handle.read_object(pool(), &ns, "o", 100).unwrap().unwrap(), b"content");
    assert_eq!(handle.read_object(pool(), &ns, "o", 4).unwrap().unwrap(), b"cont");
    assert_eq!(handle.read_object(pool(), "", "o", 4).unwrap(), None);
    assert!(handle.remove_object(pool(), &ns, "o").unwrap());
    assert!(handle.pool_id(pool()).unwrap().is_some());
    assert_eq!(handle.pool_id("no-such-pool").unwrap(), None);
}

#[test]
fn what_keeps_a_client_out_is_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let good = connect();
    let conf = std::fs::read_to_string(good.conf.as_ref().unwrap()).unwrap();
    let lines = |keep: &dyn Fn(&str) -> bool| conf.lines().filter(|l| keep(l)).collect::<Vec<_>>().join("\n");
    // A key of the right form that is nobody's.
    let key = "AQDQ0V9nAAAAABAAaJ8Pm1WGZ5bBVd0n1dZlzA==";
    let try_with = |change: &dyn Fn(&mut Connect)| {
        let mut connect = Connect { timeout_ns: 2_000_000_000, ..good.clone() };
        change(&mut connect);
        let begun = Instant::now();
        let text = failure(ControlHandle::connect(&connect));
        assert!(begun.elapsed() < Duration::from_secs(8), "{:?}: {text}", begun.elapsed());
        assert!(!text.contains('\n') && !text.contains(key), "{text}");
        text
    };

    let wrong = file("wrong", &format!("[client.admin]\n\tkey = {key}\n[client.ghost]\n\tkey = {key}\n"));
    let text = try_with(&|c| c.keyring = Some(wrong.clone()));
    assert!(text.contains("refuses client.admin") && text.contains("ceph auth get client.admin"), "{text}");
    let text = try_with(&|c| (c.user, c.keyring) = ("client.ghost".into(), Some(wrong.clone())));
    assert!(text.contains("refuses client.ghost") && text.contains("no such user"), "{text}");
    let text = try_with(&|c| (c.user, c.keyring) = ("other".into(), Some(wrong.clone())));
    assert!(text.contains(&format!("keyring {wrong} has no key for client.other")), "{text}");
    let text = try_with(&|c| c.keyring = Some("/nonexistent/keyring".into()));
    assert!(text.contains("keyring /nonexistent/keyring does not exist"), "{text}");
    let text = try_with(&|c| c.keyring = Some(file("junk", "junk")));
    assert!(text.contains("is not a keyring"), "{text}");

    let other = |l: &str| !l.trim_start().starts_with("keyring");
    let no_keyring = file("no-keyring", &format!("{}\nkeyring = /nonexistent/k\n", lines(&other)));
    let text = try_with(&|c| c.conf = Some(no_keyring.clone()));
    assert!(text.contains("no keyring for client.admin in /nonexistent/k"), "{text}");

    let other = |l: &str| !l.replace('_', " ").trim_start().starts_with("mon host");
    let far = file("far", &format!("{}\n[global]\nmon host = [v2:127.0.0.1:1,v1:127.0.0.1:2]\n", lines(&other)));
    let text = try_with(&|c| c.conf = Some(far.clone()));
    assert!(text.contains("no monitor answered within 2 s ([v2:127.0.0.1:1,v1:127.0.0.1:2])"), "{text}");
    let nowhere = file("nowhere", &format!("{}\n[global]\nmon host = no-such-host.invalid\n", lines(&other)));
    let text = try_with(&|c| c.conf = Some(nowhere.clone()));
    assert!(text.contains("monitor address no-such-host.invalid can't be used"), "{text}");
    let nobody = file("nobody", &(lines(&other) + "\n"));
    let text = try_with(&|c| c.conf = Some(nobody.clone()));
    assert!(text.contains("names no monitor"), "{text}");

    let text = try_with(&|c| c.conf = Some("/nonexistent/ceph.conf".into()));
    assert!(text.contains("configuration file /nonexistent/ceph.conf does not exist"), "{text}");
    let text = try_with(&|c| c.conf = Some(file("garbage", "not [a conf")));
    assert!(text.contains("does not parse"), "{text}");
    let text = try_with(&|c| c.user = "nobody.knows".into());
    assert!(text.contains("not a user"), "{text}");
}

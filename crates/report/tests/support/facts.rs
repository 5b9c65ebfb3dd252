//! Captured texts of a small cluster, cut down to what a report reads.
use fathom_model::Fact;

fn fact(moment: &str, source: &str, text: &str) -> Fact {
    Fact { moment: moment.to_owned(), source: source.to_owned(), text: text.to_owned(), error: None }
}

const STATUS: &str = r#"
{"fsid":"96c2c429-e509-475a-8ac7-53dddebaec10","health":{"status":"HEALTH_WARN","checks":{"OSDMAP_FLAGS":{"severity":
"HEALTH_WARN","summary":{"message":"noscrub flag(s) set","count":7},"muted":false}}},"osdmap":{"epoch":22,"num_osds":3,
"num_up_osds":3,"num_in_osds":3},"pgmap":{"pgs_by_state":[{"state_name":"active+clean","count":33}],"num_pgs":33,
"num_pools":2,"num_objects":1720,"data_bytes":2197684248,"bytes_used":4995780608,"bytes_avail":27216474112,
"bytes_total":32212254720},"mgrmap":{"available":true}}"#;

const POOLS: &str = r#"[{"pool_id":1,"pool_name":".mgr","type":1,"size":3,"min_size":2,"crush_rule":0,"pg_num":1,
"pg_num_target":1,"pg_autoscale_mode":"off"},{"pool_id":2,"pool_name":"bench","type":1,"size":3,"min_size":2,
"crush_rule":0,"pg_num":32,"pg_num_target":32,"pg_autoscale_mode":"off"}]"#;

fn osd(id: u32) -> String {
    format!(
        r#"{{"id":{id},"hostname":"node{id}","cpu":"Intel(R) Xeon(R) Gold 6226R","mem_total_kb":"98765432",
"bluestore_bdev_type":"ssd","bluestore_bdev_rotational":"0","rotational":"0","osd_objectstore":"bluestore",
"bluestore_bdev_size":"1920383410176","device_ids":"sdb=SAMSUNG_MZ7L31T9_S6{id}",
"bluefs_dedicated_db":"0","distro_description":"Debian GNU/Linux 13 (trixie)","kernel_version":"6.12.48",
"ceph_version_short":"18.2.7"}}"#
    )
}

fn pool_counters(reads: u64, writes: u64) -> String {
    let bytes = reads * 4_194_304;
    format!(
        r#"[{{"poolid":2,"num_pg":32,"stat_sum":{{"num_objects":4352,"num_read":{reads},"num_read_kb":{},
"num_write":{writes},"num_write_kb":{}}}}}]"#,
        bytes / 1024,
        writes * 4
    )
}

pub fn facts() -> Vec<Fact> {
    let versions = r#"{"mon":{"ceph version 18.2.7 (6b0e988052ec84cf2d4a54ff9bbbc5e720b621ad) reef (stable)":1},
"osd":{"ceph version 18.2.7 (6b0e988052ec84cf2d4a54ff9bbbc5e720b621ad) reef (stable)":3},"overall":{}}"#;
    let config = r#"[{"section":"osd","name":"osd_mclock_profile","value":"high_client_ops","mask":""},
{"section":"osd","name":"osd_max_backfills","value":"4","mask":"class:ssd"}]"#;
    vec![
        fact("before", "ceph status --format json", STATUS),
        fact("before", "ceph versions --format json", versions),
        fact("before", "ceph osd metadata --format json", &format!("[{},{},{}]", osd(0), osd(1), osd(2))),
        fact("before", "ceph osd pool ls detail --format json", POOLS),
        fact("before", "ceph config dump --format json", config),
        fact(
            "before",
            "/proc/cpuinfo",
            "processor\t: 0\nmodel name\t: AMD EPYC 7543\nprocessor\t: 1\nmodel name\t: AMD EPYC 7543\n",
        ),
        fact("before", "/proc/meminfo", "MemTotal:       65843210 kB\nMemFree: 1 kB\n"),
        fact("before", "/etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n"),
        fact("before", "/proc/sys/kernel/osrelease", "6.12.48\n"),
        fact("before", "/sys/class/net/eth0/mtu", "9000\n"),
        fact("before", "/sys/class/net/eth0/speed", "25000\n"),
        fact("after", "ceph osd pool ls detail --format json", POOLS),
        fact("before", "ceph pg dump pools", &pool_counters(0, 0)),
        // Reads agree; of the writes the cluster counted two hundred more than the client: somebody else was there.
        fact("after", "ceph pg dump pools", &pool_counters(8_870, 818_348)),
        fact("attempt", "rados client settings", "handles = 1\nobjecter_inflight_ops = 1024"),
        Fact {
            moment: "after".to_owned(),
            source: "ceph status --format json".to_owned(),
            text: String::new(),
            error: Some("permission denied for client.bench (mon 'allow r' is missing)".to_owned()),
        },
    ]
}

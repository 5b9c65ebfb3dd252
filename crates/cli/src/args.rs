//! The command line: one table of commands and flags. What a layer itself knows comes from the layer's own table.
use clap::{Arg, ArgAction, Command, builder::ValueParser, value_parser};
use fathom_load::{
    layer::{Kind, Layer},
    layers::LAYERS,
};
use fathom_model::{ExitCode, Size, parse_duration};
use std::path::PathBuf;

/// Layer parameters that the bench command sets itself, from what people ask for.
const INTERNAL: &[&str] = &["prefix", "fill", "payload", "metadata", "bench_pid", "objects"];

fn size() -> ValueParser {
    ValueParser::from(|text: &str| text.parse::<Size>().map_err(|e| e.to_string()))
}

fn duration() -> ValueParser {
    ValueParser::from(|text: &str| parse_duration(text).map_err(|e| e.to_string()))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn opt(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// How to reach a cluster.
fn cluster_args(command: Command) -> Command {
    command
        .arg(opt("conf", "FILE", "ceph.conf; default: CEPH_CONF, then /etc/ceph/ceph.conf").short('c'))
        .arg(opt("id", "USER", "cephx user, `admin` for client.admin").default_value("admin"))
        .arg(opt("keyring", "FILE", "keyring, when the conf does not name it"))
        .arg(
            opt("connect-timeout", "TIME", "longest wait for connecting or for one command")
                .value_parser(duration())
                .default_value("15s"),
        )
        .next_help_heading(None)
}

/// Where results go and how they are shown.
fn result_args(command: Command) -> Command {
    command
        .arg(
            opt("results", "DIR", "directory for the results; default fathom-results/<UTC time>-<name>")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(flag("json", "print one JSON document instead of text"))
        .arg(flag("quiet", "no progress on stderr").short('q'))
}

/// How load is offered, the same for every layer.
fn load_args(command: Command) -> Command {
    command
        .arg(
            opt("block-size", "SIZE", "bytes of one operation; a list (4k,64k,4M) measures each")
                .short('b')
                .value_delimiter(',')
                .value_parser(size()),
        )
        .arg(
            opt("depth", "N", "operations in flight; a list (1,4,16,64) measures each")
                .short('t')
                .value_delimiter(',')
                .visible_alias("concurrent-ios")
                .value_parser(value_parser!(u32)),
        )
        .arg(opt("lanes", "N", "load threads").value_parser(value_parser!(u32)).default_value("1"))
        .arg(opt("duration", "TIME", "measured time of each repeat").value_parser(duration()).default_value("10s"))
        .arg(
            opt("ramp", "TIME", "time before measuring starts, shown but not counted")
                .value_parser(duration())
                .default_value("1s"),
        )
        .arg(opt("ops", "N", "end after so many operations").value_parser(value_parser!(u64)))
        .arg(opt(
            "tight",
            "PERCENT",
            "end when the 95 % interval of the rate is within ± this (needs 3 s at least; --duration is the cap)",
        ))
        .arg(opt("repeat", "N", "how often to measure").value_parser(value_parser!(u32).range(1..=1000)))
        .arg(opt("rate", "OPS/S", "open loop: operations due per second, whether or not earlier ones ended"))
        .arg(flag("poisson", "open loop: exponentially distributed arrivals instead of even ones"))
        .arg(opt("pattern", "P", "addresses: seq, uniform or zipf:THETA"))
        .arg(
            opt("read-share", "PERCENT", "reads in a mix")
                .value_parser(value_parser!(u32).range(0..=100))
                .default_value("70"),
        )
        .arg(
            opt("op-timeout", "TIME", "an operation older than this is cancelled and counted as timed out")
                .value_parser(duration())
                .default_value("10s"),
        )
        .arg(
            opt("compressible", "PERCENT", "part of the data a compressor could remove")
                .value_parser(value_parser!(u8).range(0..=100))
                .default_value("0"),
        )
        .arg(flag("verify", "compare what is read with what was written"))
        .arg(
            opt("seed", "N", "seed of every random choice; default: a new one, printed")
                .value_parser(value_parser!(u64)),
        )
}

fn layer_command(layer: &'static dyn Layer) -> Command {
    let mut command = Command::new(layer.name()).about(layer.about());
    let modes = Arg::new("mode")
        .value_parser(["write", "seq", "rand", "mixed"])
        .default_value("write")
        .help("write: new objects; seq, rand: reads of a data set; mixed: reads and overwrites of a data set");
    if layer.name() == "rados" {
        command = command
            .arg(modes)
            .arg(
                opt("max-objects", "N", "objects at most: the end of a write, the size of a data set")
                    .value_parser(value_parser!(u64).range(1..)),
            )
            .arg(opt("run-name", "NAME", "name of the metadata object with --rados-bench-objects"))
            .arg(flag("no-cleanup", "keep what is written"))
            .arg(flag("rados-bench-objects", "write what `rados bench` reads, read what `rados bench` wrote"))
            .arg(opt("size", "N", "copies in fathom's own pool").value_parser(value_parser!(u64).range(1..=10)))
            .arg(
                opt("pg-num", "N", "placement groups of fathom's own pool")
                    .value_parser(value_parser!(u64).range(1..=65536)),
            );
    }
    for p in layer.params().iter().filter(|p| !INTERNAL.contains(&p.name)) {
        let long = p.name.replace('_', "-");
        let mut arg = Arg::new(p.name).long(long).help(p.help.trim_end_matches("; required"));
        arg = match p.kind {
            Kind::Switch => arg.action(ArgAction::SetTrue),
            Kind::Size => arg.value_name("SIZE").value_parser(size()),
            Kind::Count => arg.value_name("N").value_parser(value_parser!(u64)),
            Kind::Text => arg.value_name("TEXT"),
        };
        if let Some(short) = p.short {
            arg = arg.short(short);
        }
        if p.name == "namespace" {
            arg = arg.short('N');
        }
        command = command.arg(arg);
    }
    result_args(cluster_args(load_args(command)))
}

fn lab_command() -> Command {
    let dir = || {
        let path = value_parser!(PathBuf);
        [
            Arg::new("at").value_name("DIR").value_parser(path.clone()).help("directory of the lab, `lab` by default"),
            opt("dir", "DIR", "the same as a flag").value_parser(path).conflicts_with("at"),
        ]
    };
    Command::new("lab")
        .about("a throw-away real cluster on this machine, for learning and for trying fathom")
        .subcommand_required(true)
        .subcommand(
            Command::new("up")
                .about("start one")
                .args(dir())
                .arg(opt("osds", "N", "OSDs").value_parser(value_parser!(u32)).default_value("3"))
                .arg(opt("size", "SIZE", "size of each OSD's sparse file").value_parser(size()).default_value("10G"))
                .arg(opt("osd-memory", "SIZE", "osd_memory_target").value_parser(size()).default_value("1G"))
                .arg(opt("conf", "KEY=VALUE", "more of ceph.conf's [global] section").action(ArgAction::Append))
                .arg(flag("json", "print one JSON document instead of text")),
        )
        .subcommand(
            Command::new("status")
                .about("look at it")
                .args(dir())
                .arg(flag("json", "print one JSON document instead of text")),
        )
        .subcommand(
            Command::new("down")
                .about("stop it and remove every trace")
                .args(dir())
                .arg(flag("json", "print one JSON document instead of text")),
        )
}

/// The whole command line.
pub fn command() -> Command {
    let mut bench = Command::new("bench").about("measure one layer").subcommand_required(true);
    for layer in LAYERS {
        bench = bench.subcommand(layer_command(*layer));
    }
    let survey = Command::new("survey")
        .about("the main job: every layer this machine can reach, one report")
        .arg(opt("pool", "POOL", "pool to use instead of one of fathom's own").short('p'))
        .arg(opt("size", "N", "copies in fathom's own pool").value_parser(value_parser!(u64).range(1..=10)))
        .arg(
            opt("repeat", "N", "how often to measure each")
                .value_parser(value_parser!(u32).range(1..))
                .default_value("3"),
        )
        .arg(
            opt("seed", "N", "seed of every random choice; default: a new one, printed")
                .value_parser(value_parser!(u64)),
        )
        .arg(flag("smoke", "a second for each test: shows that everything works, measures nothing"));
    let run_dir = || Arg::new("dir").value_name("DIR").required(true).value_parser(value_parser!(PathBuf));
    Command::new("fathom")
        .version(crate::BUILD)
        .about("measures a Ceph cluster layer by layer and says how far to trust the numbers")
        .after_help(exit_table())
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(flag("verbose", "say on stderr what is being done").short('v').global(true))
        .subcommand(result_args(cluster_args(survey)))
        .subcommand(bench)
        .subcommand(
            Command::new("report")
                .about("the report of a run, also of one that was killed")
                .arg(run_dir().help("results directory"))
                .arg(flag("json", "print one JSON document instead of text"))
                .arg(opt("html", "FILE", "write the HTML report here (`-`: stdout)"))
                .arg(opt("csv", "FILE", "write the per-second series as CSV here (`-`: stdout)")),
        )
        .subcommand(
            cluster_args(
                Command::new("clean")
                    .about("remove what a run made and could not remove itself: exactly what its ledger names")
                    .arg(run_dir().help("results directory"))
                    .arg(flag("kept", "also what was kept on purpose (--no-cleanup)"))
                    .arg(flag("json", "print one JSON document instead of text")),
            )
            .mut_arg("id", |a| a.default_value(None).help("cephx user; default: the run's")),
        )
        .subcommand(lab_command())
        .subcommand(
            Command::new("layers")
                .about("the layers and their parameters")
                .arg(flag("json", "print one JSON document instead of text")),
        )
        .subcommand(
            Command::new("worker")
                .about("serve a controller on stdin and stdout (started by fathom itself)")
                .hide(true),
        )
}

/// The table of exit codes, for the help text and the README.
pub fn exit_table() -> String {
    let rows: Vec<String> =
        ExitCode::TABLE.iter().map(|(code, meaning)| format!("  {:<4} {meaning}", *code as u8)).collect();
    format!("Exit codes:\n{}", rows.join("\n"))
}

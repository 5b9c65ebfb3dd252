//! Everything the rules look at, read once: the cluster before and after, the client host, and the run itself.
use crate::counters::PoolCounters;
use crate::dump::{
    ConfigDump, ConfigShow, CrushDump, DaemonMetadataList, Df, Health, OsdDf, OsdDump, OsdMetadataList, OsdTree,
    PgsBrief, Pool, PoolAutoscale, PoolIoList, PoolList, Status, Versions,
};
use crate::host::HostFacts;
use crate::osd_counters::OsdCounters;
use crate::{ParseError, Release, Version};
use fathom_model::{Attempt, ClusterTick, Fact, LedgerEntry, Made, OwnIo, Probe, RunData, Step};

/// What the cluster's dumps of one moment said. A dump that was not captured, failed or could not be read is `None` or
/// empty; why is in `unread`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterFacts {
    /// `ceph versions`.
    pub versions: Option<Versions>,
    /// `ceph status` (or `ceph -s`).
    pub status: Option<Status>,
    /// `ceph health detail`.
    pub health: Option<Health>,
    /// `ceph osd tree`.
    pub osd_tree: Option<OsdTree>,
    /// `ceph osd df` or `ceph osd df tree`.
    pub osd_df: Option<OsdDf>,
    /// `ceph osd dump`.
    pub osd_dump: Option<OsdDump>,
    /// `ceph osd metadata`.
    pub osd_metadata: Option<OsdMetadataList>,
    /// `ceph mon metadata`.
    pub mon_metadata: Option<DaemonMetadataList>,
    /// `ceph mgr metadata`.
    pub mgr_metadata: Option<DaemonMetadataList>,
    /// `ceph df detail`.
    pub df: Option<Df>,
    /// `ceph osd pool ls detail`.
    pub pool_list: Option<PoolList>,
    /// `ceph osd pool stats`.
    pub pool_io: Option<PoolIoList>,
    /// `ceph osd pool autoscale-status`; a manager module answers it, so it is often not there.
    pub autoscale: Option<PoolAutoscale>,
    /// `ceph osd crush dump`.
    pub crush: Option<CrushDump>,
    /// `ceph config dump`.
    pub config: Option<ConfigDump>,
    /// `ceph config show osd.N` or `ceph tell osd.N config show`, by OSD.
    pub config_show: Vec<(i32, ConfigShow)>,
    /// `ceph pg dump pgs_brief`.
    pub pgs: Option<PgsBrief>,
    /// `ceph pg dump pools`.
    pub pool_counters: Vec<PoolCounters>,
    /// `ceph tell osd.N perf dump`, by OSD.
    pub osd_counters: Vec<OsdCounters>,
    /// Texts that were captured and could not be read.
    pub unread: Vec<ParseError>,
}

impl ClusterFacts {
    /// Reads the facts whose source is one of the commands above, with or without the word `ceph` in front and a format
    /// option behind. Others are passed over; of two of the same source the later counts.
    #[must_use]
    pub fn read<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> ClusterFacts {
        let mut out = ClusterFacts::default();
        for fact in facts.into_iter().filter(|f| f.error.is_none()) {
            if let Err(error) = out.add(&command(&fact.source), &fact.text) {
                out.unread.push(error);
            }
        }
        out
    }

    fn add(&mut self, command: &str, text: &str) -> Result<(), ParseError> {
        match command {
            "versions" => self.versions = Some(Versions::parse(text)?),
            "status" | "-s" => self.status = Some(Status::parse(text)?),
            "health detail" => self.health = Some(Health::parse(text)?),
            "osd tree" => self.osd_tree = Some(OsdTree::parse(text)?),
            "osd df" | "osd df tree" => self.osd_df = Some(OsdDf::parse(text)?),
            "osd dump" => self.osd_dump = Some(OsdDump::parse(text)?),
            "osd metadata" => self.osd_metadata = Some(OsdMetadataList::parse(text)?),
            "mon metadata" => self.mon_metadata = Some(DaemonMetadataList::parse(text)?),
            "mgr metadata" => self.mgr_metadata = Some(DaemonMetadataList::parse(text)?),
            "df detail" | "df" => self.df = Some(Df::parse(text)?),
            "osd pool ls detail" => self.pool_list = Some(PoolList::parse(text)?),
            "osd pool stats" => self.pool_io = Some(PoolIoList::parse(text)?),
            "osd pool autoscale-status" => self.autoscale = Some(PoolAutoscale::parse(text)?),
            "osd crush dump" => self.crush = Some(CrushDump::parse(text)?),
            "config dump" => self.config = Some(ConfigDump::parse(text)?),
            "pg dump pgs_brief" => self.pgs = Some(PgsBrief::parse(text)?),
            "pg dump pools" => self.pool_counters = PoolCounters::parse_pg_dump(text)?,
            _ => match of_osd(command) {
                Some((osd, "perf dump")) => self.osd_counters.push(OsdCounters::parse(osd, text)?),
                Some((osd, "config show")) => self.config_show.push((osd, ConfigShow::parse(text)?)),
                _ => {}
            },
        }
        Ok(())
    }

    /// Pools, from `osd pool ls detail` or else `osd dump`.
    #[must_use]
    pub fn pools(&self) -> &[Pool] {
        match (&self.pool_list, &self.osd_dump) {
            (Some(list), _) => &list.pools,
            (None, Some(map)) => &map.pools,
            (None, None) => &[],
        }
    }

    /// The pool of this name.
    #[must_use]
    pub fn pool(&self, name: &str) -> Option<&Pool> {
        self.pools().iter().find(|p| p.name == name)
    }

    /// OSDs that are in; 0 when unknown.
    #[must_use]
    pub fn osds_in(&self) -> u64 {
        match (&self.status, &self.osd_dump) {
            (Some(status), _) if status.num_in_osds > 0 => status.num_in_osds,
            (_, Some(map)) => map.osds.iter().filter(|o| o.is_in).count() as u64,
            _ => 0,
        }
    }

    /// The oldest version among the OSDs.
    #[must_use]
    pub fn osd_version(&self) -> Option<Version> {
        self.versions.as_ref().and_then(Versions::osd)
    }

    /// The release of the OSDs.
    #[must_use]
    pub fn release(&self) -> Option<Release> {
        self.osd_version().map(|v| v.release())
    }

    /// Sum of `pg_num × size` over all pools: the PG copies that are there, for [`crate::pool::choose_pg_num`].
    #[must_use]
    pub fn pg_copies(&self) -> u64 {
        self.pools().iter().fold(0, |sum, p| sum.saturating_add(p.pg_num.saturating_mul(p.size)))
    }

    /// The running value of an option: from an OSD's `config show`, else the most general entry of `config dump`.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        let shown = self.config_show.iter().find_map(|(_, show)| show.get(name));
        let dumped = || {
            let entries = self.config.as_ref()?.entries.iter().filter(|e| e.name == name && e.mask.is_empty());
            let osd = entries.clone().find(|e| e.section == "osd");
            Some(osd.or_else(|| entries.clone().find(|e| e.section == "global"))?.value.as_str())
        };
        shown.or_else(dumped)
    }
}

/// The command without the word `ceph` and without format options.
fn command(source: &str) -> String {
    let mut words = source.split_whitespace().peekable();
    if words.peek() == Some(&"ceph") {
        words.next();
    }
    let mut out: Vec<&str> = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-f" | "--format" => {
                words.next();
            }
            _ if word.starts_with("--format=") => {}
            _ => out.push(word),
        }
    }
    out.join(" ")
}

/// `tell osd.3 perf dump`, `daemon osd.3 perf dump`, `config show osd.3` and `osd.3 perf dump`: the OSD and the command.
fn of_osd(command: &str) -> Option<(i32, &str)> {
    let number = |word: &str| word.strip_prefix("osd.")?.parse::<i32>().ok();
    if let Some(daemon) = command.strip_prefix("config show ") {
        return Some((number(daemon)?, "config show"));
    }
    let rest = command.strip_prefix("tell ").or_else(|| command.strip_prefix("daemon ")).unwrap_or(command);
    let (daemon, command) = rest.split_once(' ')?;
    Some((number(daemon)?, command))
}

/// All a rule may look at.
#[derive(Clone, Debug, Default)]
pub struct Facts<'a> {
    /// The cluster before the first step.
    pub before: ClusterFacts,
    /// The cluster after the last one.
    pub after: ClusterFacts,
    /// The host that made the load (the first, where there are several).
    pub client: HostFacts,
    /// Its name, from the attempts or from a text; empty when unknown.
    pub client_name: String,
    /// The resolved steps.
    pub steps: &'a [Step],
    /// Their executions.
    pub attempts: &'a [Attempt],
    /// Raw texts, for rules that need those around one attempt.
    pub texts: &'a [Fact],
    /// Cluster state with the Unix time it was read, in order.
    pub ticks: &'a [(i64, ClusterTick)],
    /// OSD probes with their Unix time.
    pub probes: &'a [(i64, Probe)],
    /// Operations of the run outside of load: preparation and removal.
    pub own_io: &'a [OwnIo],
    /// What the run made.
    pub ledger: &'a [LedgerEntry],
}

impl<'a> Facts<'a> {
    /// Everything of a run.
    #[must_use]
    pub fn of_run(run: &'a RunData) -> Facts<'a> {
        let mut facts = Facts::of_texts(&run.facts, &run.steps);
        facts.attempts = &run.attempts;
        facts.ticks = &run.ticks;
        facts.probes = &run.probes;
        facts.ledger = &run.ledger;
        facts.own_io = &run.own_io;
        if let Some(attempt) = run.attempts.first() {
            facts.client_name.clone_from(&attempt.host);
        }
        facts
    }

    /// What is known before a run: the captured texts and the steps that are to come.
    #[must_use]
    pub fn of_texts(texts: &'a [Fact], steps: &'a [Step]) -> Facts<'a> {
        let at = |moment: &'static str| texts.iter().filter(move |f| f.moment == moment);
        let client =
            HostFacts::read(at("before").filter(|f| f.error.is_none()).map(|f| (f.source.as_str(), f.text.as_str())));
        Facts {
            before: ClusterFacts::read(at("before")),
            after: ClusterFacts::read(at("after")),
            client_name: client.hostname.clone(),
            client,
            steps,
            texts,
            ..Facts::default()
        }
    }

    /// Names of the pools the steps use, each once.
    #[must_use]
    pub fn pool_names(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.steps.iter().filter_map(|s| s.params.get("pool")?.as_str()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The pools the steps use, as they were before the run; a pool the run made is taken from after it.
    #[must_use]
    pub fn pools(&self) -> Vec<&Pool> {
        self.pool_names().into_iter().filter_map(|n| self.before.pool(n).or_else(|| self.after.pool(n))).collect()
    }

    /// True when the run made this pool itself.
    #[must_use]
    pub fn is_own_pool(&self, name: &str) -> bool {
        self.ledger.iter().any(|e| matches!(&e.made, Made::Pool { pool, .. } if pool == name))
    }

    /// The step of an attempt.
    #[must_use]
    pub fn step_of(&self, attempt: &Attempt) -> Option<&'a Step> {
        self.steps.get(attempt.step as usize)
    }

    /// The cluster around one attempt (`attempt-N-before`, `attempt-N-after`).
    #[must_use]
    pub fn around(&self, attempt: u32) -> (ClusterFacts, ClusterFacts) {
        let read = |side: &str| {
            let moment = format!("attempt-{attempt}-{side}");
            ClusterFacts::read(self.texts.iter().filter(|f| f.moment == moment))
        };
        (read("before"), read("after"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testdata::{RELEASES, healthy_texts};

    #[test]
    fn sources_are_understood_however_they_are_written() {
        assert_eq!(command("ceph osd dump -f json"), "osd dump");
        assert_eq!(command("ceph --format json osd  dump --format=json"), "osd dump");
        assert_eq!(of_osd("tell osd.3 perf dump"), Some((3, "perf dump")));
        assert_eq!(of_osd("config show osd.12"), Some((12, "config show")));
        assert_eq!(of_osd("osd.1 config show"), Some((1, "config show")));
        assert_eq!(of_osd("osd tree"), None);
    }

    #[test]
    fn all_dumps_of_all_releases_are_read() {
        for release in RELEASES {
            let texts = healthy_texts(release);
            let facts = Facts::of_texts(&texts, &[]);
            for side in [&facts.before, &facts.after] {
                assert_eq!(side.unread, []);
                assert!(
                    side.versions.is_some() && side.status.is_some() && side.osd_df.is_some() && side.pgs.is_some()
                );
                assert_eq!((side.osd_counters.len(), side.config_show.len(), side.osds_in()), (3, 1, 3));
                assert_eq!(side.setting("osd_memory_target"), Some("1073741824"));
                assert!(side.pg_copies() >= 112 && side.release().is_some());
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_unknown_and_said() {
        let bad =
            Fact { moment: "before".into(), source: "ceph osd dump".into(), text: "timed out".into(), error: None };
        let failed = Fact { error: Some("EACCES".into()), source: "ceph df detail".into(), ..bad.clone() };
        let facts = ClusterFacts::read([&bad, &failed]);
        assert!(facts.osd_dump.is_none() && facts.df.is_none());
        assert_eq!(facts.unread.len(), 1);
    }
}

//! Plan: the experiments, the items that each yields, and their durations.
//!
//! To replace an experiment by a fuller one, change its row. Where two yield the same item, the
//! first one with results is shown. An item without an experiment is shown as missing.

use crate::experiments as of;
use crate::outcome::ItemResults;
use crate::run::Run;
use anyhow::Result;

/// An experiment: programs to run, and figures to read from their output.
#[derive(Clone, Copy)]
pub struct Experiment {
    /// Name of the experiment and of its folder.
    pub id: &'static str,
    /// In a line.
    pub title: &'static str,
    /// Full names of the items that it yields.
    pub items: &'static [&'static str],
    /// The programs that it runs: when one is built anew, it is measured anew.
    pub programs: &'static [&'static str],
    /// Seconds that it takes on two processors: the short form, and the whole.
    pub expected_s: [f64; 2],
    /// Extent, compared with the document's: in the short form, and in full.
    pub scale: [&'static str; 2],
    /// Function that runs it.
    pub run: fn(&mut Run<'_>) -> Result<Vec<ItemResults>>,
}

impl std::fmt::Debug for Experiment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Experiment").field("id", &self.id).finish_non_exhaustive()
    }
}

const CHAIN: &[&str] = &[
    "radar-testbed",
    "chronoscope",
    "radar-generator",
    "radar-tracker",
    "radar-messages",
    "radar-display",
];

/// All of them, in the order in which they are run.
pub const PLAN: &[Experiment] = &[
    Experiment {
        id: "phoenix-definitions",
        title: "durations of chains whose times are known",
        items: &["phoenix.image6", "phoenix.image7", "phoenix.image8"],
        programs: &["chronoscope"],
        expected_s: [1.0, 2.0],
        scale: ["the pictures' transactions", "the pictures' transactions"],
        run: of::definitions::run,
    },
    Experiment {
        id: "phoenix-live",
        title: "the radar chain with live traffic",
        items: &[
            "phoenix.image1",
            "phoenix.image2",
            "phoenix.image3",
            "phoenix.image4",
            "phoenix.image9",
            "phoenix.image10",
            "phoenix.levels",
            "phoenix.image11",
            "phoenix.image12",
        ],
        programs: CHAIN,
        expected_s: [43.0, 600.0],
        scale: [
            "25 s of 27 min 41 s; 110 working positions on 10 hosts, or on one where none can be made",
            "7 min of 27 min 41 s; 110 working positions on 10 hosts, or on one where none can be made",
        ],
        run: of::phoenix::live,
    },
    Experiment {
        id: "phoenix-heavy",
        title: "the radar chain with 3000 tracks",
        items: &["phoenix.image5", "phoenix.image13", "phoenix.image14"],
        programs: CHAIN,
        expected_s: [38.0, 700.0],
        scale: [
            "32 s of 10 min, unsaturated; one working position",
            "60 s of 10 min with each rule, and 100 s overloaded; one working position",
        ],
        run: of::phoenix::heavy,
    },
    Experiment {
        id: "phoenix-buffering",
        title: "the radar chain with output held inside its processes",
        items: &["phoenix.buffering"],
        programs: CHAIN,
        expected_s: [41.0, 270.0],
        scale: [
            "16 s, two intervals, Nagle's algorithm off, 4 working positions on one host",
            "20 s, five intervals, 4 working positions on one host",
        ],
        run: of::phoenix::buffering,
    },
    Experiment {
        id: "etfms-primitives",
        title: "unit tests of primitives",
        items: &["etfms.primitives", "etfms.maps", "etfms.malloc", "etfms.simulation"],
        programs: &["primitives"],
        expected_s: [14.0, 150.0],
        scale: [
            "21 batches a row; maps and 20 million index entries as the document's",
            "101 batches a row; 20 million index entries",
        ],
        run: of::primitives::run,
    },
    Experiment {
        id: "etfms-day",
        title: "a recorded day replayed",
        items: &["etfms.peak_day", "etfms.replay"],
        programs: &["day", "radar-generator", "radar-tracker", "radar-messages", "radar-display"],
        expected_s: [40.0, 1200.0],
        scale: [
            "an hour with the peak day's rates, 200 s of it serial, 10 s under Callgrind",
            "the peak day: 24 h; an hour of it serial, 120 s under Callgrind",
        ],
        run: of::day::run,
    },
    Experiment {
        id: "etfms-proof",
        title: "whether one pair of runs tells a difference",
        items: &["etfms.target"],
        programs: &["proof"],
        expected_s: [14.0, 600.0],
        scale: [
            "4 unchanged pairs, 2 of each change",
            "60 unchanged pairs, 20 of each change (tools/bench proof: 300 and 100)",
        ],
        run: of::proof::run,
    },
    Experiment {
        id: "etfms-track",
        title: "what versions cost: processes, heap, functions",
        items: &[
            "etfms.global",
            "etfms.per_process",
            "etfms.detailed",
            "etfms.missed_optimisation",
        ],
        programs: &["chronoscope", "radar-tracker", "radar-messages", "radar-generator", "beyond"],
        expected_s: [14.0, 90.0],
        scale: [
            "a replay of 46 s of a made day, three runs",
            "a replay of 46 s of a made day, six runs",
        ],
        run: of::track::run,
    },
    Experiment {
        id: "etfms-monitoring",
        title: "statistics that are always on, and what they cost",
        items: &["etfms.overhead", "etfms.last", "etfms.statistics", "etfms.dump"],
        programs: &[
            "radar-testbed",
            "chronoscope",
            "radar-generator",
            "radar-tracker",
            "radar-messages",
            "radar-display",
            "recorder",
            "aprs",
            "aprs-server",
        ],
        expected_s: [65.0, 300.0],
        scale: [
            "a tracker for 4 s; a server for 2 pairs of 3 s",
            "a tracker for 30 s; a server for 5 pairs of 10 s",
        ],
        run: of::monitoring::run,
    },
    Experiment {
        id: "sps-lep-load",
        title: "who loads a network: scans of a lab of namespaces",
        items: &["sps-lep.table1", "sps-lep.table2"],
        programs: &["chronoscope"],
        expected_s: [56.0, 150.0],
        scale: [
            "40 hosts; 8 s of 4450 s with as many packets; nine scans of 4.6 s instead of 360 s",
            "40 hosts; 45 s of 4450 s with as many packets; nine scans of 10 s instead of 360 s",
        ],
        run: of::network::load,
    },
    Experiment {
        id: "sps-lep-paths",
        title: "response times: hosts, elements, paths",
        items: &[
            "sps-lep.table3",
            "sps-lep.rtrt",
            "sps-lep.elements",
            "sps-lep.clock",
            "sps-lep.activation",
        ],
        programs: &["chronoscope"],
        expected_s: [31.0, 120.0],
        scale: [
            "9 hosts in 6 rings of 4 Mbit/s, 20 round trips each; 5 first requests",
            "9 hosts in 6 rings of 4 Mbit/s, 100 round trips each; 15 first requests",
        ],
        run: of::network::paths,
    },
    Experiment {
        id: "sps-lep-scan",
        title: "a scan of 300 hosts",
        items: &["sps-lep.scan"],
        programs: &["scan"],
        expected_s: [22.0, 140.0],
        scale: [
            "300 and 1000 hosts on loopback, 3 scans",
            "300 and 1000 hosts on loopback, 20 scans",
        ],
        run: of::network::scan,
    },
    Experiment {
        id: "sps-lep-synthesis",
        title: "predicted beside measured paths",
        items: &["sps-lep.synthesis"],
        programs: &["path"],
        expected_s: [40.0, 480.0],
        scale: [
            "15 paths, 72 probes of each idle and 144 busy; 16 lengths of messages, 5 round trips each",
            "15 paths, 1000 probes of each idle and 2000 busy; 16 lengths of messages, 40 round trips each",
        ],
        run: of::network::synthesis,
    },
    Experiment {
        id: "aprsc-load",
        title: "the APRS-IS server under load",
        items: &[
            "aprsc.requirements",
            "aprsc.drawing1",
            "aprsc.memory",
            "aprsc.full_feed",
            "aprsc.status",
            "aprsc.filtered",
            "aprsc.live",
        ],
        programs: &["aprs", "aprs-server"],
        expected_s: [63.0, 450.0],
        scale: [
            "windows of 1.5 s; crowds every 2 s instead of 5 min",
            "windows of 10 s; crowds every 5 s instead of 5 min",
        ],
        run: of::aprs::run,
    },
    Experiment {
        id: "csts-series",
        title: "the space link series",
        items: &[
            "csts.target",
            "csts.setup",
            "csts.measurement1",
            "csts.measurement2",
            "csts.measurement3",
            "csts.measurement4",
            "csts.measurement5_1",
            "csts.measurement5_2",
            "csts.table5",
            "csts.summary1",
            "csts.step2",
            "csts.confirmed",
            "csts.buffering",
            "csts.buffering_graph",
            "csts.asn1",
        ],
        programs: &["sle-series"],
        expected_s: [103.0, 1260.0],
        scale: [
            "one round of 0.15 s (over a delay of 0.4 s) instead of 5000 to 50,000 CLTUs; fewer round trips and windows",
            "three rounds of 0.7 s instead of 5000 to 50,000 CLTUs",
        ],
        run: of::csts::run,
    },
];

/// Reasons why items are not measured, where known.
pub const REASONS: &[(&str, &str)] = &[(
    "etfms.trajectories",
    "windows of an application: no figure in them, and no system here computes a flight's route and \
     profile from its plan",
)];

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_published::Published;
    use std::collections::BTreeSet;

    #[test]
    fn every_item_is_yielded_or_its_absence_explained() {
        let published = Published::read().unwrap();
        let yielded: BTreeSet<&str> =
            PLAN.iter().flat_map(|one| one.items.iter().copied()).collect();
        let explained: BTreeSet<&str> = REASONS.iter().map(|(item, _)| *item).collect();
        for (name, _) in published.items() {
            let known = [&yielded, &explained].map(|names| names.contains(name.as_str()));
            assert_ne!(known, [false, false], "{name} is in no experiment");
            assert_ne!(known, [true, true], "{name} is yielded: why should it be missing?");
        }
        for name in yielded.union(&explained) {
            assert!(published.item(name).is_some(), "no document has an item {name}");
        }
    }

    #[test]
    fn the_short_form_is_short_and_the_whole_is_bounded() {
        let sum = |form: usize| PLAN.iter().map(|one| one.expected_s[form]).sum::<f64>();
        assert!(sum(0) <= 600.0, "{}", sum(0));
        assert!(sum(1) < 7200.0, "{}", sum(1));
        let ids: BTreeSet<&str> = PLAN.iter().map(|one| one.id).collect();
        assert_eq!(ids.len(), PLAN.len());
    }
}

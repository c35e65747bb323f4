//! The durations of a rectangle beside the rest: which hop makes them what they are.

use crate::chunk::DurationFilter;
use crate::draws::{Selected, Sides};
use crate::gather::{QueryEnvironment, gather};
use crate::hop_breakdowns::{Sampled, sample};
use crate::question::Question;
use chronoscope_chain::{Contrast, HostContrast, PartContrast, PartKind, PartName, PartSide};
use chronoscope_statistics::KolmogorovSmirnov;
use chronoscope_store::{Snapshot, StoreError};
use std::ops::Range;

/// Hosts that are told, the most frequent ones of what was selected.
const HOSTS_MAX: usize = 100;
/// A cause is told where chance would make such a difference less often than this.
const P_MAX: f64 = 0.01;

/// Selected durations beside the rest, hop by hop.
#[derive(Clone, Debug)]
pub struct Hops {
    /// Number of selected durations.
    pub selected: u64,
    /// Number of other durations.
    pub rest: u64,
    /// Size of the sample of the selected durations.
    pub sampled_selected: u64,
    /// Size of the sample of the rest.
    pub sampled_rest: u64,
    /// Part by part, in the order of time.
    pub parts: Vec<HopPart>,
    /// The common edges of all histograms, in nanoseconds.
    pub edges_ns: Vec<u64>,
    /// Hosts of the hops, those of the selected durations first.
    pub hosts: Vec<HopHost>,
    /// The cause of the difference in one sentence.
    pub sentence: String,
}

/// One part of one hop.
#[derive(Clone, Debug, PartialEq)]
pub struct HopPart {
    /// The hop's class in words.
    pub hop: String,
    /// Steps from the selected root.
    pub level: u16,
    /// The part of the hop: until its start, or from its start on.
    pub kind: PartKind,
    /// Value for the selected durations.
    pub selected: PartSide,
    /// Value for the rest.
    pub rest: PartSide,
    /// The median of the selected ones less that of the rest, in nanoseconds.
    pub shift_ns: i64,
    /// Test of the difference; `None` where one side has no such hop.
    pub test: Option<KolmogorovSmirnov>,
    /// Its share of the difference of the mean durations; all of them make 1.
    pub share: f64,
    /// Of a hop's work: the classes of transactions that ran inside it beside the path, those whose
    /// time differs most first.
    pub inside: Vec<InsideHop>,
}

/// Time of a class inside a hop, beside the path. Means in nanoseconds; a duration without it counts
/// as 0.
#[derive(Clone, Debug, PartialEq)]
pub struct InsideHop {
    /// The class in words.
    pub class: String,
    /// Value for the selected durations.
    pub selected_mean_ns: f64,
    /// Value for the rest.
    pub rest_mean_ns: f64,
}

/// Classes inside a hop that are told.
const INSIDE_MAX: usize = 5;

/// Number of sampled durations in which a hop ran on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopHost {
    /// The host; empty where it is not known.
    pub host: String,
    /// The hop's class in words.
    pub hop: String,
    /// Value for the selected durations.
    pub selected: u64,
    /// Value for the rest.
    pub rest: u64,
}

/// Compares the durations that a question is about with all others of the same root, leaf, level
/// and path that started in `context_ns`, hop by hop, by up to `most` of each. A transaction asked
/// for by itself ([`DurationKind::Sync`](crate::DurationKind::Sync)) is one hop: what it says is where it ran.
///
/// Where they are more than `most`, or lie in more than 24 minutes, a sample is taken: minutes are
/// drawn at random, each as probable as it has durations, and in them durations at random. The same
/// question draws the same. Durations of one minute are more alike than those of two, so that a
/// sample of few minutes says less than its number. Cost: what
/// [`scatter`](crate::scatter()) costs over `context_ns`, and the rows of the minutes drawn.
///
/// # Errors
/// As [`ask_watched`](crate::ask_watched).
pub fn hops(
    snapshot: &Snapshot,
    question: &Question,
    (context_ns, most): (Range<i64>, usize),
    asking: &QueryEnvironment<'_>,
) -> Result<Hops, StoreError> {
    let from = context_ns.start.min(question.start_ns.start);
    let all = Question {
        start_ns: from..context_ns.end.max(question.start_ns.end),
        hosts: Vec::new(),
        duration_ns: 0..=u64::MAX,
        ..question.clone()
    };
    let (sampled, _) = gather(snapshot, &all, asking, |gathered| {
        let context = Question { start_ns: context_ns, ..all.clone() };
        let (selected, context) = (DurationFilter::by(question), DurationFilter::by(&context));
        let sides = Sides::Two(Box::new(Selected { selected, context }));
        sample(snapshot, question, gathered, &sides, (most, asking))
    })?;
    Ok(Hops::of(&sampled))
}

impl Hops {
    fn of(sampled: &Sampled) -> Self {
        let [usual, other] = &sampled.breakdowns;
        let contrast = Contrast::between(usual, other);
        let mut hops = Self {
            selected: sampled.totals[1],
            rest: sampled.totals[0],
            sampled_selected: other.len() as u64,
            sampled_rest: usual.len() as u64,
            parts: Vec::new(),
            edges_ns: Vec::new(),
            hosts: Vec::new(),
            sentence: String::new(),
        };
        let Some(contrast) = contrast else {
            hops.sentence = nothing(&hops);
            return hops;
        };
        hops.sentence = sentence(&contrast, sampled);
        hops.parts = contrast
            .parts
            .iter()
            .map(|part| HopPart {
                hop: sampled.class(part.name),
                level: part.name.level,
                kind: part.name.kind,
                shift_ns: part.shift_ns(),
                test: part.test,
                share: part.share,
                selected: part.other.clone(),
                rest: part.usual.clone(),
                inside: inside(&contrast, part, sampled),
            })
            .collect();
        hops.edges_ns = contrast.edges.all().to_vec();
        hops.hosts = hosts(&contrast.hosts, sampled);
        hops
    }
}

impl Sampled {
    /// A hop's class in words.
    pub(crate) fn class(&self, name: PartName) -> String {
        self.catalog.text(&[name.class])
    }
}

/// The classes inside a hop's work, those that differ most first.
fn inside(contrast: &Contrast, part: &PartContrast, sampled: &Sampled) -> Vec<InsideHop> {
    if part.name.kind == PartKind::Wait {
        return Vec::new();
    }
    let of_hop = contrast.inner.iter().filter(|inner| inner.level == part.name.level);
    let mut of_hop: Vec<_> = of_hop.collect();
    of_hop.sort_by(|a, b| b.change_ns().abs().total_cmp(&a.change_ns().abs()));
    let told = of_hop.into_iter().take(INSIDE_MAX);
    told.map(|inner| InsideHop {
        class: sampled.catalog.text(&[inner.class]),
        selected_mean_ns: inner.other_mean_ns,
        rest_mean_ns: inner.usual_mean_ns,
    })
    .collect()
}

fn hosts(all: &[HostContrast], sampled: &Sampled) -> Vec<HopHost> {
    let host = |host: &HostContrast| {
        let name = usize::try_from(host.host.0).ok().and_then(|at| sampled.hosts.get(at));
        HopHost {
            host: name.cloned().unwrap_or_default(),
            hop: sampled.catalog.text(&[host.class]),
            selected: host.other,
            rest: host.usual,
        }
    };
    let mut hosts: Vec<HopHost> = all.iter().map(host).collect();
    hosts.sort_by_key(|host| std::cmp::Reverse((host.selected, host.rest)));
    hosts.truncate(HOSTS_MAX);
    hosts
}

/// Why there is nothing to compare.
fn nothing(hops: &Hops) -> String {
    let words = match (hops.selected, hops.rest) {
        (0, _) => "nothing is selected",
        (_, 0) => "nothing is left to compare with: everything is selected",
        _ => "rows between root and leaf are missing: no way can be split",
    };
    words.to_owned()
}

/// The cause of the difference in one sentence.
fn sentence(contrast: &Contrast, sampled: &Sampled) -> String {
    let stands_out = |part: &&PartContrast| part.test.is_none_or(|test| test.p_value < P_MAX);
    let Some(cause) = contrast.cause().filter(stands_out) else {
        return "no hop stands out".to_owned();
    };
    let what = match cause.name.kind {
        PartKind::Wait => "the wait before",
        PartKind::Work => "the work of",
    };
    let host = contrast.host_of(cause.name).and_then(|host| {
        let name = usize::try_from(host.0).ok().and_then(|at| sampled.hosts.get(at));
        name.filter(|name| !name.is_empty()).map(|name| format!(" on {name}"))
    });
    let share = if cause.share > 1.0 {
        "more than all".to_owned()
    } else {
        format!("{:.0} %", cause.share * 100.0)
    };
    let class = sampled.class(cause.name);
    let inside = contrast.cause_inside(cause).map(|inner| {
        let means = (cause.usual.mean_ns, cause.other.mean_ns);
        format!(": {}", inner.words(&sampled.catalog.text(&[inner.class]), means))
    });
    let (host, inside) = (host.unwrap_or_default(), inside.unwrap_or_default());
    format!("{share} of the difference is {what} {class}{host}{inside}")
}

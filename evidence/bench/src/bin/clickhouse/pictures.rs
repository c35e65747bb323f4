//! The questions: statistics, picture, marked part of it, and histogram; asked of the cluster and of
//! the files, with the same answers.

use crate::servers::Servers;
use crate::took::{Best, Took};
use anyhow::{Result, ensure};
use chronoscope_query::{
    DurationCache, Limits, Progress, QueryEnvironment, QueryError, Question, Raster, StoreLocation,
    StoreView,
};
use chronoscope_statistics::Scale;
use chronoscope_store::MINUTE_NS;
use serde_json::{Value, json};

/// A question of the page or the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picture {
    Acpd,
    Scatter,
    /// A scattergram of some minutes and of the slower durations.
    Brush,
    Histogram,
}

/// All of them, with their names.
pub(crate) const PICTURES: [(&str, Picture); 4] = [
    ("acpd", Picture::Acpd),
    ("scatter", Picture::Scatter),
    ("brush", Picture::Brush),
    ("histogram", Picture::Histogram),
];

/// Number of durations, and the whole answer in words.
type Answered = (u64, String);

/// Durations of the radar chain.
pub(crate) fn acpd() -> Question {
    Question::acpd("MRTS::decodePlots", "CWP::TargetView_redraw")
}

impl Picture {
    /// Asks a store; `begin_ns` is when its first chain starts.
    pub(crate) fn ask(self, location: &StoreLocation, begin_ns: i64) -> Result<Answered> {
        let question = match self {
            Self::Brush => Question {
                start_ns: begin_ns..begin_ns + 3 * MINUTE_NS,
                duration_ns: 5_000_000..=u64::MAX,
                ..acpd()
            },
            _ => acpd(),
        };
        match self {
            Self::Acpd => statistics(location, &question),
            Self::Histogram => asked_anew(location, |view, asking| {
                let answer = view.ask_again(&question, asking)?;
                Ok((answer.counts.used, format!("{:?} {:?}", answer.counts, answer.distribution)))
            }),
            Self::Scatter | Self::Brush => asked_anew(location, |view, asking| {
                let raster = Raster { width: 600, height: 300, scale: Scale::Log };
                let picture = view.scatter(&question, raster, asking)?;
                Ok((picture.total, format!("{:?} {:?}", picture.cells, picture.paths)))
            }),
        }
    }
}

/// The statistics of a question's durations.
pub(crate) fn statistics(location: &StoreLocation, question: &Question) -> Result<Answered> {
    let answer = location.ask(question, &Limits::default())?;
    Ok((answer.counts.used, format!("{:?} {:?}", answer.counts, answer.distribution)))
}

/// Asks with durations that nobody has found before.
fn asked_anew<T>(
    location: &StoreLocation,
    ask: impl Fn(&StoreView, &QueryEnvironment<'_>) -> Result<T, QueryError>,
) -> Result<T> {
    let (limits, progress, cache) =
        (Limits::default(), Progress::default(), DurationCache::default());
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    Ok(location.with(|view| ask(view, &asking))?)
}

/// Asks a cluster that has linked nothing, once: every chain is put together for this question.
pub(crate) fn linking_at_the_question(
    servers: &Servers,
    ask: impl Fn(&StoreLocation) -> Result<Answered>,
) -> Result<Took> {
    let mut took = Took::default();
    let clickhouse = StoreLocation::open(servers.url())?;
    took.run(servers, || ask(&clickhouse))?;
    Ok(took)
}

/// Asks the cluster and the files the same; the answers have to be the same. Of the cluster what it
/// costs when nothing was fetched yet, and when it was. `before`: what it took when chains were
/// linked at the question.
pub(crate) fn beside(
    repeat: u32,
    servers: &Servers,
    files: &StoreLocation,
    before: Option<Took>,
    ask: impl Fn(&StoreLocation) -> Result<Answered>,
) -> Result<Value> {
    let (mut first, mut again, mut local) = (Best::default(), Best::default(), Best::default());
    let mut durations = 0;
    for _ in 0..repeat.max(1) {
        let clickhouse = StoreLocation::open(servers.url())?;
        let found = first.run(servers, || ask(&clickhouse))?;
        let kept = again.run(servers, || ask(&clickhouse))?;
        let expected = local.run(servers, || ask(files))?;
        ensure!(
            found == expected && kept == expected,
            "the answers differ: {} and {} durations of the cluster, {} of the files",
            found.0,
            kept.0,
            expected.0
        );
        durations = expected.0;
    }
    let (first, again, local) = (first.took()?, again.took()?, local.took()?);
    let mut value = json!({
        "durations": durations,
        "clickhouse": first.of_question(), "clickhouse_again": again.of_question(),
        "files": local.of_question(),
        "wall_by_files": first.seconds() / local.seconds(),
        "our_cpu_by_files": first.cpu_seconds() / local.cpu_seconds(),
    });
    if let Some(before) = before {
        value["linking_at_the_question"] = before.of_question();
        value["our_cpu_by_linking"] = (first.cpu_seconds() / before.cpu_seconds()).into();
    }
    Ok(value)
}

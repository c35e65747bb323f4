//! What one ring has, as `GET /rings/{process}` answers.

use super::cpu;
use super::ring_row::RingRow;
use super::stored::quantiles;
use chronoscope_collect::rings::RingReport;
use chronoscope_model::{Batch, Flags, Transaction};
use chronoscope_record::read::ClassStatistics;
use chronoscope_statistics::Histogram;
use serde::Serialize;
use utoipa::ToSchema;

/// Letters of a transaction's context in words.
const CONTEXT_MAX: usize = 400;

/// The ring of one process, and its contents.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingContent {
    ring: RingRow,
    /// Whether the process measures the CPU time of its threads.
    measures_cpu: bool,
    /// Classes, most transactions first, at most 256.
    classes: Vec<RingClass>,
    /// Further classes.
    classes_left_out: u64,
    /// The last ones by their ends, newest first.
    last: Vec<RingTransaction>,
    /// Open transactions, oldest first, at most 10,000.
    open: Vec<Open>,
    /// Parts of the ring that cannot be read, and why; they are empty here.
    damaged: Vec<String>,
}

/// One class since the process started. Quantiles are at most 3.125 % too large.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingClass {
    /// `APPLICATION::CLASS`.
    class: String,
    /// Whether it is recorded at present (`chronoscope live --disable`).
    enabled: bool,
    count: u64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
    /// Thread CPU time of all of them; null where none has any.
    cpu_ns: Option<u64>,
    /// Distribution of elapsed times.
    elapsed: RingDistribution,
    /// Distribution of thread CPU times; null where they are not measured.
    cpu: Option<RingDistribution>,
    /// The longest, the longest first: as many as the program keeps, by default 10.
    worst: Vec<RingTransaction>,
    /// Those with the most thread CPU time, the most first; empty where it is not measured, and of
    /// a program with an older recorder.
    worst_cpu: Vec<RingTransaction>,
}

/// Times of a class since the process started.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingDistribution {
    count: u64,
    /// Null where nothing has ended.
    mean_ns: Option<f64>,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
    /// Ascending, at most four to every doubling; those without a transaction are left out.
    bins: Vec<RingBin>,
}

/// Times from `from_ns` up to and without `until_ns`.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(super) struct RingBin {
    from_ns: u64,
    until_ns: u64,
    count: u64,
}

/// A transaction that ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RingTransaction {
    class: String,
    /// UTC ns since 1970.
    start_ns: i64,
    /// The same, in ns after the process's start (`ring.started_ns`): small enough to be exact.
    after_ns: i64,
    elapsed_ns: u64,
    /// Thread CPU time; null where it was not measured.
    cpu_ns: Option<u64>,
    status: String,
    chain: String,
    id: String,
    /// Id of its parent, which may be of another process, or no longer in the ring; null of a root.
    parent: Option<String>,
    /// Kernel thread id.
    thread: u32,
    /// Whether its parent did not wait for it.
    asynchronous: bool,
    /// Its properties and metrics: `callsign=DLH123 plots=12`.
    context: String,
}

/// A transaction that has not ended.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Open {
    class: String,
    /// Start time: UTC ns since 1970.
    since_ns: i64,
    /// The same, in ns after the process's start.
    after_ns: i64,
    /// Time for which it has been open.
    age_ns: u64,
    chain: String,
    id: String,
    /// Id of its parent; null of a root.
    parent: Option<String>,
    /// Kernel thread id; that of the thread that started it.
    thread: u32,
    /// Its properties and metrics so far.
    context: String,
}

impl RingContent {
    /// The contents of a ring, of the host of an agent where one is named.
    pub(super) fn new(report: &RingReport, agent: Option<&str>) -> Self {
        let newest_first = |mut all: Vec<RingTransaction>| {
            all.reverse();
            all
        };
        Self {
            ring: RingRow::new(&report.summary, agent),
            measures_cpu: report.measures_cpu,
            classes: report.classes.iter().map(|one| RingClass::new(one, report)).collect(),
            classes_left_out: report.classes_left_out,
            last: newest_first(ended(&report.last, report)),
            open: transactions(&report.open, report).map(|t| Open::new(&t, report)).collect(),
            damaged: report.damage.clone(),
        }
    }
}

impl RingClass {
    fn new(class: &ClassStatistics, report: &RingReport) -> Self {
        let (p50_ns, p99_ns, max_ns) = quantiles(&class.elapsed);
        let cpu_sum_ns = u64::try_from(class.cpu.sum()).unwrap_or(u64::MAX);
        Self {
            class: class.name.to_string(),
            enabled: class.enabled,
            count: class.count,
            p50_ns,
            p99_ns,
            max_ns,
            cpu_ns: cpu::of_sum(cpu_sum_ns).filter(|_| report.measures_cpu),
            elapsed: RingDistribution::new(&class.elapsed),
            cpu: report.measures_cpu.then(|| RingDistribution::new(&class.cpu)),
            worst: ended(&class.worst, report),
            worst_cpu: ended(&class.worst_cpu, report),
        }
    }
}

impl RingDistribution {
    fn new(times: &Histogram) -> Self {
        let (p50_ns, p99_ns, max_ns) = quantiles(times);
        let bins = times.coarse_bins().map(|bin| RingBin {
            from_ns: bin.min,
            until_ns: bin.max.saturating_add(1),
            count: bin.count,
        });
        let (count, mean_ns) = (times.count(), times.mean());
        Self { count, mean_ns, p50_ns, p99_ns, max_ns, bins: bins.collect() }
    }
}

fn transactions<'a>(
    rows: &'a Batch,
    report: &'a RingReport,
) -> impl Iterator<Item = Transaction> + 'a {
    let named = |record| Transaction::from_record(record, rows.context(record), &report.names);
    rows.records().iter().map(named)
}

fn ended(rows: &Batch, report: &RingReport) -> Vec<RingTransaction> {
    let row = |t: Transaction| RingTransaction {
        class: t.class.to_string(),
        start_ns: t.start_ns,
        after_ns: t.start_ns.saturating_sub(report.summary.process.start_ns),
        elapsed_ns: t.elapsed_ns,
        cpu_ns: cpu::of_row(t.cpu_ns, t.flags).filter(|_| report.measures_cpu),
        status: t.status.to_string(),
        chain: t.chain.to_string(),
        id: t.id.to_string(),
        parent: parent(&t),
        thread: t.thread,
        asynchronous: t.flags.contains(Flags::ASYNCHRONOUS),
        context: context(&t),
    };
    transactions(rows, report).map(row).collect()
}

impl Open {
    fn new(t: &Transaction, report: &RingReport) -> Self {
        Self {
            class: t.class.to_string(),
            since_ns: t.start_ns,
            after_ns: t.start_ns.saturating_sub(report.summary.process.start_ns),
            age_ns: t.elapsed_ns,
            chain: t.chain.to_string(),
            id: t.id.to_string(),
            parent: parent(t),
            thread: t.thread,
            context: context(t),
        }
    }
}

fn parent(t: &Transaction) -> Option<String> {
    (!t.parent.is_none()).then(|| t.parent.to_string())
}

/// Properties and metrics in one line.
fn context(t: &Transaction) -> String {
    let properties = t.properties.iter().map(|(key, value)| format!("{key}={value}"));
    let metrics = t.metrics.iter().map(|(key, value)| format!("{key}={value}"));
    let mut words = properties.chain(metrics).collect::<Vec<_>>().join(" ");
    let end = words.floor_char_boundary(CONTEXT_MAX);
    words.truncate(end);
    words
}

//! Questions about attributes: how long they take beside the same question without them, and what
//! attributes take on disk beside plain OTLP in Parquet.
//!
//! Every question is asked of files that were read before, so that the processor is measured and
//! not the disk.

mod plain;
mod spans;

use anyhow::{Context, Result, ensure};
use chronoscope_clock::monotonic_ns;
use chronoscope_query::{
    AttributeRows, AttributeSelection, CONTRAST_SAMPLE, DurationCache, Limits, Progress,
    QueryEnvironment, Question, SlowLimit, ask, ask_again, attribute_names, compared_attributes,
    slow_attributes,
};
use chronoscope_store::Snapshot;
use clap::Parser;
use serde_json::json;
use spans::{fill, key};
use std::path::PathBuf;

/// Filters and groups by attributes over many stored spans, and the bytes of attributes
#[derive(Parser)]
struct Arguments {
    /// Number of chains, of two spans each
    #[arg(long, default_value_t = 1_000_000)]
    chains: u64,
    /// Number of attributes of a span
    #[arg(long, default_value_t = 10)]
    attributes: usize,
    /// Different values of an attribute
    #[arg(long, default_value_t = 1_000)]
    values: u64,
    /// Number of threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Runs of every question; the shortest counts
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    /// Folder for the stores, which are removed at the end [default: the system's]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    ensure!(arguments.attributes >= 2, "--attributes: two or more, to group by two");
    let dir = match &arguments.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let shape = (arguments.chains, arguments.attributes, arguments.values);
    let store = dir.path().join("with");
    let with = fill(&store, shape)?;
    let without = fill(&dir.path().join("without"), (shape.0, 0, shape.2))?;
    let plain = plain::write(&dir.path().join("plain.parquet"), shape)?;
    let times = times(&arguments, &Snapshot::open(&store)?)?;
    let spans = 2.0 * arguments.chains as f64;
    let each = |bytes: u64| bytes as f64 / spans;
    if arguments.json {
        let asked = times.iter().map(|(what, seconds)| json!({ "what": what, "s": seconds }));
        let report = json!({
            "chains": arguments.chains, "attributes": arguments.attributes,
            "values": arguments.values, "threads": arguments.threads,
            "bytes_per_span": each(with), "bytes_per_span_without": each(without),
            "bytes_per_span_plain": each(plain), "contrast_warm_aim_s": CONTRAST_AIM_S, "times": asked.collect::<Vec<_>>(),
        });
        println!("{report:#}");
        return Ok(());
    }
    println!(
        "{} chains of two spans, {} attributes of {} values each, {} threads",
        shape.0, shape.1, shape.2, arguments.threads
    );
    println!("  bytes of a span: {:.1}, {:.1} without attributes", each(with), each(without));
    println!(
        "  plain OTLP in Parquet: {:.1}; ours is {:.2} of it",
        each(plain),
        each(with) / each(plain)
    );
    let first = times.first().context("no question was asked")?.1;
    for (what, seconds) in &times {
        let aim = if what.contains("warm") {
            format!(" (aim over 10,000,000 chains: {CONTRAST_AIM_S} s)")
        } else {
            String::new()
        };
        println!("  {seconds:8.3} s  {:6.2} x  {what}{aim}", seconds / first);
    }
    Ok(())
}

/// How long each question takes, in seconds; the first is without attributes.
fn times(arguments: &Arguments, snapshot: &Snapshot) -> Result<Vec<(String, f64)>> {
    let limits = Limits { threads: arguments.threads, ..Limits::default() };
    let (progress, cache) = (Progress::default(), DurationCache::default());
    let [one, two] = [0, 1].map(key);
    let filter = format!("{one}={}", spans::value(0));
    let of = |filters: &[&String], by: &[&String]| -> Result<Question> {
        let attributes = AttributeSelection::parse(filters, by)?;
        Ok(Question { attributes, ..Question::acpd("shop::checkout", "stock::reserve") })
    };
    let mut times = Vec::new();
    let mut measure = |what: &str, once: &mut dyn FnMut() -> Result<u64>| -> Result<()> {
        let (mut least_ns, mut found) = (u64::MAX, 0);
        for _ in 0..arguments.repeat.max(1) {
            let begin_ns = monotonic_ns();
            found = once()?;
            least_ns = least_ns.min(monotonic_ns().saturating_sub(begin_ns));
        }
        times.push((format!("{what}: {found}"), least_ns as f64 / 1e9));
        Ok(())
    };
    let asked =
        |question: &Question| -> Result<u64> { Ok(ask(snapshot, question, &limits)?.counts.used) };
    let all = of(&[], &[])?;
    measure("no attribute, durations", &mut || asked(&all))?;
    let filtered = of(&[&filter], &[])?;
    measure("one filter, durations", &mut || asked(&filtered))?;
    let groups = |question: &Question| -> Result<u64> {
        let groups = ask(snapshot, question, &limits)?.groups.context("no groups")?;
        Ok(groups.groups.len() as u64)
    };
    let by_one = of(&[], &[&one])?;
    measure("by one key, groups", &mut || groups(&by_one))?;
    let by_two = of(&[&filter], &[&one, &two])?;
    measure("one filter and by two keys, groups", &mut || groups(&by_two))?;
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    let again = || -> Result<u64> { Ok(ask_again(snapshot, &filtered, &asking)?.counts.used) };
    again()?;
    measure("one filter once more, durations", &mut || again())?;
    contrast(snapshot, &all, &limits, &mut measure)?;
    measure("names of attributes", &mut || {
        let start_ns = i64::MIN..i64::MAX;
        let threads = arguments.threads;
        let rows = AttributeRows { start_ns, most: None, threads, progress: &progress };
        Ok(attribute_names(snapshot, &rows)?.names.len() as u64)
    })?;
    Ok(times)
}

/// Aim for a contrast whose durations and attributes were read before, over ten million chains with
/// twenty attributes of a thousand values: in seconds.
const CONTRAST_AIM_S: f64 = 0.3;

/// What is measured, how it is asked once; the shortest of several counts.
type Measure<'m> = dyn FnMut(&str, &mut dyn FnMut() -> Result<u64>) -> Result<()> + 'm;

/// How long it takes to name the attributes of the slowest hundredth, and of one half of the time
/// beside the other: cold, and with what the question before has read.
fn contrast(
    snapshot: &Snapshot,
    question: &Question,
    limits: &Limits,
    measure: &mut Measure<'_>,
) -> Result<()> {
    let progress = Progress::default();
    let most = CONTRAST_SAMPLE;
    let slow = |cache: &DurationCache| -> Result<u64> {
        let asking = QueryEnvironment { limits, progress: &progress, cache };
        let found = slow_attributes(snapshot, question, (SlowLimit::default(), most), &asking)?;
        Ok(found.looked_at)
    };
    let extent = snapshot.extent().context("the store is empty")?;
    let middle = extent.start + (extent.end - extent.start) / 2;
    let [a, b] = [extent.start..middle, middle..extent.end]
        .map(|start_ns| Question { start_ns, ..question.clone() });
    let halves = |cache: &DurationCache| -> Result<u64> {
        let asking = QueryEnvironment { limits, progress: &progress, cache };
        let (a, b) = ((snapshot, &a), (snapshot, &b));
        Ok(compared_attributes(a, b, most, &asking)?.looked_at)
    };
    measure("contrast of the slowest hundredth, cold, values", &mut || {
        slow(&DurationCache::default())
    })?;
    let cache = DurationCache::default();
    slow(&cache)?;
    measure("contrast of the slowest hundredth, warm, values", &mut || slow(&cache))?;
    measure("contrast of two halves, cold, values", &mut || halves(&DurationCache::default()))?;
    let cache = DurationCache::default();
    halves(&cache)?;
    measure("contrast of two halves, warm, values", &mut || halves(&cache))
}

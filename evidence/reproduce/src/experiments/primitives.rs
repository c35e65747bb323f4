//! ETFMS: unit tests of primitives, and the start of a simulation.

use super::{list, number, word};
use crate::outcome::ItemResults;
use crate::picture::{Axis, Chart, Mark, Picture, Series};
use crate::run::Run;
use anyhow::{Context, Result};
use chronoscope_published::Value::Number;
use serde_json::Value;

/// The bench's rows by the document's figures.
const ROWS: [(&str, &str); 9] = [
    ("mutex_normal", "pthread mutex NORMAL"),
    ("mutex_recursive", "pthread mutex RECURSIVE"),
    ("mutex_errorcheck", "pthread mutex ERRORCHECK"),
    ("protected_object_inc", "protected counter, increment (std Mutex)"),
    ("atomic_inc", "atomic increment"),
    ("clock_monotonic", "CLOCK_MONOTONIC (vDSO)"),
    ("clock_thread_cputime", "CLOCK_THREAD_CPUTIME_ID"),
    ("clock_syscall", "clock by a system call"),
    ("volatile_assign", "volatile write"),
];

/// Runs the bench.
///
/// # Errors
/// When it fails.
pub fn run(run: &mut Run<'_>) -> Result<Vec<ItemResults>> {
    let quick = run.quick;
    let mut call = run.call("primitives")?.arg("--json");
    if quick {
        call = call.arg("--quick");
    }
    let printed: Value = call.args(["locks", "clocks", "malloc", "layout"]).json()?;
    // The short form has smaller maps and a tenth of the entries, which the document's figures are
    // not for.
    let whole: Value = run.call("primitives")?.args(["--json", "maps", "simulation"]).json()?;
    let rows = list(&printed, "/rows")?;
    let whole = list(&whole, "/rows")?;
    Ok(vec![primitives(rows)?, maps(whole)?, malloc(rows)?, simulation(whole)?])
}

/// The row that begins so; the least CPU time is what a busy machine still tells.
fn row<'r>(rows: &'r [Value], begins: &str) -> Result<&'r Value> {
    let found = rows.iter().find(|row| word(row, "what") == begins);
    let found = found.or_else(|| rows.iter().find(|row| word(row, "what").starts_with(begins)));
    found.with_context(|| format!("the bench has no row {begins}"))
}

fn cpu_ns(rows: &[Value], begins: &str) -> Result<f64> {
    number(row(rows, begins)?, "/least_cpu_ns")
}

fn primitives(rows: &[Value]) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.primitives");
    for (figure, name) in ROWS {
        let of = row(rows, name)?;
        let median = crate::report::number(number(of, "/median_ns")?);
        let note = format!("least CPU time; median of elapsed times {median}");
        found.figure(figure, number(of, "/least_cpu_ns")?).note(note);
    }
    let timing = cpu_ns(rows, "timing an action")?;
    let ours = cpu_ns(rows, "the same by our recorder")?;
    found
        .figure("timing_an_action", ours)
        .note("begin and end of our recorder: elapsed, thread CPU, record, histograms, worst N")
        .beside("the document's way, four clock reads, here", timing);
    found.own("the document's way over our recorder's", "", timing / ours);
    for (figure, above, below) in [
        ("recursive_to_normal", "mutex_recursive", "mutex_normal"),
        ("errorcheck_to_normal", "mutex_errorcheck", "mutex_normal"),
        ("atomic_to_normal", "atomic_inc", "mutex_normal"),
        ("thread_clock_to_monotonic", "clock_thread_cputime", "clock_monotonic"),
    ] {
        let of = |figure: &str| found.of(figure).and_then(|row| row.ours);
        if let (Some(Number(above)), Some(Number(below))) = (of(above), of(below)) {
            found.figure(figure, above / below);
        }
    }
    Ok(found)
}

fn maps(rows: &[Value]) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.maps");
    let sizes = |kind: &str| -> Vec<(f64, f64)> {
        let of = rows.iter().filter(|row| word(row, "what").starts_with(kind));
        of.filter_map(|row| {
            let count = word(row, "what").rsplit_once(", ")?.1.split(' ').next()?.parse().ok()?;
            Some((count, row["least_cpu_ns"].as_f64()?))
        })
        .collect()
    };
    let (hash, tree) = (sizes("hash map"), sizes("tree"));
    let at = |of: &[(f64, f64)], size: f64| of.iter().find(|(n, _)| *n == size).map(|(_, ns)| *ns);
    let largest = 2_097_152.0;
    let hash_ns = at(&hash, largest).context("no hash map of 2097152")?;
    let row = found.figure("insert_2097152", hash_ns);
    row.note("hash map of the standard library; the document does not say which of its maps it is");
    if let Some(tree_ns) = at(&tree, largest) {
        found.own("the same, a tree (BTreeMap)", "ns", tree_ns);
    }
    let table =
        hash.iter().map(|(size, ns)| vec![(*size).into(), (*ns).into(), at(&tree, *size).into()]);
    found.table("ns an entry, least CPU time", &["entries", "hash map", "tree"], table.collect());
    found.pictures.push(Picture::Chart(Chart {
        title: "Insertion into an empty map".to_owned(),
        x: Axis::log("entries"),
        y: Axis::log("ns an entry"),
        series: vec![
            Series::line("hash map, ours", hash),
            Series::line("document, 2097152 entries", [(largest, 145.91)]),
            Series::line("tree, ours", tree),
        ],
        marks: Vec::<Mark>::new(),
    }));
    Ok(found)
}

fn malloc(rows: &[Value]) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.malloc");
    let fact = |key: &str| {
        let found = rows.iter().find_map(|row| row.pointer(&format!("/fields/{key}"))?.as_f64());
        found.unwrap_or(f64::NAN)
    };
    let (spread, again, orders) = (fact("spread_pct"), fact("again_pct"), fact("orders"));
    found.figure("linking_pct", spread).note(format!(
        "the same allocating code linked in {orders} orders; no instruction differs"
    ));
    found
        .figure("linking_to_repeating", spread / again)
        .note(format!("as many runs of one order spread by {} %", crate::report::number(again)));
    let section = |row: &&Value| word(row, "section").starts_with("malloc and free");
    let table = rows.iter().filter(section).map(|row| {
        let ns = |key: &str| row[key].as_f64().into();
        vec![word(row, "what").into(), ns("median_ns"), ns("least_cpu_ns")]
    });
    found.table(
        "malloc and free of this machine's libc, ns a block",
        &["", "median", "least CPU"],
        table.collect(),
    );
    Ok(found)
}

fn simulation(rows: &[Value]) -> Result<ItemResults> {
    let mut found = ItemResults::new("etfms.simulation");
    let fields = rows.iter().find_map(|row| row.get("fields")).context("no simulation")?;
    found.figure("entries", number(fields, "/entries")?);
    found.figure("start_s", number(fields, "/median_s")?).note("median of three");
    found.own("CPU of all threads", "s", number(fields, "/cpu_s")?);
    Ok(found)
}

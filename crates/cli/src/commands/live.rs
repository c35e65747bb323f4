//! `chronoscope live`: straight from the rings, no server.

use crate::args::{Live, WorstOrder};
use crate::environment::{self, ScreenSize};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::keys::Keys;
use crate::screen::{self, show};
use crate::suggest::did_you_mean;
use crate::text::{self, Table, known_duration};
use crate::times::Zone;
use anyhow::{Context, Result};
use chronoscope_formats::json;
use chronoscope_model::{Batch, ClassId, ClassName, Transaction};
use chronoscope_record::CpuMethod;
use chronoscope_record::read::{
    self, ClassStatistics, Counters, MEMORY_BYTES_MAX, Ring, RingError,
};
use chronoscope_statistics::{CoarseBin, Histogram, Quantile};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// Time within which a key or a signal is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Ended transactions by class of a process at an instant: the basis of a rate.
#[derive(Default)]
struct Sample {
    at_ns: u64,
    counts: HashMap<(u32, ClassId), u64>,
}

/// Runs the command.
pub(crate) fn live(args: &Live) -> Result<Exit> {
    super::open_files::raise_open_files();
    if let Some(class) = args.enable.as_ref().or(args.disable.as_ref()) {
        return switch(args, class, args.enable.is_some());
    }
    let repaint = environment::stdout_is_terminal() && !args.once && !args.json;
    let dead = args.ring.is_some() || args.core.is_some();
    if !repaint || dead {
        let mut rings = rings_and_notes(args)?;
        if args.json {
            show(&format!("{:#}\n", as_json(args, &mut rings)?))?;
        } else if let Some(class) = unknown_histogram(args, &mut rings)? {
            say!("{class}");
            return Ok(Exit::Nothing);
        } else {
            show(&page(args, &mut rings, &mut Sample::default())?)?;
        }
        return Ok(if rings.is_empty() { Exit::Nothing } else { Exit::Done });
    }
    follow(args)
}

/// Repaints the screen until the user ends it.
fn follow(args: &Live) -> Result<Exit> {
    let interrupt = Interrupt::install_for_terminal()?;
    let keys = Keys::take();
    let ends = if keys.is_some() { "q ends" } else { "Ctrl-C ends" };
    let mut sample = Sample::default();
    'painting: while !interrupt.is_set() {
        let (mut rings, notes) = rings(args)?;
        let mut page = match unknown_histogram(args, &mut rings)? {
            Some(unknown) => unknown,
            None => page(args, &mut rings, &mut sample)?,
        };
        page += &notes.join("\n");
        let size = environment::stdout_size().unwrap_or(ScreenSize { columns: 80, rows: 24 });
        screen::show_as_is(&screen::painted(
            &page,
            &format!("every {:?}, {ends}", args.every),
            size,
        ))?;
        let begin_ns = chronoscope_clock::monotonic_ns();
        let left = || {
            let passed_ns = chronoscope_clock::monotonic_ns().saturating_sub(begin_ns);
            args.every.saturating_sub(Duration::from_nanos(passed_ns))
        };
        // Once at least, however short the pause: a key has to be seen.
        loop {
            match &keys {
                Some(keys) if keys.is_quit_pressed(left().min(LOOK_EVERY)) => break 'painting,
                Some(_) => {}
                None => interrupt.sleep(left().min(LOOK_EVERY)),
            }
            if left().is_zero() || interrupt.is_set() {
                break;
            }
        }
    }
    show("\n")?; // what a shell says stands below the page
    Ok(Exit::Done)
}

/// The rings to show; remarks about others go to stderr.
fn rings_and_notes(args: &Live) -> Result<Vec<Ring>> {
    let (rings, notes) = rings(args)?;
    notes.iter().for_each(|note| say!("{note}"));
    Ok(rings)
}

/// The rings that the command is about, and notes: which are left out as they cannot be read, and
/// where there are none.
fn rings(args: &Live) -> Result<(Vec<Ring>, Vec<String>)> {
    if let Some(core) = &args.core {
        let rings = Ring::open_core(core);
        let rings = rings.with_context(|| format!("core dump {}", core.display()))?;
        return Ok((rings, Vec::new()));
    }
    if let Some(path) = &args.ring {
        let ring = Ring::open(path).with_context(|| format!("ring {}", path.display()))?;
        return Ok((vec![ring], Vec::new()));
    }
    let folder = args.rings.clone().unwrap_or_else(read::default_folder);
    let (mut rings, mut notes, mut memory_bytes) = (Vec::new(), Vec::new(), 0);
    for path in read::rings_of(&folder)? {
        // A ring with a damaged part is left out as a whole: nobody knows how much the rest lacks.
        // It is named, and its intact part can still be read from a copy (--ring).
        let whole = Ring::open(&path).and_then(|mut ring| ring.check().map(|()| ring));
        match whole {
            Ok(ring) if is_asked_for(args, &ring) => {
                memory_bytes += ring.memory_bytes();
                if memory_bytes > MEMORY_BYTES_MAX {
                    notes.push(format!(
                        "left out: {} and all later rings: the names in rings take more than \
                         {MEMORY_BYTES_MAX} bytes of memory (--ring FILE shows a single ring)",
                        path.display()
                    ));
                    break;
                }
                rings.push(ring);
            }
            Ok(_) => {}
            Err(error @ (RingError::Refused { .. } | RingError::Io { .. })) => {
                notes.push(format!("left out: {error}"));
            }
            Err(error) => notes.push(format!("left out: {}: {error}", path.display())),
        }
    }
    if rings.is_empty() {
        notes.push(nothing_found(args, &folder));
    }
    rings.sort_by_key(|ring| (ring.process().application.clone(), ring.process().pid));
    Ok((rings, notes))
}

fn is_asked_for(args: &Live, ring: &Ring) -> bool {
    let process = ring.process();
    args.who.as_ref().is_none_or(|who| {
        *who == process.application || who.parse::<u32>().is_ok_and(|pid| pid == process.pid)
    })
}

fn nothing_found(args: &Live, folder: &Path) -> String {
    let whose = args.who.as_ref().map_or_else(String::new, |who| format!(" of {who}"));
    format!(
        "no ring{whose} in {}: is a measured program running, as this user? \
         (--rings DIR or $CHRONOSCOPE_DIR say where to look)",
        folder.display()
    )
}

/// Whether the user's text names a class: `class` or `application::class`.
fn is_meant(class: &ClassName, text: &str) -> bool {
    class.class == text || class.to_string() == text
}

fn switch(args: &Live, class: &str, on: bool) -> Result<Exit> {
    let mut switched = 0;
    for mut ring in rings_and_notes(args)? {
        for known in ring.statistics()? {
            if is_meant(&known.name, class) && ring.set_enabled(known.class, on)? {
                let (process, word) = (ring.process(), if on { "on" } else { "off" });
                let (application, pid) = (&process.application, process.pid);
                show(&format!("{} of {application} pid {pid}: {word}\n", known.name))?;
                switched += 1;
            }
        }
    }
    if switched == 0 {
        let known = classes(&mut rings(args)?.0)?;
        say!("no ring has a class {class}.{}", did_you_mean(class, &known));
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// The classes that rings know.
fn classes(rings: &mut [Ring]) -> Result<Vec<ClassName>> {
    let mut known = Vec::new();
    for ring in rings {
        known.extend(ring.statistics()?.into_iter().map(|class| class.name));
    }
    Ok(known)
}

/// The error when a histogram is requested of a class that has none.
fn unknown_histogram(args: &Live, rings: &mut [Ring]) -> Result<Option<String>> {
    let Some(class) = &args.histogram else { return Ok(None) };
    for ring in &mut *rings {
        let statistics = ring.statistics()?;
        if statistics.iter().any(|known| is_meant(&known.name, class) && known.elapsed.count() > 0)
        {
            return Ok(None);
        }
    }
    let meant = did_you_mean(class, &classes(rings)?);
    Ok(Some(format!(
        "no ring has a transaction of class {class}.{meant} (chronoscope live shows the classes)"
    )))
}

/// The page in words.
fn page(args: &Live, rings: &mut [Ring], sample: &mut Sample) -> Result<String> {
    let zone = Zone::new(args.utc);
    if let Some(count) = args.last {
        return Ok(list(&last(rings, count)?, &zone));
    }
    if args.open {
        return open(rings, &zone);
    }
    if let Some(class) = &args.histogram {
        return histograms(rings, class);
    }
    let mut page = String::new();
    let is_folded = folds_ended(args, rings);
    let now = Sample { at_ns: chronoscope_clock::monotonic_ns(), counts: HashMap::new() };
    let before = std::mem::replace(sample, now);
    for ring in rings.iter_mut().filter(|ring| !is_folded || ring.is_alive()) {
        page += &headline(ring)?;
        let classes = ring.statistics()?;
        match args.worst {
            Some(count) => page += &worst(ring, &classes, args.by, count, &zone),
            None => page += &statistics(ring, &classes, &before, sample),
        }
        page.push('\n');
    }
    if is_folded {
        page += &ended(rings)?;
    }
    Ok(page)
}

/// Whether ended programs are only counted. Where nothing runs, or a ring was named, they are what
/// there is to see.
fn folds_ended(args: &Live, rings: &[Ring]) -> bool {
    let is_named = args.ring.is_some() || args.core.is_some();
    !args.ended && !is_named && rings.iter().any(Ring::is_alive)
}

/// The programs that have ended, in one line; nothing where all run.
fn ended(rings: &[Ring]) -> Result<String> {
    let mut programs: BTreeMap<&str, u64> = BTreeMap::new();
    let mut lost = 0;
    for ring in rings.iter().filter(|ring| !ring.is_alive()) {
        *programs.entry(&ring.process().application).or_default() += 1;
        lost += dropped(&ring.counters()?).iter().map(|(_, count)| count).sum::<u64>();
    }
    if programs.is_empty() {
        return Ok(String::new());
    }
    let all: u64 = programs.values().sum();
    let names: Vec<_> = programs.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let names = names.join(", ");
    let lost = if lost > 0 { format!(" · LOST {}", text::count(lost)) } else { String::new() };
    Ok(format!("ended: {}{lost} (--ended lists them): {names}\n", text::count(all)))
}

fn headline(ring: &Ring) -> Result<String> {
    let process = ring.process();
    let state = if ring.is_alive() { "running" } else { "ended" };
    let mut line = format!(
        "{} · pid {} on {} · {state} · thread CPU by {:?}",
        process.application,
        process.pid,
        process.host,
        ring.cpu_method()
    );
    for (reason, count) in dropped(&ring.counters()?).into_iter().filter(|(_, n)| *n > 0) {
        write!(line, " · LOST {} ({reason})", text::count(count))?;
    }
    line.push('\n');
    Ok(line)
}

fn dropped(counters: &Counters) -> [(&'static str, u64); 7] {
    [
        ("too_deep", counters.too_deep),
        ("classes_full", counters.classes_full),
        ("started_full", counters.started_full),
        ("no_space", counters.no_space),
        ("thread_ended", counters.thread_ended),
        ("out_of_order", counters.out_of_order),
        ("names_full", counters.names_full),
    ]
}

fn statistics(
    ring: &Ring,
    classes: &[ClassStatistics],
    before: &Sample,
    now: &mut Sample,
) -> String {
    let mut table =
        Table::new(&["class", "per s", "count", "mean", "p50", "p99", "max", "CPU mean", ""]);
    let age_ns = chronoscope_clock::utc_now_ns().saturating_sub(ring.process().start_ns).max(1);
    for class in classes {
        let key = (ring.process().pid, class.class);
        now.counts.insert(key, class.count);
        let rate = match before.counts.get(&key) {
            Some(earlier) => {
                let span = now.at_ns.saturating_sub(before.at_ns).max(1);
                class.count.saturating_sub(*earlier) as f64 * 1e9 / span as f64
            }
            None => class.count as f64 * 1e9 / age_ns as f64,
        };
        let time = |ns: Option<u64>| known_duration(ns.map(|ns| ns as f64));
        table.row(vec![
            class.name.class.clone(),
            format!("{rate:.1}"),
            text::count(class.count),
            known_duration(class.elapsed.mean()),
            time(class.elapsed.quantile(Quantile::P50)),
            time(class.elapsed.quantile(Quantile::P99)),
            time(class.elapsed.max()),
            known_duration(class.cpu.mean().filter(|_| knows_cpu(ring))),
            if class.enabled { "" } else { "off" }.to_owned(),
        ]);
    }
    table.to_string()
}

fn worst(
    ring: &Ring,
    classes: &[ClassStatistics],
    by: WorstOrder,
    count: usize,
    zone: &Zone,
) -> String {
    let mut page = String::new();
    for class in classes {
        let cases = match by {
            WorstOrder::Elapsed => &class.worst,
            WorstOrder::Cpu => &class.worst_cpu,
        };
        if !cases.is_empty() {
            page += &list(&first(transactions(cases, ring), count), zone);
        }
    }
    if page.is_empty() && by == WorstOrder::Cpu {
        page +=
            "no worst by CPU time: this program does not measure it, or its recorder is older\n";
    }
    page
}

fn first(mut all: Vec<Shown>, count: usize) -> Vec<Shown> {
    all.truncate(count);
    all
}

/// Whether a ring's program measures CPU time; else it is 0 in every record.
fn knows_cpu(ring: &Ring) -> bool {
    ring.cpu_method() != CpuMethod::Off
}

/// A transaction, and its CPU time where that is known. The record has no bit for that.
struct Shown {
    transaction: Transaction,
    cpu_ns: Option<u64>,
}

impl Shown {
    fn json(&self) -> Value {
        let mut value = json::transaction(&self.transaction);
        value["cpu_ns"] = self.cpu_ns.into();
        value
    }
}

fn transactions(batch: &Batch, ring: &Ring) -> Vec<Shown> {
    let words = |r| {
        let transaction = Transaction::from_record(r, batch.context(r), ring.names());
        Shown { cpu_ns: transaction.known_cpu_ns().filter(|_| knows_cpu(ring)), transaction }
    };
    batch.records().iter().map(words).collect()
}

/// The last `count` of all rings together, oldest first.
fn last(rings: &mut [Ring], count: usize) -> Result<Vec<Shown>> {
    let mut all = Vec::new();
    for ring in rings {
        all.extend(transactions(&ring.last(count)?, ring));
    }
    let end_ns = |t: &Transaction| t.start_ns.saturating_add_unsigned(t.elapsed_ns);
    all.sort_by_key(|shown| end_ns(&shown.transaction));
    all.drain(..all.len().saturating_sub(count));
    Ok(all)
}

/// Transactions, a line each.
fn list(transactions: &[Shown], zone: &Zone) -> String {
    let heading = format!("start ({})", zone.name());
    let mut table =
        Table::new(&[&heading, "class", "elapsed", "CPU", "status", "chain", "context"]);
    for Shown { transaction: t, cpu_ns } in transactions {
        table.row(vec![
            zone.instant(t.start_ns),
            t.class.to_string(),
            text::duration(t.elapsed_ns as f64),
            known_duration(cpu_ns.map(|ns| ns as f64)),
            t.status.to_string(),
            t.chain.to_string(),
            context(t),
        ]);
    }
    table.to_string()
}

/// Properties and metrics in one line: `callsign=DLH123 plots=12`.
fn context(t: &Transaction) -> String {
    let properties = t.properties.iter().map(|(key, value)| format!("{key}={value}"));
    let metrics = t.metrics.iter().map(|(key, value)| format!("{key}={value}"));
    properties.chain(metrics).collect::<Vec<_>>().join(" ")
}

fn open_of(ring: &mut Ring) -> Result<Vec<Shown>> {
    let open = ring.open_transactions()?;
    // CPU time is measured at the end.
    let words = |o: &read::OpenTransaction| Shown {
        transaction: Transaction::from_record(&o.record, &o.context, ring.names()),
        cpu_ns: None,
    };
    Ok(open.iter().map(words).collect())
}

fn open(rings: &mut [Ring], zone: &Zone) -> Result<String> {
    let mut page = String::new();
    for ring in rings {
        page += &headline(ring)?;
        let open = open_of(ring)?;
        page += &if open.is_empty() { "nothing is open\n".to_owned() } else { list(&open, zone) };
        page.push('\n');
    }
    Ok(page)
}

fn histograms(rings: &mut [Ring], class: &str) -> Result<String> {
    let (mut elapsed, mut cpu) = (Histogram::default(), Histogram::default());
    for ring in rings {
        for known in ring.statistics()?.iter().filter(|known| is_meant(&known.name, class)) {
            elapsed.merge(&known.elapsed);
            cpu.merge(&known.cpu);
        }
    }
    Ok(format!("{class}: elapsed\n{}\nthread CPU\n{}", rows(&elapsed), rows(&cpu)))
}

/// A histogram as rows, at most four for each doubling, so that decades fit on a screen.
fn rows(histogram: &Histogram) -> String {
    let bins: Vec<CoarseBin> = histogram.coarse_bins().collect();
    let largest = bins.iter().map(|bin| bin.count).max().unwrap_or(0);
    let mut table = Table::new(&["up to", "count", ""]);
    for CoarseBin { max, count, .. } in bins {
        table.row(vec![
            text::duration(max as f64),
            text::count(count),
            format!("{:<40}", text::bar(count, largest, 40)),
        ]);
    }
    table.to_string()
}

fn as_json(args: &Live, rings: &mut [Ring]) -> Result<Value> {
    let mut shown = Vec::new();
    for ring in rings {
        let mut value = json!({
            "process": json::process(ring.process()),
            "running": ring.is_alive(),
            "cpu_method": format!("{:?}", ring.cpu_method()),
            "dropped": dropped(&ring.counters()?).into_iter()
                .map(|(reason, n)| (reason.to_owned(), n.into()))
                .collect::<serde_json::Map<_, Value>>(),
        });
        let list = |all: Vec<Shown>| all.iter().map(Shown::json).collect::<Value>();
        if let Some(count) = args.last {
            value["last"] = list(transactions(&ring.last(count)?, ring));
        } else if args.open {
            value["open"] = list(open_of(ring)?);
        } else {
            let chosen = |c: &&ClassStatistics| {
                args.histogram.as_ref().is_none_or(|text| is_meant(&c.name, text))
            };
            let classes = ring.statistics()?;
            let classes = classes.iter().filter(chosen).map(|c| class_json(args, ring, c));
            value["classes"] = classes.collect();
        }
        shown.push(value);
    }
    Ok(json::document("rings", shown.into()))
}

fn class_json(args: &Live, ring: &Ring, class: &ClassStatistics) -> Value {
    let mut value = json::class(&class.name);
    value["enabled"] = class.enabled.into();
    value["count"] = class.count.into();
    value["elapsed"] = json::histogram(&class.elapsed);
    value["cpu"] = if knows_cpu(ring) { json::histogram(&class.cpu) } else { Value::Null };
    for (key, cases) in [("worst", &class.worst), ("worst_cpu", &class.worst_cpu)] {
        let shown = first(transactions(cases, ring), args.worst.unwrap_or(usize::MAX));
        value[key] = shown.iter().map(Shown::json).collect();
    }
    value
}

//! The report of a replay in words.

use crate::text::{Table, UNKNOWN, bar, count, duration, percent};
use crate::times::Zone;
use chronoscope_replay::scenario::{Difference, ProcessReport, Report, StoredReport, WindowReport};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Columns of the picture's bars.
const BAR_COLUMNS: usize = 30;

/// Virtual time: hours, minutes and seconds.
pub(super) fn span(time: Duration) -> String {
    let s = time.as_secs();
    format!("{:02}:{:02}:{:02}.{:03}", s / 3600, s / 60 % 60, s % 60, time.subsec_millis())
}

/// A command line of a child, short enough for a table.
fn short(name: &str) -> String {
    let mut text: String = name.chars().take(28).collect();
    if text.len() < name.len() {
        text.push('…');
    }
    text
}

pub(super) fn words(report: &Report, out: &Path) -> String {
    let mut text = String::new();
    let ns = |ns: u64| duration(ns as f64);
    let inputs: u64 = report.inputs.iter().map(|input| input.inputs).sum();
    let _ = writeln!(
        text,
        "{}: {} in {} ({}, factor {:.0}); {} inputs, {} grants, {} moves of the clock",
        report.scenario,
        span(Duration::from_nanos(report.virtual_ns)),
        ns(report.real_ns),
        report.mode,
        report.factor,
        count(inputs),
        count(report.grants),
        count(report.moves),
    );
    if let Some(window) = &report.window {
        text += &window_words(window);
    }
    if report.paused_ns > 0 {
        let _ = writeln!(text, "paused for {}", ns(report.paused_ns));
    }
    let _ = write!(text, "\n{}", process_table(report));
    if report.processes.iter().any(|process| process.heap.is_some()) {
        let _ = write!(text, "\n{}", heap_table(report));
    }
    if !report.inputs.is_empty() {
        let _ = write!(text, "\n{}", input_table(report));
    }
    text += &recordings(report);
    for stranger in &report.strangers {
        let _ = writeln!(text, "stranger: {stranger} does not take part");
    }
    for remark in &report.remarks {
        let _ = writeln!(text, "remark: {remark}");
    }
    if let Some(stored) = &report.stored {
        text += &stored_words(stored);
    }
    let _ = writeln!(text, "\nreport and outputs: {}", out.display());
    text
}

fn window_words(window: &WindowReport) -> String {
    let before = Duration::from_nanos(window.lead_in_virtual_ns);
    let cpu = duration(window.lead_in_cpu_ns as f64);
    format!(
        "window from {}; the lead-in before it, {} in {} ({cpu} of CPU), is not in the figures\n",
        Zone::new(true).instant(window.from_utc_ns),
        span(before),
        duration(window.lead_in_real_ns as f64),
    )
}

/// Deliveries of each input, and what was left out.
fn input_table(report: &Report) -> Table {
    let is_thinned = report.inputs.iter().any(|input| input.one_of > 1);
    let has_lead_in = report.inputs.iter().any(|input| input.lead_in_inputs > 0);
    let mut heading = vec!["input", "delivered", "octets", "not delivered", "answers"];
    heading.extend(is_thinned.then_some(["one of", "left out"]).into_iter().flatten());
    heading.extend(has_lead_in.then_some("in the lead-in"));
    let mut table = Table::new(&heading);
    for input in &report.inputs {
        let mut row = vec![
            input.name.clone(),
            count(input.inputs),
            count(input.bytes),
            count(input.undelivered),
            count(input.answer_bytes),
        ];
        if is_thinned {
            row.extend([count(input.one_of), count(input.thinned)]);
        }
        if has_lead_in {
            row.push(count(input.lead_in_inputs));
        }
        table.row(row);
    }
    table
}

/// Where an input has several recordings: their times, and the gaps between them.
fn recordings(report: &Report) -> String {
    let mut text = String::new();
    let at = |at_ns: Option<i64>| {
        at_ns.map_or_else(|| UNKNOWN.to_owned(), |at_ns| Zone::new(true).instant(at_ns))
    };
    for input in &report.inputs {
        for recording in &input.recordings {
            let gap = recording.gap_ns.map_or_else(String::new, |gap_ns| {
                format!("; {} after the one before", span(Duration::from_nanos(gap_ns)))
            });
            let overlap = match recording.overlapping {
                0 => String::new(),
                n => format!("; {} arrivals are from before its end, and came after", count(n)),
            };
            let _ = writeln!(
                text,
                "{}: {}: {} arrivals, {} to {}{gap}{overlap}",
                input.name,
                recording.path.display(),
                count(recording.arrivals),
                at(recording.first_utc_ns),
                at(recording.last_utc_ns),
            );
        }
    }
    text
}

/// Heap of each process, in octets as they were requested; and its memory.
fn heap_table(report: &Report) -> Table {
    let heading = ["heap", "allocations", "allocated", "most at once", "at the end", "resident"];
    let mut table = Table::new(&heading);
    for process in &report.processes {
        let Some(heap) = &process.heap else { continue };
        table.row(vec![
            short(&process.name),
            count(heap.allocations),
            count(heap.allocated_bytes),
            count(heap.bytes_max),
            count(heap.live_bytes),
            process.rss_bytes_end.map_or_else(|| UNKNOWN.to_owned(), count),
        ]);
    }
    table
}

/// Resources used by each process and by the coordinator.
fn process_table(report: &Report) -> Table {
    let ns = |ns: u64| duration(ns as f64);
    let cpu = |process: &ProcessReport| process.usage.user_ns + process.usage.system_ns;
    let all = report.coordinator_cpu_ns + report.processes.iter().map(cpu).sum::<u64>();
    let most = report.processes.iter().map(cpu).max().unwrap_or(0).max(report.coordinator_cpu_ns);
    let heading = [
        "process",
        "CPU",
        "of all",
        "",
        "user",
        "system",
        "instructions",
        "grants",
        "calls",
        "exit",
    ];
    let mut table = Table::new(&heading);
    for process in &report.processes {
        let (user, system) = (process.usage.user_ns, process.usage.system_ns);
        table.row(vec![
            short(&process.name),
            ns(cpu(process)),
            percent(cpu(process), all),
            format!("{:<BAR_COLUMNS$}", bar(cpu(process), most, BAR_COLUMNS)),
            ns(user),
            ns(system),
            process.comparable_instructions().map_or("–".to_owned(), count),
            count(process.grants),
            count(process.syscalls),
            process.exit.clone().unwrap_or_default().replace("exit status: ", ""),
        ]);
    }
    table.row(vec![
        "(coordinator, player)".to_owned(),
        ns(report.coordinator_cpu_ns),
        percent(report.coordinator_cpu_ns, all),
        format!("{:<BAR_COLUMNS$}", bar(report.coordinator_cpu_ns, most, BAR_COLUMNS)),
    ]);
    table
}

fn stored_words(stored: &StoredReport) -> String {
    let mut text = format!(
        "\nrecorded: {} transactions of {} processes into {}, {} lost\n",
        count(stored.rows),
        stored.rings,
        stored.data.display(),
        count(stored.lost_rows),
    );
    if stored.lost_rows > 0 {
        text += "  they were overwritten before they could be read: a larger CHRONOSCOPE_SLOTS in \
                 the scenario's [environment] keeps more\n";
    }
    if stored.unrecorded > 0 {
        let _ = writeln!(text, "  {} not recorded for want of space", count(stored.unrecorded));
    }
    for ring in &stored.unreadable {
        let _ = writeln!(text, "  unreadable: {ring}");
    }
    if stored.rings == 0 {
        text += "  no program carries the recorder\n";
    }
    text
}

/// Whether two replays are the same, and where not.
pub(super) fn verdict(reports: &[Report], differences: &[Difference]) -> String {
    let [first, second] = reports else { return String::new() };
    if differences.is_empty() {
        let bytes: u64 = first.outputs.iter().map(|output| output.bytes).sum();
        let mut text = format!(
            "\nboth replays are the same: {} octets in {} files, calls, waits and reads of the clock\n",
            count(bytes),
            first.outputs.len()
        );
        for (a, b) in first.processes.iter().zip(&second.processes) {
            if let (Some(x), Some(y)) = (a.comparable_instructions(), b.comparable_instructions()) {
                let ppm = x.abs_diff(y) as f64 * 1e6 / x.max(1) as f64;
                let _ = writeln!(text, "  {}: instructions within {ppm:.2} ppm", short(&a.name));
            }
        }
        return text;
    }
    let mut text = format!("\n{} differences between the two replays:\n", differences.len());
    for difference in differences.iter().take(50) {
        let _ = writeln!(text, "  {difference}");
    }
    text
}

/// Whether a window is the same with its lead-in and with all of the recording before it.
pub(super) fn lead_in_verdict(report: &Report, differ: &[String]) -> String {
    let files = report.outputs.len();
    if differ.is_empty() {
        return format!(
            "\nthe lead-in is long enough: what was written in the window is the same with all of \
             the recording before it, in {files} files\n"
        );
    }
    let mut text = format!(
        "\nthe lead-in is too short, or a program writes what it did since its begin: with all of \
         the recording before it other octets were written in the window, in {} files:\n",
        differ.len()
    );
    for path in differ.iter().take(50) {
        let _ = writeln!(text, "  {path}");
    }
    text
}

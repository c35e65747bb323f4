//! Output of the bench.

use chronoscope_radar::day::Settings;
use chronoscope_replay::scenario::{ProcessReport, Report};

/// The published: hours for a day of replay, and hours for one hour under Callgrind.
const DOCUMENT_DAY_H: f64 = 13.0;
const DOCUMENT_CALLGRIND_H: f64 = 26.0;

fn s(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn cpu_s(process: &ProcessReport) -> f64 {
    s(process.usage.user_ns + process.usage.system_ns)
}

/// Prints one replay: speed, the coordinator's cost of an event, use of the processors.
pub(crate) fn step(title: &str, report: &Report) {
    let inputs: u64 = report.inputs.iter().map(|input| input.inputs).sum();
    let undelivered: u64 = report.inputs.iter().map(|input| input.undelivered).sum();
    let (virtual_s, real_s) = (s(report.virtual_ns), s(report.real_ns));
    let own_s = s(report.coordinator_cpu_ns);
    println!("\n{title}");
    println!(
        "  {virtual_s:.0} s in {real_s:.1} s: {:.0} times as fast; {inputs} inputs ({undelivered} \
         not delivered), {} grants, {} moves of the clock, {:.0} inputs/s",
        report.factor,
        report.grants,
        report.moves,
        inputs as f64 / real_s
    );
    println!(
        "  coordinator: {own_s:.1} s CPU, {:.2} µs an input, {:.2} µs a grant",
        own_s * 1e6 / inputs.max(1) as f64,
        own_s * 1e6 / report.grants.max(1) as f64
    );
    for process in &report.processes {
        let usage = process.usage;
        println!(
            "  {:<12} {:>8.1} s user {:>8.1} s system  {:>9} grants {:>11} system calls {:>5} MB",
            process.name,
            s(usage.user_ns),
            s(usage.system_ns),
            process.grants,
            process.syscalls,
            usage.rss_bytes_max >> 20
        );
    }
    println!("  bound by: {}", bound(report));
}

/// The process that used most of the real time, and the share of two processors that all used
/// together.
fn bound(report: &Report) -> String {
    let real_s = s(report.real_ns);
    let own = ("the coordinator".to_owned(), s(report.coordinator_cpu_ns));
    let mut all: Vec<(String, f64)> =
        report.processes.iter().map(|process| (process.name.clone(), cpu_s(process))).collect();
    all.push(own);
    let sum_s: f64 = all.iter().map(|(_, cpu_s)| cpu_s).sum();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let share = |cpu_s: f64| 100.0 * cpu_s / real_s;
    let shares: Vec<String> =
        all.iter().map(|(name, cpu_s)| format!("{name} {:.0} %", share(*cpu_s))).collect();
    format!("{} of the real time; {:.2} processors in all", shares.join(", "), sum_s / real_s)
}

/// Ours and the published, where they can be held against each other at all.
pub(crate) fn beside_the_document(results: &[Report], size: &Settings, callgrind_s: u64) {
    let [day, hour, callgrind] = results else { return };
    let real_h = |report: &Report| s(report.real_ns) / 3600.0;
    let scaled_h = real_h(callgrind) * 3600.0 / callgrind_s as f64;
    println!("\n{:<44} {:>12} {:>12}", "", "here", "document");
    let row = |name: &str, here_h: f64, there: &str| {
        println!("{name:<44} {:>10.2} h {there:>12}", here_h);
    };
    let hours = size.length_s / 3600.0;
    row(&format!("{hours:.0} h, parallel"), real_h(day), &format!("{DOCUMENT_DAY_H:.0} h"));
    row("an hour at its busiest, serial", real_h(hour) * 3600.0 / s(hour.virtual_ns), "");
    let document = format!("{DOCUMENT_CALLGRIND_H:.0} h");
    row(&format!("the same under Callgrind, from {callgrind_s} s"), scaled_h, &document);
}

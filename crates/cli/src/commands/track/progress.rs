//! Progress of the measurement of a suite.

use crate::screen;
use chronoscope_track::report::figure;
use chronoscope_track::run::{Measured, Progress};

/// Prints progress on stderr: a line for each item, and on a terminal the running one.
pub(super) fn say(quiet: bool) -> impl FnMut(Progress<'_>) {
    move |progress| {
        if quiet {
            return;
        }
        on_terminal(&progress);
        if let Progress::End(measured) = progress {
            say!("{}", line(measured));
        }
    }
}

/// Prints the running item, on a terminal.
pub(super) fn on_terminal(progress: &Progress<'_>) {
    match progress {
        Progress::Begin { number, of, name } => screen::progress(&format!("{number}/{of} {name}")),
        Progress::Profiled { name, run } => {
            screen::progress(&format!("{name}: execution {run} under Callgrind is over"));
        }
        Progress::End(_) => screen::progress(""),
    }
}

/// One item in a line.
fn line(measured: &Measured) -> String {
    if let Some(failure) = &measured.failure {
        return format!("{}: FAILED: {failure}", measured.name);
    }
    let processes = measured.processes.iter().map(|process| {
        let of = |name: &str| process.median(name).map(|value| figure(name, value));
        let counted = of("instructions").unwrap_or("no".to_owned());
        let times = [("user", "user_ns"), ("system", "system_ns"), ("elapsed", "elapsed_ns")];
        let times =
            times.into_iter().filter_map(|(word, name)| Some(format!("{word} {}", of(name)?)));
        let times: Vec<_> = times.collect();
        let name = if process.name == measured.name { "" } else { &process.name };
        format!("{name} {counted} instructions, {}", times.join(", ")).trim_start().to_owned()
    });
    let processes: Vec<_> = processes.collect();
    let discarded = match measured.discarded.len() {
        0 => String::new(),
        n => format!("; {n} executions discarded, their counters contradicted each other"),
    };
    format!("{}: {}{discarded}", measured.name, processes.join("; "))
}

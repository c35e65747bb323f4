//! Named figures of one execution.

use chronoscope_replay::scenario::{ProcessReport, Report};
use serde_json::Value;

use super::Figures;
use crate::counters::heap::ProcessHeap;
use crate::counters::{Beyond, Counts, Run};

/// All figures of one execution. Instructions, branches, cycles and the kernel's counts have fixed
/// names; every other count has the name of its field.
pub(super) fn of(run: &Run) -> Figures {
    let mut figures = Figures::new();
    match &run.counts {
        Counts::Hardware { instructions, branches, cycles } => {
            figures.insert("branches".to_owned(), branches.count);
            figures.insert("cycles".to_owned(), cycles.count);
            figures.insert("instructions".to_owned(), instructions.count);
            figures.insert("corrected".to_owned(), run.corrected());
        }
        Counts::Callgrind { instructions, allocations, syscalls, syscalls_cpu_ns } => {
            figures.insert("instructions".to_owned(), *instructions);
            figures.insert("allocations".to_owned(), *allocations);
            figures.insert("syscalls".to_owned(), *syscalls);
            figures.insert("syscalls_cpu_ns".to_owned(), *syscalls_cpu_ns);
        }
    }
    if let Ok(Value::Object(fields)) = serde_json::to_value(run) {
        for (name, value) in fields {
            match name.as_str() {
                "counts" | "beyond" => {}
                "usage" => flatten("", &value, &mut figures),
                name => flatten(name, &value, &mut figures),
            }
        }
    }
    figures
}

/// Heap and system calls of all processes of a unit together; what could not be counted is left out.
pub(super) fn beyond(beyond: &Beyond) -> Figures {
    let mut figures = Figures::new();
    if let Some(heap) = beyond.heap.counted() {
        let sum = |of: &dyn Fn(&ProcessHeap) -> u64| heap.processes.iter().map(of).sum::<u64>();
        figures.insert("allocations".to_owned(), heap.allocations());
        figures.insert("allocated_bytes".to_owned(), heap.bytes());
        figures.insert("heap_held_bytes".to_owned(), sum(&|process| process.held_bytes));
        figures.insert("heap_bytes_max".to_owned(), sum(&|process| process.held_bytes_max));
    }
    if let Some(syscalls) = beyond.syscalls.counted() {
        figures.insert("syscalls".to_owned(), syscalls.total());
        figures.insert("syscalls_steady".to_owned(), syscalls.steady());
    }
    figures
}

/// Figures of a replay as a whole: its elapsed time, and sums over all processes of what each has.
pub(super) fn of_whole(report: &Report) -> Figures {
    let all: Vec<Figures> = report.processes.iter().map(of_replayed).collect();
    let sum = |name: &str| all.iter().map(|one| one.get(name).copied()).sum::<Option<u64>>();
    let summed = ["instructions", "user_ns", "system_ns", "syscalls"];
    let sums = summed.iter().filter_map(|name| Some(((*name).to_owned(), sum(name)?)));
    let mut figures: Figures = sums.collect();
    figures.insert("elapsed_ns".to_owned(), report.real_ns);
    figures
}

/// Heap of a replay's process, by the names that a unit's has; `None` where it was not counted.
pub(super) fn heap_of_replayed(process: &ProcessReport) -> Option<Figures> {
    let heap = process.heap?;
    let figures = [
        ("allocations", heap.allocations),
        ("allocated_bytes", heap.allocated_bytes),
        ("heap_held_bytes", heap.live_bytes),
        ("heap_bytes_max", heap.bytes_max),
    ];
    Some(figures.map(|(name, count)| (name.to_owned(), count)).into())
}

/// Sums of the heaps of a replay's processes.
pub(super) fn heap_of_whole(report: &Report) -> Figures {
    let mut sums = Figures::new();
    for (name, count) in report.processes.iter().filter_map(heap_of_replayed).flatten() {
        *sums.entry(name).or_default() += count;
    }
    sums
}

/// Figures of a replay's process. Callgrind's instructions exclude the preload library through
/// which it takes part.
pub(super) fn of_replayed(process: &ProcessReport) -> Figures {
    let mut figures = Figures::new();
    if process.method == "callgrind" {
        figures.extend(process.comparable_instructions().map(|n| ("instructions".to_owned(), n)));
    } else {
        let counts = [
            ("instructions", process.instructions),
            ("branches", process.branches),
            ("corrected", process.corrected),
        ];
        figures.extend(counts.into_iter().filter_map(|(name, n)| Some((name.to_owned(), n?))));
    }
    let counts = [
        ("syscalls", process.syscalls),
        ("waits", process.waits),
        ("threads", process.threads),
        ("grants", process.grants),
        ("clock_reads", process.clock_reads),
    ];
    figures.extend(counts.map(|(name, count)| (name.to_owned(), count)));
    if let Ok(usage) = serde_json::to_value(process.usage) {
        flatten("", &usage, &mut figures);
    }
    figures
}

/// Numbers below a field, their names joined by dots.
fn flatten(path: &str, value: &Value, figures: &mut Figures) {
    match value {
        Value::Number(number) => {
            if let Some(count) = number.as_u64() {
                figures.entry(path.to_owned()).or_insert(count);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let dot = if path.is_empty() { "" } else { "." };
                flatten(&format!("{path}{dot}{name}"), value, figures);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Reading, Usage};

    #[test]
    fn figures_have_the_names_of_the_format() {
        let reading = |count| Reading { count, enabled_ns: 5, running_ns: 5 };
        let counts = Counts::Hardware {
            instructions: reading(1000),
            branches: reading(200),
            cycles: reading(700),
        };
        let usage = Usage { user_ns: 9, rss_bytes_max: 4096, ..Usage::default() };
        let found = of(&Run { usage, counts, beyond: None });
        let of = |name: &str| found.get(name).copied();
        assert_eq!([of("instructions"), of("corrected")], [Some(1000), Some(800)]);
        assert_eq!([of("user_ns"), of("rss_bytes_max")], [Some(9), Some(4096)]);
        assert_eq!(of("elapsed_ns"), Some(0));
        assert!(!found.contains_key("enabled_ns"));
    }
}

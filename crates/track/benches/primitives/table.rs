//! Rows as they are measured, and the statistics that stand noise: median and least of batches, and
//! CPU time, which leaves out what other programs took of the processors.

use std::hint::black_box;

use chronoscope_clock as clock;
use serde_json::{Value, json};

/// Time of one operation of a batch.
#[derive(Clone, Copy)]
pub(crate) struct Batch {
    /// From begin to end, in nanoseconds.
    pub(crate) ns: f64,
    /// Of all threads together, in nanoseconds of CPU.
    pub(crate) cpu_ns: f64,
}

/// Prints row by row, or keeps the rows for JSON.
pub(crate) struct Table {
    as_json: bool,
    section: String,
    rows: Vec<Value>,
}

impl Table {
    pub(crate) fn begin(as_json: bool) -> Table {
        let table = Table { as_json, section: String::new(), rows: Vec::new() };
        table.say(&format!(
            "{:<52} {:>10} {:>10} {:>10} {:>10} {:>7}",
            "", "document", "median", "least", "least CPU", "ratio"
        ));
        table
    }

    pub(crate) fn section(&mut self, title: &str) {
        self.section = title.to_owned();
        self.say(&format!("\n{title}"));
    }

    /// The stored results.
    pub(crate) fn rows(self) -> Vec<Value> {
        self.rows
    }

    fn say(&self, line: &str) {
        if !self.as_json {
            println!("{line}");
        }
    }

    /// A row: the document's nanoseconds if it has them, and those of each batch here.
    pub(crate) fn row(&mut self, name: &str, document: Option<f64>, batches: Vec<Batch>) {
        let sorted = |what: fn(&Batch) -> f64| {
            let mut values: Vec<f64> = batches.iter().map(what).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (ns, cpu) = (sorted(|batch| batch.ns), sorted(|batch| batch.cpu_ns)[0]);
        let (median, least) = (ns[ns.len() / 2], ns[0]);
        let theirs = document.map_or("–".to_owned(), |ns| format!("{ns:.2}"));
        let ratio = document.map_or("–".to_owned(), |ns| format!("{:.2}", median / ns));
        self.say(&format!(
            "{name:<52} {theirs:>10} {median:>10.2} {least:>10.2} {cpu:>10.2} {ratio:>7}"
        ));
        self.rows.push(json!({
            "section": self.section, "what": name, "document_ns": document,
            "median_ns": median, "least_ns": least, "least_cpu_ns": cpu,
        }));
    }

    /// A finding that is not the time of an operation, in words and with its fields.
    pub(crate) fn fact(&mut self, text: &str, fields: Value) {
        self.say(text);
        self.rows.push(json!({ "section": self.section, "what": text, "fields": fields }));
    }

    pub(crate) fn note(&mut self, text: &str) {
        self.say(text);
    }
}

/// Time of an operation in each of `batches` calls of `batch`, by the number of operations that it
/// says.
pub(crate) fn timed(batches: usize, mut batch: impl FnMut() -> u64) -> Vec<Batch> {
    black_box(batch()); // caches, pages, and the branch predictor's first sight
    let one = || {
        let (begin, cpu_begin) = (clock::monotonic_ns(), clock::process_cpu_ns());
        let operations = black_box(batch()) as f64;
        let (end, cpu_end) = (clock::monotonic_ns(), clock::process_cpu_ns());
        let of_one = |ns: u64| ns as f64 / operations;
        Batch { ns: of_one(end - begin), cpu_ns: of_one(cpu_end - cpu_begin) }
    };
    std::iter::repeat_with(one).take(batches).collect()
}

/// As [`timed`], of `count` operations that are alike, whose results are used.
pub(crate) fn each<T>(batches: usize, count: u64, mut operation: impl FnMut() -> T) -> Vec<Batch> {
    timed(batches, || {
        for _ in 0..count {
            black_box(operation());
        }
        count
    })
}

//! Rows as they are measured, and the statistics that stand noise: median and least of batches.

use std::hint::black_box;

use chronoscope_clock as clock;

/// Prints row by row.
pub(crate) struct Table;

impl Table {
    pub(crate) fn begin() -> Table {
        println!("{:<52} {:>10} {:>10} {:>10} {:>7}", "", "document", "median", "least", "ratio");
        Table
    }

    pub(crate) fn section(&mut self, title: &str) {
        println!("\n{title}");
    }

    /// A row: the document's nanoseconds if it has them, and those of each batch here.
    pub(crate) fn row(&mut self, name: &str, document: Option<f64>, mut batches: Vec<f64>) {
        batches.sort_by(f64::total_cmp);
        let (median, least) = (batches[batches.len() / 2], batches[0]);
        let theirs = document.map_or("–".to_owned(), |ns| format!("{ns:.2}"));
        let ratio = document.map_or("–".to_owned(), |ns| format!("{:.2}", median / ns));
        println!("{name:<52} {theirs:>10} {median:>10.2} {least:>10.2} {ratio:>7}");
    }

    pub(crate) fn note(&mut self, text: &str) {
        println!("{text}");
    }
}

/// Nanoseconds of each of `batches` calls of `batch`, by the number of operations that it says.
pub(crate) fn timed(batches: usize, mut batch: impl FnMut() -> u64) -> Vec<f64> {
    black_box(batch()); // caches, pages, and the branch predictor's first sight
    let one = || {
        let begin = clock::monotonic_ns();
        let operations = black_box(batch());
        (clock::monotonic_ns() - begin) as f64 / operations as f64
    };
    std::iter::repeat_with(one).take(batches).collect()
}

/// As [`timed`], of `count` operations that are alike, whose results are used.
pub(crate) fn each<T>(batches: usize, count: u64, mut operation: impl FnMut() -> T) -> Vec<f64> {
    timed(batches, || {
        for _ in 0..count {
            black_box(operation());
        }
        count
    })
}

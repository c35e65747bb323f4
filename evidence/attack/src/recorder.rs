//! A measured program that counts its rows.

use chronoscope_clock as clock;
use chronoscope_record::{self as record, Class, class};
use clap::Args;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

static WORK: Class = class!("work");

/// Rows between two looks at the clock.
const BATCH: u64 = 64;

/// Options of a recording program.
#[derive(Debug, Args)]
pub(crate) struct Record {
    /// Rows a second.
    #[arg(long, default_value_t = 10_000)]
    rate: u64,
    /// End after so many rows, without waiting for standard input to end.
    #[arg(long)]
    rows: Option<u64>,
}

/// Records until standard input ends or all rows are there; prints their number.
pub(crate) fn record(how: &Record) {
    record::init("VICTIM");
    let is_over = AtomicBool::new(false);
    let rows = std::thread::scope(|scope| {
        if how.rows.is_none() {
            scope.spawn(|| {
                // Whatever comes, its end or an error is the end.
                let _ = std::io::stdin().read_to_end(&mut Vec::new());
                is_over.store(true, Ordering::Relaxed);
            });
        }
        let begin_ns = clock::monotonic_ns();
        let mut rows = 0;
        while !is_over.load(Ordering::Relaxed) && how.rows.is_none_or(|all| rows < all) {
            let batch = how.rows.map_or(BATCH, |all| BATCH.min(all - rows));
            (0..batch).for_each(|_| drop(WORK.begin()));
            rows += batch;
            clock::sleep_until(begin_ns + rows * 1_000_000_000 / how.rate);
        }
        rows
    });
    println!("{rows}");
}

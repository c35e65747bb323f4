//! Programs that record into rings, for the benches that read them.

use anyhow::{Context, Result};
use chronoscope_clock as clock;
use chronoscope_record::{self as record, Class, class};
use std::path::Path;
use std::process::{Child, Command};

static OUTER: Class = class!("outer");
static INNER: Class = class!("inner");

/// Two threads record chains of two, at `rate` rows a second each (0: as fast as they can).
pub fn record_rows(rows: u64, rate: u64) {
    record::init("BENCH");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let begin_ns = clock::monotonic_ns();
                for number in 0..rows / 2 {
                    let outer = OUTER.begin();
                    drop(INNER.begin());
                    drop(outer);
                    if rate > 0 && number.is_multiple_of(256) {
                        clock::sleep_until(begin_ns + number * 2 * 1_000_000_000 / rate);
                    }
                }
            });
        }
    });
}

/// Starts this program as a recording one, with `rows_each` rows in each of two threads, at `rate`
/// rows a second together. `slots` is the number of records that a ring keeps of each thread.
///
/// # Errors
/// When it cannot be started.
pub fn spawn_recorder(rings: &Path, rows_each: u64, rate: u64, slots: u64) -> Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(["--record", &rows_each.to_string(), "--rate", &rate.to_string()])
        .env("CHRONOSCOPE_DIR", rings)
        .env("CHRONOSCOPE_SLOTS", slots.to_string())
        .spawn()
        .context("the recording program")
}

/// Seconds since a stamp of the monotonic clock.
pub fn seconds_since(begin_ns: u64) -> f64 {
    (clock::monotonic_ns() - begin_ns) as f64 * 1e-9
}

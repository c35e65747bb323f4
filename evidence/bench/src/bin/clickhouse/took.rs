//! Time of the clock and of processors: ours, and the servers'.

use crate::servers::Servers;
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use serde_json::{Value, json};

/// What some work took.
#[derive(Clone, Copy, Default)]
pub(crate) struct Took {
    pub(crate) wall_ns: u64,
    pub(crate) ours_ns: u64,
    pub(crate) servers_ns: u64,
}

impl Took {
    /// Does the work, and adds what it takes.
    pub(crate) fn run<T>(
        &mut self,
        servers: &Servers,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let before = (clock::monotonic_ns(), clock::process_cpu_ns(), servers.cpu_ns()?);
        let done = work()?;
        self.wall_ns += clock::monotonic_ns() - before.0;
        self.ours_ns += clock::process_cpu_ns() - before.1;
        self.servers_ns += servers.cpu_ns()? - before.2;
        Ok(done)
    }

    /// The work as work on rows.
    pub(crate) fn of_rows(self, rows: usize, bytes: u64) -> Value {
        let per_million = |ns: u64| ns as f64 * 1e-9 / (rows as f64 * 1e-6);
        json!({
            "seconds": self.seconds(),
            "rows_per_second": rows as f64 / self.seconds(),
            "our_cpu_s_per_million": per_million(self.ours_ns),
            "servers_cpu_s_per_million": per_million(self.servers_ns),
            "bytes_per_row": bytes as f64 / rows as f64,
        })
    }

    /// The work as one question.
    pub(crate) fn of_question(self) -> Value {
        json!({
            "seconds": self.seconds(), "our_cpu_s": self.cpu_seconds(),
            "servers_cpu_s": self.servers_ns as f64 * 1e-9,
        })
    }

    pub(crate) fn seconds(self) -> f64 {
        self.wall_ns as f64 * 1e-9
    }

    pub(crate) fn cpu_seconds(self) -> f64 {
        self.ours_ns as f64 * 1e-9
    }
}

/// The quickest of several runs.
#[derive(Default)]
pub(crate) struct Best {
    took: Option<Took>,
}

impl Best {
    /// Does the work once more; its result.
    pub(crate) fn run<T>(
        &mut self,
        servers: &Servers,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut took = Took::default();
        let done = took.run(servers, work)?;
        if self.took.is_none_or(|best| took.wall_ns < best.wall_ns) {
            self.took = Some(took);
        }
        Ok(done)
    }

    /// What the quickest took.
    ///
    /// # Errors
    /// When nothing was run.
    pub(crate) fn took(&self) -> Result<Took> {
        self.took.context("it was not asked")
    }
}

//! Common part of all steps: settings, peers, progress, and whether to continue.

use crate::measure::Measured;
use crate::pair::{Whose, measure, record};
use crate::published::Published;
use crate::table::Table;
use crate::test_path::TestPath;
use crate::utl::Utl;
use crate::verdict::Point;
use crate::work::{Timing, Work};
use anyhow::{Result, bail};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The run of a series.
pub(crate) struct Series {
    pub(crate) published: Published,
    /// Fewer points, shorter rounds.
    pub(crate) quick: bool,
    pub(crate) rounds: u32,
    pub(crate) round: Duration,
    /// With the verdict, for which points are measured once more.
    pub(crate) verdict: bool,
    /// The Java peer, where it can be had.
    pub(crate) utl: Option<Utl>,
    /// iperf3's version, where there is one.
    pub(crate) iperf: Option<String>,
    /// Set by a signal: what there is is kept, nothing more is begun.
    pub(crate) stop: Arc<AtomicBool>,
}

/// Result of a step.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) number: u8,
    pub(crate) title: &'static str,
    /// Settings, and those that could not be made.
    pub(crate) settings: Vec<String>,
    pub(crate) tables: Vec<Table>,
    /// Statements about the result.
    pub(crate) words: Vec<String>,
    /// Limits of the throughput at points of this step, for the verdict.
    pub(crate) limits: Vec<Point>,
}

impl Step {
    pub(crate) fn new(number: u8, title: &'static str) -> Self {
        Self { number, title, ..Self::default() }
    }

    /// For people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("\n== {}. {}\n", self.number, self.title);
        for line in &self.settings {
            text += &format!("   {line}\n");
        }
        for table in &self.tables {
            text += &format!("\n{}", table.text());
        }
        if !self.words.is_empty() {
            text.push('\n');
        }
        for line in &self.words {
            text += &format!("   {line}\n");
        }
        text
    }

    /// For a page in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let list =
            |lines: &[String]| lines.iter().map(|line| format!("* {}\n", line.trim())).collect();
        let tables = self.tables.iter().map(Table::markdown);
        let parts = std::iter::once(list(&self.settings)).chain(tables).chain([list(&self.words)]);
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        format!("\n### {}. {}\n\n{}", self.number, self.title, parts.join("\n"))
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        json!({
            "step": self.number,
            "title": self.title,
            "settings": self.settings,
            "tables": self.tables.iter().map(Table::json).collect::<Vec<_>>(),
            "words": self.words,
        })
    }
}

impl Series {
    /// Rounds after a warm-up of this length.
    pub(crate) fn timing(&self, warm: Duration) -> Timing {
        Timing { warm, round: self.round, rounds: self.rounds }
    }

    /// Rounds over a path with such a round trip: each at least four of them long, since what waits
    /// for returns goes on once a round trip.
    pub(crate) fn far(&self, warm: Duration, rtt: Duration) -> Timing {
        Timing { round: self.round.max(4 * rtt), ..self.timing(warm) }
    }

    /// Time to fill a path of 100 ms: the window doubles once a round trip.
    pub(crate) fn far_warm(&self) -> Duration {
        if self.quick { Duration::from_secs(1) } else { Duration::from_secs(2) }
    }

    /// How many together, over a delay: of few the ends.
    pub(crate) fn ends(&self, all: &[u32]) -> Vec<u32> {
        match all {
            [first, .., last] if self.quick => vec![*first, *last],
            _ => all.to_vec(),
        }
    }

    /// Rounds where nothing has to open its window first. A single one is taken as three of a third:
    /// the median leaves out what another program disturbed.
    pub(crate) fn near(&self) -> Timing {
        let timing = self.timing(self.round / 2);
        match timing.rounds {
            1 => Timing { rounds: 3, round: timing.round / 3, ..timing },
            _ => timing,
        }
    }

    /// Rounds near, of which each has several of TCP's delayed acknowledgements where the work may
    /// have them: their timer is 40 ms.
    pub(crate) fn stalling(&self, work: &Work) -> Timing {
        let near = self.near();
        if !work.nagle && work.delayed_ack != Some(true) {
            return near;
        }
        let round = self.round.max(Duration::from_millis(400));
        Timing { round, rounds: self.rounds, warm: near.warm.max(Duration::from_millis(150)) }
    }

    /// One measurement, said on standard error; `None` where it failed (said too) or where the
    /// series is to stop.
    ///
    /// # Errors
    /// [`Stopped`] when a signal came.
    pub(crate) fn take(
        &self,
        what: &str,
        place: &TestPath,
        pair: [Whose<'_>; 2],
        work: &Work,
        timing: Timing,
    ) -> Result<Option<Measured>> {
        let taken = self.try_take(what, || Ok((measure(place, pair, work, timing)?, ())))?;
        Ok(taken.map(|(measured, ())| measured))
    }

    /// As [`Series::take`], of what measures in its own way and has seen something meanwhile.
    ///
    /// # Errors
    /// [`Stopped`] when a signal came.
    pub(crate) fn try_take<T>(
        &self,
        what: &str,
        measure: impl FnOnce() -> Result<(Measured, T)>,
    ) -> Result<Option<(Measured, T)>> {
        self.go_on()?;
        let taken = measure();
        self.go_on()?;
        Ok(match taken {
            Ok((measured, seen)) => {
                eprintln!(
                    "   {what}: {:.1} Mbit/s, {:.0}/s ({})",
                    measured.mbit_per_s(),
                    measured.units_per_s(),
                    measured.spread()
                );
                Some((measured, seen))
            }
            Err(error) => {
                eprintln!("   {what}: FAILED: {error:#}");
                None
            }
        })
    }

    /// The same work once more, with the recorder on: what limits there, for the verdict; `None` in a
    /// series without one. `rtt_ms` is as connections see it, `tcp_mbit_per_s` iperf3's on the same
    /// path.
    ///
    /// # Errors
    /// [`Stopped`] when a signal came.
    pub(crate) fn point(
        &self,
        what: String,
        place: &TestPath,
        work: &Work,
        measured: &Measured,
        timing: Timing,
        [rtt_ms, tcp_mbit_per_s]: [Option<f64>; 2],
    ) -> Result<Option<Point>> {
        if !self.verdict {
            return Ok(None);
        }
        self.go_on()?;
        let recorded = record(place, work, timing);
        self.go_on()?;
        let recorded =
            recorded.inspect_err(|error| eprintln!("   {what}, recorded: FAILED: {error:#}")).ok();
        let point = Point {
            what,
            work: work.clone(),
            mbit_per_s: measured.mbit_per_s(),
            rtt_ms,
            tcp_mbit_per_s,
            recorded,
        };
        Ok(Some(point))
    }

    /// # Errors
    /// [`Stopped`] when a signal came.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            bail!(Stopped);
        }
        Ok(())
    }
}

/// A signal came.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("stopped by a signal")]
pub(crate) struct Stopped;

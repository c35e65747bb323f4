//! Limit of a display, by bisection: in tracks, or in its share of a processor.
//!
//! The display itself reports overload (more than 0.8 of a second at work, or input that waited for
//! more than 100 ms); it counts when it lasts for three seconds, while every update is drawn at
//! once.

use super::one_display::{CIRCLES, FLIGHTS_MAX, one_display};
use super::{Bed, args::Heavy};
use crate::experiments::number;
use anyhow::Result;
use serde::Serialize;

/// Windows of a second.
const ROW: f64 = 3.0;
/// Neighbours at most so far apart are near enough.
const NEAR: f64 = 1.15;
/// A display gets no less of the time.
const SHARE_MIN: f64 = 0.01;

/// One run of the search.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Step {
    pub(super) flights: u16,
    pub(super) tracks: f64,
    pub(super) updates_per_s: f64,
    /// Share of the time for which the display may run.
    pub(super) share: f64,
    /// Processors used by the display.
    pub(super) processors: f64,
    pub(super) overloaded_row_max: f64,
    pub(super) busy_share_max: f64,
    pub(super) backlog_ms_max: f64,
    pub(super) overloaded: bool,
}

/// Result of the search.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Limit {
    /// The least load that was too much; `None` when a signal ended the search before.
    pub(super) found: Option<Step>,
    pub(super) steps: Vec<Step>,
}

/// Searches: more tracks up to what the tracker takes; if that is no overload, the number of
/// tracks that it began with and less of the processor for the display.
///
/// # Errors
/// When a program fails.
pub(super) fn find(bed: &Bed, options: &Heavy) -> Result<Limit> {
    let mut limit = Limit { found: None, steps: Vec::new() };
    let own = limit.tracks(bed, options)?;
    if limit.found.is_none() && !bed.is_interrupted() {
        limit.share(bed, options, own)?;
    }
    Ok(limit)
}

impl Limit {
    /// The fewest flights that are too many. What the display used of the processor with as many
    /// as asked for is given back.
    fn tracks(&mut self, bed: &Bed, options: &Heavy) -> Result<f64> {
        let (mut fits, mut flights) = (0_u16, options.flights);
        let mut own = 1.0;
        while !bed.is_interrupted() {
            let step = self.add(try_out(bed, options, flights, options.share)?);
            if flights == options.flights {
                own = step.processors;
            }
            if !step.overloaded {
                fits = fits.max(flights);
            }
            flights = match self.found {
                Some(too_many) if is_far(f64::from(fits.max(1)), f64::from(too_many.flights)) => {
                    fits.midpoint(too_many.flights).max(1)
                }
                None if flights < FLIGHTS_MAX => flights.saturating_mul(4).min(FLIGHTS_MAX),
                _ => break,
            };
        }
        Ok(own)
    }

    /// The largest share of the processor that is too small, between what the display used with
    /// all of it, `own`, and all of it.
    fn share(&mut self, bed: &Bed, options: &Heavy, own: f64) -> Result<()> {
        let (mut small, mut fits) = (own.max(SHARE_MIN), options.share);
        while is_far(small, fits) && !bed.is_interrupted() {
            let middle = (small * fits).sqrt();
            let step = self.add(try_out(bed, options, options.flights, middle)?);
            *(if step.overloaded { &mut small } else { &mut fits }) = middle;
        }
        if self.found.is_none() && !bed.is_interrupted() {
            self.add(try_out(bed, options, options.flights, small)?);
        }
        Ok(())
    }

    fn add(&mut self, step: Step) -> Step {
        self.steps.push(step);
        if step.overloaded {
            // Each is nearer to what fits than the one before.
            self.found = Some(step);
        }
        step
    }
}

fn is_far(less: f64, more: f64) -> bool {
    more > less * NEAR
}

fn try_out(bed: &Bed, options: &Heavy, flights: u16, share: f64) -> Result<Step> {
    let seconds = bed.either(None, 16, 40);
    let setup = one_display("heavy-limit", flights, "never", &options.size, seconds, share);
    let ran = setup.run(bed)?;
    let display = &ran.displays[0];
    let of = |key: &str| number(display, &format!("/load/{key}"));
    let updates = number(display, "/position/standard")?;
    let step = Step {
        flights,
        tracks: f64::from(flights) * CIRCLES,
        updates_per_s: updates / ran.seconds,
        share,
        processors: ran.processors("displays"),
        overloaded_row_max: of("overloaded_row_max")?,
        busy_share_max: of("busy_share_max")?,
        backlog_ms_max: of("backlog_ms_max")?,
        overloaded: of("overloaded_row_max")? >= ROW,
    };
    let verdict = if step.overloaded { "overloaded" } else { "fits" };
    bed.say(&format!(
        "limit: {} tracks, {:.0} updates/s, share {share}: {verdict}",
        step.tracks, step.updates_per_s
    ));
    Ok(step)
}

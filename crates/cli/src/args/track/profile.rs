//! The command line of `chronoscope track profile`.

use crate::args::{Span, StoreArgs};
use crate::text::parse_duration;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Profile of a system by class of transaction, from a store: alone, against another day or store
/// (a replayed day against operations), over weeks, and at a multiple of its load.
#[derive(Debug, Args)]
pub(crate) struct Profile {
    #[command(flatten)]
    pub(crate) data: StoreArgs,
    #[command(flatten)]
    pub(crate) span: Span,
    /// Compare with this store: file:DIR. This store is the base of the comparison
    #[arg(long, value_name = "URL")]
    pub(crate) against: Option<String>,
    /// Compare with the rows at this time or later, in the same store or in that of --against
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) against_from: Option<String>,
    /// Compare with the rows before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) against_until: Option<String>,
    /// Smallest difference to report, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub(crate) floor: f64,
    /// Largest part of comparisons of equal days in which any difference is reported, percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub(crate) false_alarms: f64,
    /// Exit with 1 when something differs
    #[arg(long)]
    pub(crate) check: bool,
    /// Show each class over the periods of --by, with its trend per week
    #[arg(long, conflicts_with_all = ["against", "against_from", "against_until", "capacity"])]
    pub(crate) growth: bool,
    /// Periods of --growth; only whole ones count
    #[arg(long, value_name = "PERIOD", value_enum, default_value = "week", requires = "growth")]
    pub(crate) by: By,
    /// Predict the demand at X times the rate of this class, including what it causes in others
    #[arg(long, value_name = "CLASS=X", value_parser = factor,
          conflicts_with_all = ["against", "against_from", "against_until"])]
    pub(crate) capacity: Vec<(String, f64)>,
    /// Loads are taken in bins of this length, whole minutes [default: 1min, 10min beyond two days]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) bin: Option<Duration>,
    /// Number of classes to show
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) top: usize,
    /// Print JSON (version 1) instead of words
    #[arg(long)]
    pub(crate) json: bool,
    /// Draw a picture into this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Draw a picture into this PNG file
    #[arg(long, value_name = "FILE")]
    pub(crate) png: Option<PathBuf>,
}

/// Length of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Seven days from the first
    Week,
    /// 24 hours, in UTC
    Day,
}

fn factor(text: &str) -> Result<(String, f64), String> {
    let form = || format!("{text:?}: expected CLASS=X, as in MRTS::decodePlots=1.5");
    let (class, factor) = text.rsplit_once('=').ok_or_else(form)?;
    let factor: f64 = factor.parse().map_err(|_| form())?;
    if class.is_empty() || !(0.0..=1e6).contains(&factor) {
        return Err(form());
    }
    Ok((class.to_owned(), factor))
}

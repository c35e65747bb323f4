//! The command line of `chronoscope track diff`.

use clap::Args;
use std::path::PathBuf;

/// Differences between two Callgrind profiles: by function, call and source line. Functions are
/// matched by name without compiler suffixes; renamed and inlined ones by similarity and by their
/// source lines. Several files of one run (parts, threads) are summed.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// A profile that Callgrind wrote; its parts (.1) and threads (-01) are read with it
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// Another, after the change
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    #[command(flatten)]
    pub(crate) shown: Shown,
    /// Draw a differential flame graph into this SVG file: width is the cost after, red is more,
    /// blue is less
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write stacks with both costs into this file, for other tools for flame graphs
    #[arg(long, value_name = "FILE")]
    pub(crate) folded: Option<PathBuf>,
    /// Print JSON (version 1) instead of words, with all changes
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parts of a profile diff to show.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// The event that is compared, as the profiles name it
    #[arg(long, value_name = "NAME", default_value = "Ir")]
    pub(crate) event: String,
    /// Changes up to this many parts in a million of the total are not shown; 500 suits programs
    /// with threads
    #[arg(long, value_name = "PPM", default_value_t = 10.0, value_parser = ppm)]
    pub(crate) floor: f64,
    /// Number of largest changes of each kind to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) rows: usize,
}

pub(super) fn ppm(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (0.0..=1e6).contains(number));
    number.ok_or(format!("{text:?} is not a number of parts per million, such as 10"))
}

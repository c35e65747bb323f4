//! The command line of `chronoscope track history`.

use super::Runs;
use clap::Args;
use std::path::PathBuf;

/// Cost of each process in run after run, with its change points: the steps that describe the
/// history best, without those that are too small to matter. Runs of another machine or method than
/// the last are left out, and counted.
#[derive(Debug, Args)]
pub(crate) struct History {
    #[command(flatten)]
    pub(crate) runs: Runs,
    /// Only this unit or replay (may be given several times)
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Figure to show: instructions, corrected, cycles, user_ns, rss_bytes_max, allocations,
    /// syscalls, or any other that runs have
    #[arg(long, value_name = "NAME", default_value = "instructions")]
    pub(crate) figure: String,
    /// Ignore steps up to this many parts in a million [default: 10 for serialised programs, 500
    /// for those with threads]
    #[arg(long, value_name = "PPM", value_parser = super::diff::ppm)]
    pub(crate) floor: Option<f64>,
    /// Number of latest values in the picture
    #[arg(long, value_name = "N", default_value_t = 72)]
    pub(crate) width: usize,
    /// Draw all values as SVG into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write picture and values as one HTML file without scripts
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print JSON (version 1) instead of pictures
    #[arg(long)]
    pub(crate) json: bool,
}

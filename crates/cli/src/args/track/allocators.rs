//! The command line of `chronoscope track allocators`.

use crate::text::parse_duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Allocators compared over a replayed day: CPU time, most memory, and fragmentation of each.
///
/// Each allocator is loaded into every process of a scenario, behind the replay's own library; they
/// take turns. Fragmentation is the resident memory at the end of the day by the live heap at that
/// moment, in requested octets (docs/track.md). Allocators that are not installed are named with
/// their package.
#[derive(Debug, Args)]
pub(crate) struct Allocators {
    /// The scenario's file (docs/formats/scenario.md)
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: PathBuf,
    /// Folder of the programs to replay, the value of {bin} in the scenario
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) bin: PathBuf,
    /// Number of replays with each allocator; CPU time is the least of them
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) repeat: u16,
    /// Another allocator, by its name and library (may be given several times)
    #[arg(long, value_name = "NAME=FILE", value_parser = allocator)]
    pub(crate) allocator: Vec<(String, PathBuf)>,
    /// Replay only this first part of the recording: 1h
    #[arg(long, value_name = "SPAN", value_parser = parse_duration)]
    pub(crate) duration: Option<Duration>,
    /// Print JSON (version 1), with each process, instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

fn allocator(text: &str) -> Result<(String, PathBuf), String> {
    let form = || format!("{text:?}: expected NAME=FILE, as in mine=/opt/lib/libmine.so");
    let (name, file) = text.split_once('=').ok_or_else(form)?;
    Ok((name.to_owned(), PathBuf::from(file)))
}

//! Arguments of `radar-testbed`.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Runs the radar chain on several hosts and says how long it takes from plot to redraw.
///
/// Generator, tracker, message server, displays, agents and collector are processes; hosts are
/// network namespaces with clocks that are wrong on purpose (without the right to make them: one
/// host, which is said). What is printed stands beside the figures of the PHOENIX evaluation.
/// SIGINT or SIGTERM ends a run early, and what it had is reported.
///
/// Exit codes: 0 done; 1 --check does not hold; 2 usage; 3 nothing was measured; 4 error; 130
/// interrupted.
#[derive(Debug, Parser)]
#[command(name = "radar-testbed", version)]
pub struct Arguments {
    #[command(subcommand)]
    /// Part to run.
    pub part: TestbedPart,
    /// Folder for the programs' output and recordings; a run's own folder is made anew
    #[arg(long, global = true, default_value = "out/radar-testbed", value_name = "DIR")]
    pub out: PathBuf,
    /// The folder of the programs [default: that of this program]
    #[arg(long, global = true, value_name = "DIR")]
    pub bin: Option<PathBuf>,
    /// The root of the repository: tools/flights is there
    #[arg(long, global = true, default_value = ".", value_name = "DIR")]
    pub root: PathBuf,
    /// Recorded flights of the live scenario [default: what tools/flights prints]
    #[arg(long, global = true, value_name = "FILE")]
    pub recording: Option<PathBuf>,
    /// Run everything on this host, with one clock and no agents
    #[arg(long, global = true)]
    pub one_host: bool,
    /// The short form: a minute or two
    #[arg(long, global = true)]
    pub quick: bool,
    /// Speed of aircraft and antennas relative to real time
    #[arg(long, global = true, default_value_t = 1.0, value_parser = speed)]
    pub speed: f64,
    /// Print JSON (version 1) instead of words
    #[arg(long, global = true)]
    pub json: bool,
    /// Say no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// Part to run.
#[derive(Debug, Subcommand)]
pub enum TestbedPart {
    /// Live traffic and many displays, each on a host: the document's distributed test bed
    Live(Live),
    /// 3000 tracks and one display on one computer, with the document's rule for MPA and with ours
    Heavy(Heavy),
    /// Output held inside the processes, by several intervals, with and without Nagle's algorithm
    Buffering(Buffering),
    /// Cost of recording: instructions of a replay, nanoseconds, CPU time of pairs of runs
    Cost(Cost),
}

/// Options of `live`.
#[derive(Debug, Args)]
pub struct Live {
    /// Number of working positions
    #[arg(long, default_value_t = 110, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub displays: u16,
    /// Hosts that the working positions are spread over, each with its clock and its agent
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=200))]
    pub display_hosts: u16,
    /// Seconds of traffic [default: 1800, with --quick 60]
    #[arg(long, value_parser = clap::value_parser!(u32).range(5..=86_400))]
    pub seconds: Option<u32>,
    /// Columns and rows of each picture
    #[arg(long, default_value = "1600x1200", value_name = "WIDTHxHEIGHT")]
    pub size: String,
    /// Number of additional positions that always collect updates (MPA)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub averaging: u16,
    /// Exit with 1 when the requirement of 1 s does not hold, or anything was lost
    #[arg(long)]
    pub check: bool,
}

/// Options of `heavy`.
#[derive(Debug, Args)]
pub struct Heavy {
    /// Flights in each of the 30 circles
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=650))]
    pub flights: u16,
    /// Seconds of traffic of each run [default: 300, with --quick 60]
    #[arg(long, value_parser = clap::value_parser!(u32).range(5..=86_400))]
    pub seconds: Option<u32>,
    /// Rules for MPA that are run in turn
    #[arg(long, value_delimiter = ',', default_value = "document,auto", value_parser = ["document", "auto"])]
    pub rules: Vec<String>,
    /// Runs with each rule, in turn
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=100))]
    pub rounds: u16,
    /// Columns and rows of the picture
    #[arg(long, default_value = "1600x1200", value_name = "WIDTHxHEIGHT")]
    pub size: String,
    /// Share of the time for which the display may run, in (0, 1]: as on a slower computer
    #[arg(long, default_value_t = 1.0, value_parser = share)]
    pub share: f64,
    /// First find what overloads the display, tracks or less of the processor, and run with
    /// --factor times as many tracks
    #[arg(long)]
    pub find_limit: bool,
    /// Factor on the found limit
    #[arg(long, default_value_t = 1.3)]
    pub factor: f64,
}

/// Options of `buffering`.
#[derive(Debug, Args)]
pub struct Buffering {
    /// Seconds of traffic of each run [default: 60, with --quick 15]
    #[arg(long, value_parser = clap::value_parser!(u32).range(5..=86_400))]
    pub seconds: Option<u32>,
    /// Number of working positions
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub displays: u16,
    /// Intervals at which held output is sent, ms
    #[arg(long, value_delimiter = ',', default_value = "0,20,100,200,500")]
    pub flush_ms: Vec<u16>,
    /// Leave out the runs with Nagle's algorithm
    #[arg(long)]
    pub no_nagle: bool,
}

/// Options of `cost`.
#[derive(Debug, Args)]
pub struct Cost {
    /// Pairs of runs, one with the recorder and one without [default: 5, with --quick 2]
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub pairs: Option<u32>,
    /// Seconds of traffic of each run [default: 120, with --quick 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(5..=86_400))]
    pub seconds: Option<u32>,
    /// Number of working positions
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub displays: u16,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if (0.1..=100.0).contains(&speed) => Ok(speed),
        _ => Err("a factor from 0.1 to 100".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("a share above 0, at most 1".to_owned()),
    }
}

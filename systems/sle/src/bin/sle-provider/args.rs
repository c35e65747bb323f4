//! The command line of `sle-provider`.

use clap::Parser;
use std::path::PathBuf;

/// Provides FCLTU, RAF, RCF and ROCF.
///
/// The configuration file has all other settings. When the ports are open, the program prints a
/// line `listening ADDRESS` for each, then `ready`. An operator enters commands on standard input
/// (--operate) or through the control port of the configuration; the command `help` lists them.
/// SIGTERM and SIGINT abort all associations and end the program.
///
/// Exit codes: 0 ended normally; 1 could not start; 2 wrong arguments; 3 --check found an error.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Args {
    /// Configuration file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Check the configuration, print the findings and exit
    #[arg(long)]
    pub(crate) check: bool,

    /// Accept operator commands on standard input; the program continues after its end
    #[arg(short, long)]
    pub(crate) operate: bool,

    /// Print no log on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

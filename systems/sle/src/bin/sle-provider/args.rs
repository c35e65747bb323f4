//! The command line of `sle-provider`.

use clap::Parser;
use std::path::PathBuf;

/// Provides FCLTU, RAF, RCF and ROCF.
///
/// Everything else is in the configuration file. The addresses that it listens on are printed, one
/// `listening ADDRESS` a line, once they are open. An operator's lines come in by standard input
/// (--operate) or by the control address of the configuration; `help` names them. SIGTERM and
/// SIGINT abort what is bound and end the program.
///
/// Exit codes: 0 ended as it was told to; 1 it could not start; 2 wrong arguments; 3 --check found
/// something wrong.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Args {
    /// The configuration
    #[arg(short, long, value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Say what is right and what is wrong with the configuration, and end
    #[arg(long)]
    pub(crate) check: bool,

    /// Take an operator's lines from standard input; its end changes nothing
    #[arg(short, long)]
    pub(crate) operate: bool,

    /// Say nothing of what happens on standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

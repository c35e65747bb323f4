//! `chronoscope demo`: its flags.

use crate::text::parse_duration;
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Time for which orders are placed
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub(crate) duration: Duration,
    /// Orders placed per second
    #[arg(long, value_name = "N", default_value_t = 200,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rate: u32,
    /// The requirement: less than 0.3 % of orders take longer than this to a confirmation
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = parse_duration)]
    pub(crate) limit: Duration,
    /// Address of the page; port 0 lets the kernel choose
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Store into this new folder, which stays [default: a folder that is removed at the end]
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// End after the verdict, without the page
    #[arg(long)]
    pub(crate) once: bool,
    /// Print the durations as JSON (version 1) instead of words, and end
    #[arg(long)]
    pub(crate) json: bool,
    /// Be this program of the system
    #[arg(long, hide = true, requires = "sockets")]
    pub(crate) program: Option<Program>,
    /// Folder of the programs' sockets
    #[arg(long, hide = true, value_name = "DIR")]
    pub(crate) sockets: Option<PathBuf>,
}

/// The programs of the system that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Program {
    /// Places orders
    Shop,
    /// Reserves the items of each order, and passes it on to both mailers
    Warehouse,
    /// Confirms orders
    MailA,
    /// Confirms orders, and sorts its archive every two seconds
    MailB,
}

//! `chronoscope net`: load and response time of a network.

pub(crate) mod answer;
mod bulk;
mod cells;
mod collection;
mod discover;
mod findings;
mod group_text;
mod grouping;
mod matrix;
mod measure;
mod predict;
mod probing;
mod rtt;
mod rtt_measured;
mod rtt_stored;
mod rtt_text;

mod report;
mod report_text;
mod scan;
mod stored;
mod table;
#[cfg(test)]
mod table_tests;
mod table_text;
mod tables;
mod topology;
mod watch;

use crate::args::net::Net;
use crate::args::net::path::Path;
use crate::exit::Exit;
use anyhow::Result;

/// Runs the command.
pub(crate) fn net(command: &Net) -> Result<Exit> {
    match command {
        Net::Answer(args) => answer::answer(args),
        Net::Table(args) => table::table(args),
        Net::Report(args) => report::report(args),
        Net::Bulk(args) => bulk::bulk(args),
        Net::Matrix(args) => matrix::matrix(args),
        Net::Scan(args) => scan::scan(args),
        Net::Rtt(args) => rtt::rtt(args),
        Net::Path(Path::Predict(args)) => predict::predict(args),
        Net::Path(Path::Measure(args)) => measure::measure(args),
        Net::Path(Path::Watch(args)) => watch::watch(args),
        Net::Path(Path::Discover(args)) => discover::discover(args),
    }
}

//! `chronoscope net`: load and response time of a network.

pub(crate) mod answer;
mod bulk;
mod keep;
mod matrix;
mod rtt;
mod rtt_text;

mod report;
mod report_text;
mod scan;
#[allow(dead_code)] // round trips and transfers: until somebody asks for them
mod stored;
mod table;
#[cfg(test)]
mod table_tests;
mod table_text;

use crate::args::net::Net;
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
    }
}

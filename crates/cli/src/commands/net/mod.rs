//! `chronoscope net`: load and response time of a network.

mod answer;
#[allow(dead_code)] // until the first command records something
mod keep;

use crate::args::net::Net;
use crate::exit::Exit;
use anyhow::Result;

/// Runs the command.
pub(crate) fn net(command: &Net) -> Result<Exit> {
    match command {
        Net::Answer(args) => answer::answer(args),
    }
}

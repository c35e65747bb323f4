//! `chronoscope net`: load and response time of a network.

mod answer;

use crate::args::net::Net;
use crate::exit::Exit;
use anyhow::Result;

/// Runs the command.
pub(crate) fn net(command: &Net) -> Result<Exit> {
    match command {
        Net::Answer(args) => answer::answer(args),
    }
}

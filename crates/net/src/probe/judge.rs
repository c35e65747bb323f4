//! What probes make of what a peer sends, without a network: for fuzzing, and the tests of what it
//! found.

use super::deadline::{Came, Deadline, Loss};
use super::stream::Connection;
use super::{dns, echo, exec, http, snmp};
use std::time::Duration;

/// What a probe of the kind `by` makes of `octets`, when they are all that its peer sends before it
/// closes; `None` when the kind has nothing to understand.
///
/// Requests have the number that a kind's own documentation of the octets gives: the first.
#[must_use]
pub fn judge(by: &str, octets: &[u8]) -> Option<Result<(), Loss>> {
    let deadline = Deadline::after(Duration::from_secs(60));
    let here = |error: std::io::Error| Loss::Wrong(error.to_string());
    let came: Came = match by {
        "tcp" => {
            let connection = Connection::of(octets.to_vec());
            echo::Stream::new(connection, echo::OCTETS_MIN)
                .came(deadline)
                .unwrap_or_else(|error| Err(here(error)))
        }
        "http" => {
            let connection = Connection::of(octets.to_vec());
            http::Client::new(connection, Vec::new())
                .came(deadline)
                .map_or_else(|error| Err(here(error)), |(came, _)| came)
        }
        "dns" => dns::judge(octets),
        "snmp" => snmp::judge(octets),
        "exec" => exec::judge(octets),
        _ => return None,
    };
    Some(came)
}

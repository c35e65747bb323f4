//! Judgement of a peer's octets by probes, without a network: for fuzzing, and for tests of its
//! findings.

use super::deadline::{Deadline, Loss, ProbeResult};
use super::stream::Connection;
use super::{dns, echo, exec, ftp, http, rpc, snmp};
use std::time::Duration;

/// Judges `octets` by a probe of the kind `by`, as all that its peer sends before it closes; `None`
/// when the kind parses nothing.
///
/// Requests have the number that a kind's own documentation of the octets gives: the first.
#[must_use]
pub fn judge(by: &str, octets: &[u8]) -> Option<Result<(), Loss>> {
    let deadline = Deadline::after(Duration::from_secs(60));
    let here = |error: std::io::Error| Loss::Wrong(error.to_string());
    let result: ProbeResult = match by {
        "tcp" => {
            let connection = Connection::of(octets.to_vec());
            echo::Stream::new(connection, echo::OCTETS_MIN)
                .probe(deadline)
                .unwrap_or_else(|error| Err(here(error)))
        }
        "http" => {
            let connection = Connection::of(octets.to_vec());
            http::Client::new(connection, Vec::new())
                .probe(deadline)
                .map_or_else(|error| Err(here(error)), |(result, _)| result)
        }
        "dns" => dns::judge(octets),
        "snmp" => snmp::judge(octets),
        "exec" => exec::judge(octets),
        "ftp" => ftp::judge(octets.to_vec()),
        "rpc" => rpc::judge(octets),
        _ => return None,
    };
    Some(result)
}

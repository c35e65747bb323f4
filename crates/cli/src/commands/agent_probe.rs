//! `chronoscope agent --probe`: what a supervisor asks of an agent that runs.

use crate::args::Probe;
use crate::exit::Exit;
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use chronoscope_collect::Status;
use std::path::Path;

/// An agent writes its status once a second. One that has not for this time does not go on: its
/// rings are not read.
const STATUS_AGE_NS_MAX: u64 = 30_000_000_000;

/// Runs the command on the status in the spool's folder.
pub(crate) fn probe(spool_dir: &Path, probe: Probe) -> Result<Exit> {
    let status = Status::read(spool_dir)
        .with_context(|| format!("cannot read {}", Status::path(spool_dir).display()))?;
    match fault(status.as_ref(), probe, clock::utc_now_ns()) {
        None => Ok(Exit::Done),
        Some(reason) => {
            say!("the agent of {}: {reason}", spool_dir.display());
            Ok(Exit::CheckFailed)
        }
    }
}

/// Why an agent is not as asked, at a time of the same host.
fn fault(status: Option<&Status>, probe: Probe, now_ns: i64) -> Option<String> {
    let Some(status) = status else { return Some("no status was ever written".into()) };
    if !status.running {
        return Some("it has ended".into());
    }
    let age_ns = now_ns.abs_diff(status.at_ns);
    if age_ns > STATUS_AGE_NS_MAX {
        return Some(format!("its last status is {} s old", age_ns / 1_000_000_000));
    }
    let delivery = status.delivery.as_ref().filter(|_| probe == Probe::Delivering)?;
    let reason = delivery.error.as_deref().unwrap_or("no try has ended yet");
    (!delivery.connected).then(|| format!("not connected to {}: {reason}", delivery.to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_collect::DeliveryStatus;

    const NOW_NS: i64 = 1_000_000_000_000;

    fn status(at_ns: i64, connected: bool) -> Status {
        let delivery = DeliveryStatus {
            to: "https://c:1".into(),
            connected,
            error: (!connected).then(|| "unknown authority".into()),
            ..DeliveryStatus::default()
        };
        Status { running: true, at_ns, delivery: Some(delivery), ..Status::default() }
    }

    #[test]
    fn an_agent_that_writes_and_is_connected_is_alive_and_delivers() {
        let status = status(NOW_NS - 1_000_000_000, true);
        assert_eq!(fault(Some(&status), Probe::Alive, NOW_NS), None);
        assert_eq!(fault(Some(&status), Probe::Delivering, NOW_NS), None);
    }

    #[test]
    fn one_that_is_not_connected_is_alive_and_says_why_it_does_not_deliver() {
        let status = status(NOW_NS, false);
        assert_eq!(fault(Some(&status), Probe::Alive, NOW_NS), None);
        let reason = fault(Some(&status), Probe::Delivering, NOW_NS).unwrap();
        assert_eq!(reason, "not connected to https://c:1: unknown authority");
    }

    #[test]
    fn one_that_stands_has_ended_or_never_was_is_not_alive() {
        let old = status(NOW_NS - 31_000_000_000, true);
        let reason = fault(Some(&old), Probe::Alive, NOW_NS).unwrap();
        assert_eq!(reason, "its last status is 31 s old");
        let ended = Status { running: false, ..status(NOW_NS, true) };
        assert_eq!(fault(Some(&ended), Probe::Alive, NOW_NS).unwrap(), "it has ended");
        assert!(fault(None, Probe::Alive, NOW_NS).is_some());
    }
}

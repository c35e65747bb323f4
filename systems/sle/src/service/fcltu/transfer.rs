//! Whether a TRANSFER-DATA is to be refused: the book's diagnostics, looked for in their order.

use super::config::FcltuConfig;
use super::diagnostic;
use super::radiation::Radiation;
use super::step::{CltuRefusal, QueuedCltu};
use crate::cltu;
use crate::pdu::{CltuId, CltuTransferData, Diagnostic};
use crate::time::{Now, Time};
use bytes::Bytes;

impl From<CltuRefusal> for Diagnostic {
    fn from(refusal: CltuRefusal) -> Self {
        match refusal {
            CltuRefusal::UnableToProcess => diagnostic::TRANSFER_UNABLE_TO_PROCESS,
            CltuRefusal::UnableToStore => diagnostic::TRANSFER_UNABLE_TO_STORE,
        }
    }
}

/// Whether octets are a CLTU that the service instance takes. It is asked for before a lock is
/// taken, because it may cost microseconds.
pub(super) fn is_cltu(config: &FcltuConfig, data: &[u8]) -> bool {
    !data.is_empty()
        && data.len() <= config.maximum_cltu_length as usize
        && (!config.check_cltu || cltu::check(data).is_ok())
}

/// Takes a CLTU into the buffer, or says why not.
pub(super) fn take(
    config: &FcltuConfig,
    radiation: &mut Radiation,
    (expected, session): (CltuId, Time),
    (invocation, is_cltu): (&CltuTransferData, bool),
    now: Now,
) -> Result<(), Diagnostic> {
    if config.production_stop_utc_ns.is_some_and(|stop| stop < now.utc_ns) {
        return Err(diagnostic::TRANSFER_UNABLE_TO_PROCESS);
    }
    radiation.room(invocation.data.len())?;
    if invocation.cltu != expected {
        return Err(diagnostic::TRANSFER_OUT_OF_SEQUENCE);
    }
    let (mut earliest_utc_ns, latest_utc_ns) = times(config, invocation, now)?;
    // What START's return named: nothing is radiated before.
    if let Some(start) = config.production_start_utc_ns.filter(|start| *start > now.utc_ns) {
        earliest_utc_ns = Some(earliest_utc_ns.unwrap_or(0).max(start));
    }
    if invocation.delay_us < config.minimum_delay_us {
        return Err(diagnostic::TRANSFER_INVALID_DELAY_TIME);
    }
    if !is_cltu {
        return Err(diagnostic::TRANSFER_CLTU_ERROR);
    }
    radiation.take(QueuedCltu {
        cltu: invocation.cltu,
        // A copy: a slice would keep all that was received with it, some hundred KiB for a CLTU of
        // one octet, and the buffer's bound would bound nothing.
        data: Bytes::copy_from_slice(&invocation.data),
        earliest_utc_ns,
        latest_utc_ns,
        delay_us: invocation.delay_us,
        notify: invocation.notify_radiated,
        session,
    })?;
    Ok(())
}

/// The earliest and the latest time, UTC in ns.
fn times(
    config: &FcltuConfig,
    invocation: &CltuTransferData,
    now: Now,
) -> Result<(Option<u64>, Option<u64>), Diagnostic> {
    let known = |time: Option<Time>| match time {
        None => Ok(None),
        Some(time) => time.utc_ns().map(Some).ok_or(diagnostic::TRANSFER_INVALID_TIME),
    };
    let (earliest, latest) = (known(invocation.earliest), known(invocation.latest));
    if let (Ok(Some(earliest)), Ok(Some(latest))) = (earliest, latest)
        && earliest > latest
    {
        return Err(diagnostic::TRANSFER_INCONSISTENT_TIME_RANGE);
    }
    let (earliest, latest) = (earliest?, latest?);
    let over = |utc_ns| config.production_stop_utc_ns.is_some_and(|stop| utc_ns > stop);
    let before = |utc_ns| config.production_start_utc_ns.is_some_and(|start| utc_ns < start);
    if earliest.is_some_and(over) || latest.is_some_and(before) {
        return Err(diagnostic::TRANSFER_INVALID_TIME);
    }
    if latest.is_some_and(|latest| latest < now.utc_ns) {
        return Err(diagnostic::TRANSFER_LATE_SLDU);
    }
    Ok((earliest, latest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A waiting CLTU does not keep the rest of the received octets in memory.
    #[test]
    fn a_waiting_cltu_does_not_keep_what_came_with_it() {
        let received = Bytes::from(vec![0x5a; 128 << 10]);
        let invocation = CltuTransferData {
            invoke_id: 1,
            cltu: 1,
            earliest: None,
            latest: None,
            delay_us: 0,
            notify_radiated: false,
            data: received.slice(1000..1001),
        };
        drop(received);
        let config = FcltuConfig { minimum_delay_us: 0, ..FcltuConfig::default() };
        let mut radiation = Radiation::new(&config);
        let now = Now { monotonic_ns: 0, utc_ns: 1_767_225_600_000_000_000 };
        radiation.set_status(crate::pdu::CltuProductionStatus::Operational, now);
        let expected = (1, Time::from_utc_ns(now.utc_ns));
        take(&config, &mut radiation, expected, (&invocation, true), now).unwrap();
        assert_eq!(radiation.waiting(), 1);
        assert!(invocation.data.is_unique(), "nobody else keeps what was received");
    }
}

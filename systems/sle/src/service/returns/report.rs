//! Status reports: when, and what of production is in them.

use super::config::ReturnConfig;
use crate::pdu::{Diagnostic, LockStatus, LockStatusReport, ReportRequest};
use crate::time::{Now, Time};

/// Specific diagnostics of SCHEDULE-STATUS-REPORT.
const NOT_SUPPORTED_IN_THIS_DELIVERY_MODE: u8 = 0;
const ALREADY_STOPPED: u8 = 1;
const INVALID_REPORTING_CYCLE: u8 = 2;
/// Longest reporting cycle in seconds.
const CYCLE_MAX_S: u16 = 600;

const SECOND_NS: u64 = 1_000_000_000;

/// Lock status of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverLocks {
    /// Lock status of frame synchronisation.
    pub frame_sync: LockStatus,
    /// Lock status of symbol synchronisation.
    pub symbol_sync: LockStatus,
    /// Lock status of the subcarrier.
    pub subcarrier: LockStatus,
    /// Lock status of the carrier.
    pub carrier: LockStatus,
}

impl ReceiverLocks {
    /// The same status for all four.
    #[must_use]
    pub fn all(status: LockStatus) -> Self {
        Self { frame_sync: status, symbol_sync: status, subcarrier: status, carrier: status }
    }

    /// Notification of a loss of frame synchronisation.
    pub(super) fn report(self, now: Now) -> LockStatusReport {
        LockStatusReport {
            time: Time::from_utc_ns(now.utc_ns),
            carrier: self.carrier,
            subcarrier: self.subcarrier,
            symbol_sync: self.symbol_sync,
        }
    }
}

/// When the next report is due.
#[derive(Debug, Default)]
pub(super) struct ReportSchedule {
    periodic: Option<Periodic>,
}

#[derive(Clone, Copy, Debug)]
struct Periodic {
    cycle_s: u16,
    next_ns: u64,
}

impl ReportSchedule {
    /// Takes a request; whether a report is to be made now.
    ///
    /// # Errors
    /// The diagnostic of a negative return.
    pub(super) fn request(
        &mut self,
        config: &ReturnConfig,
        request: ReportRequest,
        now: Now,
    ) -> Result<bool, Diagnostic> {
        if config.is_offline() {
            return Err(Diagnostic::Specific(NOT_SUPPORTED_IN_THIS_DELIVERY_MODE));
        }
        match request {
            ReportRequest::Immediately => Ok(true),
            ReportRequest::Periodically(cycle_s) => {
                if !(config.min_reporting_cycle_s..=CYCLE_MAX_S).contains(&cycle_s) || cycle_s == 0
                {
                    return Err(Diagnostic::Specific(INVALID_REPORTING_CYCLE));
                }
                let next_ns = now.monotonic_ns.saturating_add(u64::from(cycle_s) * SECOND_NS);
                self.periodic = Some(Periodic { cycle_s, next_ns });
                Ok(true)
            }
            ReportRequest::Stop if self.periodic.take().is_some() => Ok(false),
            ReportRequest::Stop => Err(Diagnostic::Specific(ALREADY_STOPPED)),
        }
    }

    /// The cycle in force, in seconds.
    pub(super) fn cycle_s(&self) -> Option<u16> {
        self.periodic.map(|periodic| periodic.cycle_s)
    }

    /// When a report is due, on the monotonic clock.
    pub(super) fn due(&self) -> Option<u64> {
        self.periodic.map(|periodic| periodic.next_ns)
    }

    /// Whether a report is due; cycles that were missed are not made up for.
    pub(super) fn tick(&mut self, now: Now) -> bool {
        let Some(periodic) = &mut self.periodic else { return false };
        if periodic.next_ns > now.monotonic_ns {
            return false;
        }
        let cycle_ns = u64::from(periodic.cycle_s) * SECOND_NS;
        let behind_ns = now.monotonic_ns - periodic.next_ns;
        periodic.next_ns += (behind_ns / cycle_ns + 1) * cycle_ns;
        true
    }

    /// No more reports.
    pub(super) fn stop(&mut self) {
        self.periodic = None;
    }
}

//! Fates of a user's data units, as far as the provider has reported them.
//!
//! Our users number them one after the other, and a provider processes them in that order: what is
//! known takes two numbers, however many data units there are.

use crate::csts::pdu::{
    DataUnitId, Diagnostic, LastProcessed, ProcessingNotification, ProcessingStatus,
};
use crate::service::fcltu::CltuRange;

/// Data units with consecutive numbers (which wrap).
pub type DataUnits = CltuRange;

/// Fate of a data unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataUnitFate {
    /// The provider did not take it.
    Refused(Diagnostic),
    /// Processed: told, or (sequence-controlled, and buffered in complete mode) one behind it was
    /// told.
    Processed,
    /// Buffered in timely mode: one behind it was told to be processed. It was processed before, or
    /// discarded.
    Overtaken,
    /// Taken, and too late to be processed.
    Expired,
    /// Its processing was cut short.
    Interrupted,
    /// Its turn came when production was interrupted.
    NotStarted,
    /// Taken and thrown away, because an earlier one was lost or production stopped.
    Discarded,
    /// Taken. Whether it was processed was not told.
    Acknowledged,
    /// It was sent. The association ended before its receipt was reported.
    Unknown,
    /// It waited in a forward buffer that was not sent.
    NotSent,
}

/// Data units with one fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledUnits {
    /// The data units.
    pub units: DataUnits,
    /// Fate that all of these data units share.
    pub fate: DataUnitFate,
}

/// Data units that are with the provider and not known to be processed or lost: from `settled` up
/// to, and not with, `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutstandingUnits {
    settled: DataUnitId,
    end: DataUnitId,
}

impl OutstandingUnits {
    pub(super) fn none(first: DataUnitId) -> Self {
        Self { settled: first, end: first }
    }

    pub(super) fn count(self) -> u32 {
        self.end.wrapping_sub(self.settled)
    }

    /// The provider has got all before `end`.
    pub(super) fn take(&mut self, end: DataUnitId) {
        let more = end.wrapping_sub(self.end);
        if more > u32::MAX / 2 {
            return; // it was known
        }
        if self.count().checked_add(more).is_none_or(|count| count > u32::MAX / 2) {
            // Nobody asked to be told of them, and numbers begin to wrap.
            self.settled = self.end;
        }
        self.end = end;
    }

    pub(super) fn settle(
        &mut self,
        count: u32,
        fate: DataUnitFate,
        settled: &mut Vec<SettledUnits>,
    ) {
        if count > 0 {
            settled.push(SettledUnits { units: DataUnits { first: self.settled, count }, fate });
            self.settled = self.settled.wrapping_add(count);
        }
    }

    /// Those up to, and not with, one of them; `None` where it is none of them.
    pub(super) fn before(self, unit: DataUnitId) -> Option<u32> {
        let before = unit.wrapping_sub(self.settled);
        (before < self.count()).then_some(before)
    }

    /// Takes a notification. `earlier` is the fate of the data units before a processed one.
    /// `ends`: no data unit after the lost one is processed.
    pub(super) fn notified(
        &mut self,
        notification: &ProcessingNotification,
        earlier: &DataUnitFate,
        ends: bool,
        settled: &mut Vec<SettledUnits>,
    ) {
        if let Some(before) = notification.last_ok.and_then(|last| self.before(last.data_unit)) {
            if *earlier == DataUnitFate::Processed {
                self.settle(before + 1, DataUnitFate::Processed, settled);
            } else {
                self.settle(before, earlier.clone(), settled);
                self.settle(1, DataUnitFate::Processed, settled);
            }
        }
        if let Some(last) = &notification.last_processed {
            self.lost(last, earlier, settled);
        }
        if ends {
            self.settle(self.count(), DataUnitFate::Discarded, settled);
        }
    }

    /// The one that was processed last, where it was lost.
    fn lost(
        &mut self,
        last: &LastProcessed,
        earlier: &DataUnitFate,
        settled: &mut Vec<SettledUnits>,
    ) {
        let fate = match &last.status {
            ProcessingStatus::ProcessingInterrupted(_) => DataUnitFate::Interrupted,
            ProcessingStatus::Expired => DataUnitFate::Expired,
            ProcessingStatus::ProcessingNotStarted => DataUnitFate::NotStarted,
            ProcessingStatus::SuccessfullyProcessed(_)
            | ProcessingStatus::ProcessingStarted(_)
            | ProcessingStatus::SequenceControlledOther(_)
            | ProcessingStatus::Other(_) => return,
        };
        if let Some(before) = self.before(last.data_unit) {
            self.settle(before, earlier.clone(), settled);
            self.settle(1, fate, settled);
        }
    }
}

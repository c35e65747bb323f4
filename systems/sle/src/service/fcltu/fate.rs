//! Fates of a user's CLTUs, as far as the provider has reported them.
//!
//! Numbers follow each other, and CLTUs are radiated in their order; where one is lost, those
//! behind it are too. So a notification about one CLTU says something of many, and what is known
//! takes two numbers, however many CLTUs there are.

use crate::pdu::{
    CltuAsyncNotify, CltuId, CltuLastOk, CltuLastProcessed, CltuNotification, CltuStatus,
    Diagnostic,
};
use crate::time::Time;

/// CLTUs with consecutive numbers (which wrap).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CltuRange {
    /// The first.
    pub first: CltuId,
    /// Number of CLTUs, 1 or more.
    pub count: u32,
}

impl CltuRange {
    /// The number after the last.
    #[must_use]
    pub fn end(self) -> CltuId {
        self.first.wrapping_add(self.count)
    }

    /// Whether one is among them.
    #[must_use]
    pub fn contains(self, cltu: CltuId) -> bool {
        cltu.wrapping_sub(self.first) < self.count
    }
}

/// Fate of a CLTU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CltuFate {
    /// The provider did not take it.
    Refused(Diagnostic),
    /// It was radiated.
    Radiated,
    /// Taken, and too late to be radiated.
    Expired,
    /// Its radiation was cut short.
    Interrupted,
    /// Its turn came when production was interrupted.
    NotStarted,
    /// Taken and thrown away, because an earlier one was lost or production stopped.
    Discarded,
    /// Taken. Whether it was radiated was not told.
    Acknowledged,
    /// The association ended before the provider answered.
    Unknown,
}

/// CLTUs with one fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettledCltus {
    /// The CLTUs.
    pub cltus: CltuRange,
    /// Fate that all of these CLTUs share.
    pub fate: CltuFate,
}

/// CLTUs that were taken and are not known to be radiated or lost: from `settled` up to, and not
/// with, `taken`.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutstandingCltus {
    settled: CltuId,
    taken: CltuId,
    /// The time that START's return named: what happened before was another session's.
    since_utc_ns: u64,
    /// CLTUs of this session whose loss was told.
    lost: Option<CltuRange>,
}

impl OutstandingCltus {
    /// None, of a session that begins with a number.
    pub(super) fn none(first: CltuId, since: Time) -> Self {
        let since_utc_ns = since.utc_ns().unwrap_or(0);
        Self { settled: first, taken: first, since_utc_ns, lost: None }
    }

    pub(super) fn count(self) -> u32 {
        self.taken.wrapping_sub(self.settled)
    }

    /// The provider has taken all before `end`.
    pub(super) fn take(&mut self, end: CltuId) {
        let more = end.wrapping_sub(self.taken);
        if more > u32::MAX / 2 {
            return; // it was known: returns came in another order
        }
        if self.count().checked_add(more).is_none_or(|count| count > u32::MAX / 2) {
            // Nobody asked to be told of their radiation, and numbers begin to wrap.
            self.settled = self.taken;
        }
        self.taken = end;
    }

    fn settle(&mut self, count: u32, fate: CltuFate, settled: &mut Vec<SettledCltus>) {
        if count > 0 {
            settled.push(SettledCltus { cltus: CltuRange { first: self.settled, count }, fate });
            self.settled = self.settled.wrapping_add(count);
        }
    }

    /// Settles all outstanding CLTUs: no report will follow.
    pub(super) fn give_up(&mut self, settled: &mut Vec<SettledCltus>) {
        self.settle(self.count(), CltuFate::Acknowledged, settled);
    }

    /// Settles the CLTUs that were radiated.
    ///
    /// Numbers may be used again in a later session, and a CLTU that was being radiated at STOP
    /// ends after it: so the last one must have ended in this session, and begun in it too, or
    /// have one behind it.
    pub(super) fn radiated(
        &mut self,
        last_ok: Option<CltuLastOk>,
        last_processed: Option<CltuLastProcessed>,
        settled: &mut Vec<SettledCltus>,
    ) {
        let Some(ok) = last_ok else { return };
        let before = ok.cltu.wrapping_sub(self.settled);
        if before < self.count() && self.is_of_session(ok, last_processed) {
            self.settle(before + 1, CltuFate::Radiated, settled);
        }
    }

    /// Whether the CLTU that was radiated last is of this session, and not another of its number.
    fn is_of_session(&self, ok: CltuLastOk, last_processed: Option<CltuLastProcessed>) -> bool {
        let began = match last_processed {
            Some(last) if last.cltu == ok.cltu => {
                // Where it is not radiated, it is another of the same number.
                last.status == CltuStatus::Radiated
                    && last.start_radiation.is_none_or(|time| self.is_ours(time))
            }
            Some(last) => {
                let ahead = last.cltu.wrapping_sub(ok.cltu);
                ahead < u32::MAX / 2
            }
            None => true,
        };
        began && self.is_ours(ok.stop_radiation)
    }

    fn is_ours(&self, time: Time) -> bool {
        time.utc_ns().is_some_and(|utc_ns| utc_ns >= self.since_utc_ns)
    }

    /// A CLTU that is told as radiated in this session, though its loss was told before.
    pub(super) fn contradicted(
        &self,
        last_ok: Option<CltuLastOk>,
        last_processed: Option<CltuLastProcessed>,
    ) -> Option<CltuId> {
        let lost = self.lost?;
        let ok = last_ok.filter(|ok| self.is_of_session(*ok, last_processed)).map(|ok| ok.cltu);
        let processed = last_processed.filter(|last| {
            last.status == CltuStatus::Radiated
                && last.start_radiation.is_some_and(|time| self.is_ours(time))
        });
        let told = [ok, processed.map(|last| last.cltu)];
        told.into_iter().flatten().find(|cltu| lost.contains(*cltu))
    }

    /// Settles CLTUs according to a notification.
    pub(super) fn notified(&mut self, notify: &CltuAsyncNotify, settled: &mut Vec<SettledCltus>) {
        self.radiated(notify.last_ok, notify.last_processed, settled);
        match notify.notification {
            CltuNotification::SlduExpired
            | CltuNotification::ProductionInterrupted
            | CltuNotification::ProductionHalted => self.lost(notify.last_processed, settled),
            CltuNotification::CltuRadiated
            | CltuNotification::ProductionOperational
            | CltuNotification::BufferEmpty
            | CltuNotification::ActionListCompleted(_)
            | CltuNotification::ActionListNotCompleted(_)
            | CltuNotification::EventConditionEvFalse(_) => {}
        }
    }

    /// Settles all outstanding CLTUs as lost; the last processed one may have a fate of its own.
    fn lost(&mut self, last: Option<CltuLastProcessed>, settled: &mut Vec<SettledCltus>) {
        if let Some(last) = last {
            let before = last.cltu.wrapping_sub(self.settled);
            let is_ours = last.start_radiation.is_none_or(|time| self.is_ours(time));
            if before < self.count() && is_ours {
                // Those before it were processed before it, and were not told to be radiated.
                self.settle(before, CltuFate::Acknowledged, settled);
                let fate = match last.status {
                    CltuStatus::Radiated => CltuFate::Radiated,
                    CltuStatus::Expired => CltuFate::Expired,
                    CltuStatus::Interrupted | CltuStatus::RadiationStarted => CltuFate::Interrupted,
                    CltuStatus::RadiationNotStarted => CltuFate::NotStarted,
                };
                if fate != CltuFate::Radiated {
                    self.lose(1);
                }
                self.settle(1, fate, settled);
            }
        }
        self.lose(self.count());
        self.settle(self.count(), CltuFate::Discarded, settled);
    }

    /// The next CLTUs are lost. Between two losses of a session there may be a radiated one only
    /// where production was interrupted between two CLTUs: then the later loss counts.
    fn lose(&mut self, count: u32) {
        match &mut self.lost {
            _ if count == 0 => {}
            Some(lost) if lost.end() == self.settled => lost.count += count,
            lost => *lost = Some(CltuRange { first: self.settled, count }),
        }
    }
}

//! What becomes of sent CLTUs: the reports for the journal, and the wait until every fate is known.

use super::ask::{occurrence, refusal};
use super::say::UserOutput;
use chronoscope_clock as clock;
use chronoscope_sle::client::{ClientError, FateCursor, SleOccurrence, User};
use chronoscope_sle::journal::{FateEntry, FateWord, JournalEntry};
use chronoscope_sle::pdu::{CltuNotification, ReportRequest};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval at which a wait looks at the time and for an interruption.
const LOOK: Duration = Duration::from_millis(100);
/// Without a report of radiation for so long, a status report is requested, in ns.
const SILENT_NS: u64 = 5_000_000_000;
/// Maximum time until a requested status report, in ns.
const REPORT_NS: u64 = 5_000_000_000;

/// Collects the fates of a session's CLTUs for the journal.
pub(crate) struct FateCollector<'a> {
    user: &'a User,
    /// CLTU identification at position 0.
    first: u32,
    cursor: FateCursor,
    acknowledged: u64,
    contradicted: usize,
}

impl<'a> FateCollector<'a> {
    pub(crate) fn new(user: &'a User, first: u32) -> Self {
        Self { user, first, cursor: FateCursor::default(), acknowledged: 0, contradicted: 0 }
    }

    /// Appends what was reported since the last call.
    pub(crate) fn collect(&mut self, entries: &mut Vec<JournalEntry>) {
        // In this order: of a CLTU with a fate the acknowledgement is counted before it.
        let settled = self.user.fates_since(&mut self.cursor);
        let acknowledged = self.user.statistics().acknowledged;
        if acknowledged > self.acknowledged {
            let positions = self.acknowledged..acknowledged;
            let fate = FateWord::Acknowledged;
            entries.push(JournalEntry::Fate(FateEntry { positions, fate, diagnostic: None }));
            self.acknowledged = acknowledged;
        }
        for one in settled {
            let from = u64::from(one.cltus.first.wrapping_sub(self.first));
            entries.push(JournalEntry::Fate(FateEntry {
                positions: from..from + u64::from(one.cltus.count),
                fate: one.fate.into(),
                diagnostic: refusal(one.fate),
            }));
        }
        for cltu in self.user.contradicted_since(self.contradicted) {
            let position = u64::from(cltu.wrapping_sub(self.first));
            entries.push(JournalEntry::Contradicted { position });
            self.contradicted += 1;
        }
    }
}

/// Waits until the provider has told the fate of every CLTU that it has accepted; at most so long.
///
/// # Errors
/// When the association ends, the wait is interrupted, or the time is over.
pub(crate) fn wait_for_fates(
    user: &User,
    at_most: Option<Duration>,
    interrupt: &AtomicBool,
    say: UserOutput,
) -> Result<(), ClientError> {
    let start_ns = clock::monotonic_ns();
    let until_ns = at_most.map(|at_most| start_ns.saturating_add(duration_ns(at_most)));
    let (mut open, mut since_ns) = (u32::MAX, start_ns);
    loop {
        let (unsettled, now_ns) = (user.statistics().unsettled, clock::monotonic_ns());
        if unsettled == 0 {
            return Ok(());
        }
        if user.ending().is_some() {
            return user.drain();
        }
        if interrupt.load(Ordering::Acquire) {
            return Err(ClientError::Interrupted);
        }
        if until_ns.is_some_and(|until_ns| until_ns <= now_ns) {
            return Err(ClientError::FatesMissing { unsettled });
        }
        if unsettled != std::mem::replace(&mut open, unsettled) {
            since_ns = now_ns;
        } else if now_ns.saturating_sub(since_ns) >= SILENT_NS {
            since_ns = now_ns;
            say.talk(&format!(
                "no report of {unsettled} CLTUs for 5 s: requesting a status report"
            ));
            request_report(user, say)?;
        }
        if let Some(happened) = user.next_occurrence(LOOK)
            && is_worth_telling(&happened)
        {
            say.talk(&occurrence(&happened).to_string());
        }
    }
}

/// After STOP nothing more is radiated: a last status report says what was.
pub(crate) fn ask_for_fates(user: &User, say: UserOutput) -> Result<(), ClientError> {
    if user.statistics().unsettled == 0 {
        return Ok(());
    }
    request_report(user, say)?;
    let until_ns = clock::monotonic_ns().saturating_add(REPORT_NS);
    while clock::monotonic_ns() < until_ns && user.ending().is_none() {
        if let Some(SleOccurrence::Report(_)) = user.next_occurrence(LOOK) {
            break;
        }
    }
    Ok(())
}

fn request_report(user: &User, say: UserOutput) -> Result<(), ClientError> {
    match user.schedule(ReportRequest::Immediately) {
        Err(error @ ClientError::Refused { .. }) => {
            say.talk(&error.to_string());
            Ok(())
        }
        other => other,
    }
}

fn is_worth_telling(happened: &SleOccurrence) -> bool {
    use CltuNotification::{BufferEmpty, CltuRadiated};
    !matches!(happened, SleOccurrence::Notified(one)
        if matches!(one.notification, CltuRadiated | BufferEmpty))
}

fn duration_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2)
}

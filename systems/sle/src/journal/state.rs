//! What the entries of a journal amount to.

use super::entry::{FateEntry, JournalEntry, SessionEntry};
use super::fates::{FateWord, RecordedFate, TransferFates};
use std::ops::Range;

/// State of a transfer after some entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferState {
    fates: TransferFates,
    session: Option<OpenSession>,
    next_number: Option<u32>,
}

/// The session that the entries belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenSession {
    entry: SessionEntry,
    /// CLTUs that may have been sent: so many from the first.
    reserved: u64,
    /// The fates when the session began: what is not sent after all has these.
    before: TransferFates,
}

/// An entry that cannot follow the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the entry contradicts the ones before it")]
pub struct EntryOutOfPlace;

impl TransferState {
    /// Of a transfer of so many CLTUs, none of which was sent.
    #[must_use]
    pub fn new(cltus: u64) -> Self {
        Self { fates: TransferFates::new(cltus), session: None, next_number: None }
    }

    /// The fates of all CLTUs.
    #[must_use]
    pub fn fates(&self) -> &TransferFates {
        &self.fates
    }

    /// A CLTU identification behind all that may have been sent; `None` before the first session.
    #[must_use]
    pub fn next_number(&self) -> Option<u32> {
        self.next_number
    }

    /// Takes an entry after those before it.
    ///
    /// # Errors
    /// [`EntryOutOfPlace`]: nothing has changed.
    pub fn apply(&mut self, entry: &JournalEntry) -> Result<(), EntryOutOfPlace> {
        match entry {
            JournalEntry::Transfer(_) => Err(EntryOutOfPlace),
            JournalEntry::Session(session) => self.begin(session),
            JournalEntry::Reserved { until } => self.reserve(*until),
            JournalEntry::Fate(one) => self.fate(one),
            JournalEntry::Closed { sent } => self.close(*sent),
        }
    }

    fn begin(&mut self, session: &SessionEntry) -> Result<(), EntryOutOfPlace> {
        if session.plan.ranges().any(|range| range.end > self.fates.cltus()) {
            return Err(EntryOutOfPlace);
        }
        let before = self.fates.clone();
        self.session = Some(OpenSession { entry: session.clone(), reserved: 0, before });
        self.next_number = Some(session.first);
        Ok(())
    }

    fn reserve(&mut self, until: u64) -> Result<(), EntryOutOfPlace> {
        let session = self.session.as_mut().ok_or(EntryOutOfPlace)?;
        if until < session.reserved || until > session.entry.plan.len() {
            return Err(EntryOutOfPlace);
        }
        let positions = std::mem::replace(&mut session.reserved, until)..until;
        self.next_number = Some(number(session.entry.first, until));
        self.set(positions, FateWord::Unknown, None)
    }

    fn fate(&mut self, one: &FateEntry) -> Result<(), EntryOutOfPlace> {
        let reserved = self.session.as_ref().map_or(0, |session| session.reserved);
        if one.positions.end > reserved {
            return Err(EntryOutOfPlace);
        }
        self.set(one.positions.clone(), one.fate, one.diagnostic.as_deref())
    }

    fn set(
        &mut self,
        positions: Range<u64>,
        fate: FateWord,
        diagnostic: Option<&str>,
    ) -> Result<(), EntryOutOfPlace> {
        let session = self.session.as_ref().ok_or(EntryOutOfPlace)?;
        for (position, indices) in session.entry.plan.slices(positions) {
            #[allow(clippy::cast_possible_truncation)] // CLTU identifications wrap
            let index = indices.start as u32;
            let number_offset = Some(number(session.entry.first, position).wrapping_sub(index));
            let diagnostic = diagnostic.map(Into::into);
            self.fates.set(indices, RecordedFate { fate, diagnostic, number_offset });
        }
        Ok(())
    }

    fn close(&mut self, sent: u64) -> Result<(), EntryOutOfPlace> {
        let session = self.session.as_ref().ok_or(EntryOutOfPlace)?;
        if sent > session.reserved {
            return Err(EntryOutOfPlace);
        }
        for (_, indices) in session.entry.plan.slices(sent..session.reserved) {
            self.fates.restore(indices, &session.before);
        }
        self.next_number = Some(number(session.entry.first, sent));
        self.session = None;
        Ok(())
    }
}

/// CLTU identification at a position.
fn number(first: u32, position: u64) -> u32 {
    #[allow(clippy::cast_possible_truncation)] // CLTU identifications wrap
    first.wrapping_add(position as u32)
}

#[cfg(test)]
mod tests {
    use super::super::plan::SendPlan;
    use super::*;

    fn runs(state: &TransferState) -> Vec<(Range<u64>, FateWord, Option<u32>)> {
        state.fates().runs().map(|run| (run.cltus.clone(), run.fate.fate, run.number())).collect()
    }

    fn fate(positions: Range<u64>, fate: FateWord) -> JournalEntry {
        JournalEntry::Fate(FateEntry { positions, fate, diagnostic: None })
    }

    /// Ten CLTUs. Killed after 6 were reserved and 3 radiated; then the 3 unknown ones are sent again
    /// on demand, and of the rest one more.
    #[test]
    fn after_a_kill_what_was_reserved_is_unknown() {
        use FateWord::{Acknowledged, NotSent, Radiated, Unknown};
        let mut state = TransferState::new(10);
        let all = [
            JournalEntry::Session(SessionEntry { first: 100, plan: SendPlan::from(0..10) }),
            JournalEntry::Reserved { until: 4 },
            fate(0..4, Acknowledged),
            fate(0..3, Radiated),
            JournalEntry::Reserved { until: 6 },
        ];
        for entry in &all {
            state.apply(entry).unwrap();
        }
        assert_eq!(
            runs(&state),
            [
                (0..3, Radiated, Some(100)),
                (3..4, Acknowledged, Some(103)),
                (4..6, Unknown, Some(104)),
                (6..10, NotSent, None),
            ]
        );
        assert_eq!(state.next_number(), Some(106));
        let again = [
            JournalEntry::Session(SessionEntry { first: 106, plan: SendPlan::from(4..10) }),
            JournalEntry::Reserved { until: 6 },
            fate(0..3, Radiated),
            JournalEntry::Closed { sent: 3 },
        ];
        for entry in &again {
            state.apply(entry).unwrap();
        }
        assert_eq!(
            runs(&state)[2..],
            [(4..7, Radiated, Some(106)), (7..10, NotSent, None)],
            "what was reserved and not sent is as before"
        );
        assert_eq!(state.next_number(), Some(109));
    }

    #[test]
    fn entries_out_of_place_change_nothing() {
        let mut state = TransferState::new(4);
        let session = |plan| JournalEntry::Session(SessionEntry { first: 0, plan });
        for entry in [
            JournalEntry::Reserved { until: 1 },
            fate(0..1, FateWord::Radiated),
            JournalEntry::Closed { sent: 0 },
            session(SendPlan::from(0..5)),
        ] {
            assert_eq!(state.apply(&entry), Err(EntryOutOfPlace), "{entry:?}");
        }
        state.apply(&session(SendPlan::from(0..4))).unwrap();
        assert_eq!(state.apply(&JournalEntry::Reserved { until: 5 }), Err(EntryOutOfPlace));
        assert_eq!(state.apply(&fate(0..1, FateWord::Radiated)), Err(EntryOutOfPlace));
        assert_eq!(state.fates().count(FateWord::NotSent), 4);
    }
}

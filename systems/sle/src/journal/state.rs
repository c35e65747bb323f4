//! What the entries of a journal amount to.

use super::entry::{FateEntry, GivenEntry, JournalEntry, SessionEntry};
use super::fates::{FateWord, RecordedFate, TransferFates};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// CLTUs whose programs' numbers are kept: the last ones.
const REFERENCES_MAX: usize = 65_536;

/// State of a transfer after some entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferState {
    fates: TransferFates,
    /// Indices of CLTUs that were told as radiated after their loss was told.
    contradicted: BTreeSet<u64>,
    /// The programs' own numbers of the last CLTUs that they gave, by index.
    references: BTreeMap<u64, u64>,
    session: Option<OpenSession>,
    next_index: u64,
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
        Self {
            fates: TransferFates::new(cltus),
            contradicted: BTreeSet::new(),
            references: BTreeMap::new(),
            session: None,
            next_index: 0,
            next_number: None,
        }
    }

    /// The fates of all CLTUs.
    #[must_use]
    pub fn fates(&self) -> &TransferFates {
        &self.fates
    }

    /// Indices of the CLTUs that the provider told as radiated after it had told their loss. Whether
    /// they were radiated nobody knows.
    pub fn contradicted(&self) -> impl Iterator<Item = u64> {
        self.contradicted.iter().copied()
    }

    /// The parts of a range of indices that have no contradicted CLTU.
    #[must_use]
    pub fn without_contradicted(&self, cltus: Range<u64>) -> Vec<Range<u64>> {
        let mut parts = Vec::new();
        let mut start = cltus.start;
        for index in self.contradicted.range(cltus.clone()) {
            parts.push(start..*index);
            start = index + 1;
        }
        parts.push(start..cltus.end);
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// The programs' own numbers of the last CLTUs that they gave to a link, with their indices.
    pub fn references(&self) -> impl Iterator<Item = (u64, u64)> {
        self.references.iter().map(|(index, reference)| (*index, *reference))
    }

    /// An index behind all CLTUs that may have been sent.
    #[must_use]
    pub fn next_index(&self) -> u64 {
        self.next_index
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
            JournalEntry::Given(given) => self.give(given),
            JournalEntry::Reserved { until } => self.reserve(*until),
            JournalEntry::Fate(one) => self.fate(one),
            JournalEntry::Contradicted { position } => self.contradict(*position),
            JournalEntry::Closed { sent } => self.close(*sent),
        }
    }

    fn begin(&mut self, session: &SessionEntry) -> Result<(), EntryOutOfPlace> {
        if session.plan.ranges().any(|range| range.end > self.fates.cltus()) {
            return Err(EntryOutOfPlace);
        }
        let before = self.fates.clone();
        if let Some(first) = session.plan.index(0) {
            self.next_index = self.next_index.max(first);
        }
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
        let last = until.checked_sub(1).and_then(|last| session.entry.plan.index(last));
        self.next_index = self.next_index.max(last.map_or(0, |last| last + 1));
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

    fn give(&mut self, given: &GivenEntry) -> Result<(), EntryOutOfPlace> {
        let session = self.session.as_ref().ok_or(EntryOutOfPlace)?;
        let index = session.entry.plan.index(given.position).ok_or(EntryOutOfPlace)?;
        self.references.insert(index, given.reference);
        while self.references.len() > REFERENCES_MAX {
            self.references.pop_first();
        }
        Ok(())
    }

    fn contradict(&mut self, position: u64) -> Result<(), EntryOutOfPlace> {
        let session = self.session.as_ref().filter(|session| position < session.reserved);
        let index = session.and_then(|session| session.entry.plan.index(position));
        self.contradicted.insert(index.ok_or(EntryOutOfPlace)?);
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

    /// The provider tells the loss of CLTU 2, then its radiation: both are kept, and the CLTU is none
    /// that may be sent again.
    #[test]
    fn a_contradiction_is_kept_beside_the_fate() {
        let mut state = TransferState::new(6);
        let plan = SendPlan::from(0..6);
        for entry in [
            JournalEntry::Session(SessionEntry { first: 0, plan }),
            JournalEntry::Reserved { until: 4 },
            fate(0..2, FateWord::Radiated),
            fate(2..3, FateWord::Expired),
            fate(3..4, FateWord::Discarded),
            JournalEntry::Contradicted { position: 2 },
            JournalEntry::Contradicted { position: 2 },
        ] {
            state.apply(&entry).unwrap();
        }
        assert_eq!(state.contradicted().collect::<Vec<_>>(), [2]);
        assert_eq!(state.fates().at(2).fate, FateWord::Expired);
        assert_eq!(state.without_contradicted(0..6), [0..2, 3..6]);
        assert_eq!(state.without_contradicted(2..3), []);
        let beyond = JournalEntry::Contradicted { position: 4 };
        assert_eq!(state.apply(&beyond), Err(EntryOutOfPlace), "it was not sent");
    }

    /// A link has no number of CLTUs: indices go on from one session, and one file, to the next.
    #[test]
    fn a_links_indices_go_on_and_its_programs_numbers_are_kept() {
        let mut state = TransferState::new(1 << 31);
        let plan = SendPlan::from(40..1 << 31);
        for entry in [
            JournalEntry::Session(SessionEntry { first: 40, plan }),
            JournalEntry::Given(GivenEntry::new(0, 7, b"a")),
            JournalEntry::Given(GivenEntry::new(1, 9, b"b")),
            JournalEntry::Reserved { until: 2 },
            fate(0..1, FateWord::Radiated),
        ] {
            state.apply(&entry).unwrap();
        }
        assert_eq!(state.references().collect::<Vec<_>>(), [(40, 7), (41, 9)]);
        assert_eq!(state.fates().at(41).fate, FateWord::Unknown);
        assert_eq!(state.next_index(), 42);
        state.apply(&JournalEntry::Closed { sent: 1 }).unwrap();
        assert_eq!(state.fates().at(41).fate, FateWord::NotSent);
        assert_eq!(state.next_index(), 42, "an index has one CLTU, also one that was not sent");
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

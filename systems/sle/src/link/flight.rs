//! CLTUs of a session that have no last fate yet, between the thread that sends them and the one that
//! writes the journal.

use super::ledger::CltuLedger;
use super::program::GivenCltu;
use crate::client::{FateCursor, SettledCltus, User, notation};
use crate::journal::{FateEntry, FateWord, JournalEntry};
use crate::pdu::{Diagnostic, ServiceType};
use crate::service::fcltu::CltuFate;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Numbers of lost CLTUs that are kept, for reports that contradict their loss.
const LOST_MAX: usize = 4096;

/// An answer that a program gets when the entry before it is in the journal.
#[derive(Debug)]
struct DueAnswer {
    cltu: GivenCltu,
    number: u32,
    fate: FateWord,
    diagnostic: Option<String>,
}

#[derive(Debug, Default)]
struct FlightState {
    /// By CLTU identification.
    open: HashMap<u32, GivenCltu>,
    /// Indices of lost CLTUs by their identifications.
    lost: HashMap<u32, u64>,
    /// Entries and answers that are due.
    entries: Vec<JournalEntry>,
    due: Vec<DueAnswer>,
    /// Answers whose entries are written when the journal asks again.
    written: Vec<DueAnswer>,
    contradicted: usize,
    has_loss: bool,
}

/// The CLTUs of one session.
#[derive(Debug)]
pub(super) struct CltuFlight<'a> {
    /// Index at position 0 of the session.
    first: u64,
    ledger: &'a CltuLedger,
    state: Mutex<FlightState>,
}

impl<'a> CltuFlight<'a> {
    pub(super) fn new(first: u64, ledger: &'a CltuLedger) -> Self {
        Self { first, ledger, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, FlightState> {
        // Lock poisoning is ignored: every update is a single step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A CLTU is about to be sent with this number.
    pub(super) fn depart(&self, number: u32, cltu: GivenCltu) {
        let mut state = self.lock();
        state.lost.remove(&number);
        state.open.insert(number, cltu);
    }

    /// Takes a CLTU back that was not sent, or that the provider has refused.
    pub(super) fn take_back(&self, number: u32) -> Option<GivenCltu> {
        self.lock().open.remove(&number)
    }

    /// The provider has accepted a CLTU. Nothing happens if its fate is known already.
    pub(super) fn acknowledge(&self, number: u32) {
        let mut state = self.lock();
        let Some(cltu) = state.open.get_mut(&number) else { return };
        cltu.answer(Some(number), FateWord::Acknowledged, None, false);
        let Some(index) = cltu.index else { return };
        let positions = index - self.first..index - self.first + 1;
        let fate = FateWord::Acknowledged;
        push(&mut state.entries, FateEntry { positions, fate, diagnostic: None });
    }

    /// Whether the provider has told the loss of a CLTU: it takes no other one before STOP and START
    /// (CCSDS 912.1).
    pub(super) fn has_loss(&self) -> bool {
        self.lock().has_loss
    }

    /// A CLTU was refused and is not sent again.
    pub(super) fn refuse(&self, number: u32, cltu: GivenCltu, diagnostic: Diagnostic) {
        let text = notation::diagnostic(ServiceType::Fcltu, "TRANSFER-DATA", diagnostic);
        self.settle(&mut self.lock(), number, cltu, FateWord::Refused, Some(text));
    }

    fn settle(
        &self,
        state: &mut FlightState,
        number: u32,
        cltu: GivenCltu,
        fate: FateWord,
        diagnostic: Option<String>,
    ) {
        let Some(index) = cltu.index else { return };
        if fate != FateWord::Radiated && state.lost.len() < LOST_MAX {
            state.lost.insert(number, index);
        }
        let positions = index - self.first..index - self.first + 1;
        let entry = FateEntry { positions, fate, diagnostic: diagnostic.clone() };
        push(&mut state.entries, entry);
        self.ledger.settle(index, fate, diagnostic.as_deref());
        state.due.push(DueAnswer { cltu, number, fate, diagnostic });
    }

    /// For the journal: appends what was reported since the last call. What was appended then is written,
    /// and its programs are answered.
    pub(super) fn collect(
        &self,
        user: &User,
        cursor: &mut FateCursor,
        entries: &mut Vec<JournalEntry>,
    ) {
        let settled = user.fates_since(cursor);
        let mut state = self.lock();
        for run in settled {
            self.settle_run(&mut state, run);
        }
        for number in user.contradicted_since(state.contradicted) {
            state.contradicted += 1;
            if let Some(index) = state.lost.get(&number) {
                let position = index - self.first;
                state.entries.push(JournalEntry::Contradicted { position });
            }
        }
        entries.append(&mut state.entries);
        let due = std::mem::take(&mut state.due);
        let written = std::mem::replace(&mut state.written, due);
        drop(state);
        answer(written);
    }

    fn settle_run(&self, state: &mut FlightState, run: SettledCltus) {
        state.has_loss |= matches!(
            run.fate,
            CltuFate::Expired | CltuFate::Interrupted | CltuFate::NotStarted | CltuFate::Discarded
        );
        let diagnostic = match run.fate {
            CltuFate::Refused(diagnostic) => {
                Some(notation::diagnostic(ServiceType::Fcltu, "TRANSFER-DATA", diagnostic))
            }
            _ => None,
        };
        for offset in 0..run.cltus.count {
            let number = run.cltus.first.wrapping_add(offset);
            if let Some(cltu) = state.open.remove(&number) {
                self.settle(state, number, cltu, run.fate.into(), diagnostic.clone());
            }
        }
    }

    /// The journal is closed: answers what is left. A CLTU without a fate is unknown, as the journal has
    /// it.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        let mut all = std::mem::take(&mut state.written);
        all.append(&mut state.due);
        let fate = FateWord::Unknown;
        let open = state.open.drain();
        all.extend(open.map(|(number, cltu)| DueAnswer { cltu, number, fate, diagnostic: None }));
        drop(state);
        answer(all);
    }
}

fn answer(due: Vec<DueAnswer>) {
    for mut one in due {
        one.cltu.answer(Some(one.number), one.fate, one.diagnostic.as_deref(), true);
    }
}

/// Adds a fate; adjacent CLTUs with the same one are one entry.
fn push(entries: &mut Vec<JournalEntry>, next: FateEntry) {
    if let Some(JournalEntry::Fate(last)) = entries.last_mut()
        && last.positions.end == next.positions.start
        && last.fate == next.fate
        && last.diagnostic == next.diagnostic
    {
        last.positions.end = next.positions.end;
        return;
    }
    entries.push(JournalEntry::Fate(next));
}

//! The fates of the last CLTUs of a link, for programs that ask.

use crate::journal::{FateWord, TransferState};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// CLTUs whose fates are kept in memory: the last ones. Older ones are in the journal.
const CLTUS_MAX: usize = 65_536;

#[derive(Clone, Debug)]
struct LedgerEntry {
    reference: u64,
    fate: FateWord,
    diagnostic: Option<String>,
}

#[derive(Debug, Default)]
struct LedgerState {
    /// By index.
    cltus: BTreeMap<u64, LedgerEntry>,
    /// Number of CLTUs that got each fate, since the program was started.
    counts: BTreeMap<&'static str, u64>,
}

/// The fates of the last CLTUs, by their indices in the journal.
#[derive(Debug, Default)]
pub(super) struct CltuLedger(Mutex<LedgerState>);

impl CltuLedger {
    fn lock(&self) -> MutexGuard<'_, LedgerState> {
        // Lock poisoning is ignored: every update is a single step.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a journal knows of the CLTUs before the program was started.
    pub(super) fn restore(&self, state: &TransferState) {
        let mut ledger = self.lock();
        for (index, reference) in state.references() {
            let known = state.fates().at(index);
            let diagnostic = known.diagnostic.as_deref().map(str::to_owned);
            ledger.cltus.insert(index, LedgerEntry { reference, fate: known.fate, diagnostic });
        }
    }

    /// A CLTU may be sent from now on.
    pub(super) fn reserve(&self, index: u64, reference: u64) {
        let mut ledger = self.lock();
        let entry = LedgerEntry { reference, fate: FateWord::Unknown, diagnostic: None };
        ledger.cltus.insert(index, entry);
        while ledger.cltus.len() > CLTUS_MAX {
            ledger.cltus.pop_first();
        }
    }

    /// A fate; the last one counts.
    pub(super) fn settle(&self, index: u64, fate: FateWord, diagnostic: Option<&str>) {
        let mut ledger = self.lock();
        *ledger.counts.entry(fate.word()).or_default() += 1;
        if let Some(entry) = ledger.cltus.get_mut(&index) {
            entry.fate = fate;
            entry.diagnostic = diagnostic.map(str::to_owned);
        }
    }

    /// The fates from an index on, as answers.
    pub(super) fn from(&self, index: u64) -> Vec<Value> {
        let ledger = self.lock();
        let answer = |(index, entry): (&u64, &LedgerEntry)| {
            json!({
                "reference": entry.reference,
                "index": index,
                "fate": entry.fate.word(),
                "diagnostic": entry.diagnostic,
            })
        };
        ledger.cltus.range(index..).map(answer).collect()
    }

    /// Number of CLTUs that got each fate since the program was started.
    pub(super) fn status(&self) -> Value {
        json!(self.lock().counts)
    }
}

//! The fate of every CLTU of a transfer, as runs of CLTUs with the same fate.

use crate::service::fcltu::CltuFate;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A fate in one word, as the journal and the program spell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FateWord {
    /// Never sent.
    NotSent,
    /// It may have been sent; the provider has told nothing of it.
    Unknown,
    /// The provider has accepted it, and not told whether it was radiated.
    Acknowledged,
    /// Radiated.
    Radiated,
    /// Accepted, and too late to be radiated.
    Expired,
    /// Its radiation was cut short.
    Interrupted,
    /// Its turn came when production was interrupted.
    NotStarted,
    /// Accepted and discarded, because an earlier one was lost or production stopped.
    Discarded,
    /// The provider has not accepted it.
    Refused,
}

impl FateWord {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::NotSent,
        Self::Unknown,
        Self::Acknowledged,
        Self::Radiated,
        Self::Expired,
        Self::Interrupted,
        Self::NotStarted,
        Self::Discarded,
        Self::Refused,
    ];

    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotSent => "not-sent",
            Self::Unknown => "unknown",
            Self::Acknowledged => "acknowledged",
            Self::Radiated => "radiated",
            Self::Expired => "expired",
            Self::Interrupted => "interrupted",
            Self::NotStarted => "not-started",
            Self::Discarded => "discarded",
            Self::Refused => "refused",
        }
    }

    /// The fate of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fate| fate.word() == word)
    }
}

impl From<CltuFate> for FateWord {
    fn from(fate: CltuFate) -> Self {
        match fate {
            CltuFate::Refused(_) => Self::Refused,
            CltuFate::Radiated => Self::Radiated,
            CltuFate::Expired => Self::Expired,
            CltuFate::Interrupted => Self::Interrupted,
            CltuFate::NotStarted => Self::NotStarted,
            CltuFate::Discarded => Self::Discarded,
            CltuFate::Acknowledged => Self::Acknowledged,
            CltuFate::Unknown => Self::Unknown,
        }
    }
}

/// The fate of a CLTU, and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFate {
    /// The fate.
    pub fate: FateWord,
    /// Diagnostic of a refusal.
    pub diagnostic: Option<Arc<str>>,
    /// The CLTU identification minus the index of the CLTU in the transfer (both wrap); `None` if it
    /// was never sent.
    pub number_offset: Option<u32>,
}

impl RecordedFate {
    const NOT_SENT: Self = Self { fate: FateWord::NotSent, diagnostic: None, number_offset: None };
}

/// CLTUs with the same fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FateRun {
    /// Their indices in the transfer, from 0.
    pub cltus: Range<u64>,
    /// Their fate.
    pub fate: RecordedFate,
}

impl FateRun {
    /// CLTU identification of the first; `None` if it was never sent.
    #[must_use]
    pub fn number(&self) -> Option<u32> {
        #[allow(clippy::cast_possible_truncation)] // CLTU identifications wrap
        self.fate.number_offset.map(|offset| offset.wrapping_add(self.cltus.start as u32))
    }
}

/// The fates of all CLTUs of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferFates {
    cltus: u64,
    /// Fate of the CLTUs from this index up to the next one.
    starts: BTreeMap<u64, RecordedFate>,
}

impl TransferFates {
    /// Of a transfer of so many CLTUs, none of which is sent.
    #[must_use]
    pub fn new(cltus: u64) -> Self {
        Self { cltus, starts: BTreeMap::from([(0, RecordedFate::NOT_SENT)]) }
    }

    /// Number of CLTUs.
    #[must_use]
    pub fn cltus(&self) -> u64 {
        self.cltus
    }

    /// The fate of the CLTU at an index.
    #[must_use]
    pub fn at(&self, index: u64) -> &RecordedFate {
        self.starts.range(..=index).next_back().map_or(&RecordedFate::NOT_SENT, |(_, fate)| fate)
    }

    /// Sets the fate of CLTUs; what is beyond the last one is left out.
    pub fn set(&mut self, cltus: Range<u64>, fate: RecordedFate) {
        let Range { start, end } = cltus.start..cltus.end.min(self.cltus);
        if start >= end {
            return;
        }
        let behind = self.at(end).clone();
        self.starts.retain(|index, _| !(start..end).contains(index));
        if end < self.cltus {
            if behind == fate {
                self.starts.remove(&end);
            } else {
                self.starts.insert(end, behind);
            }
        }
        if start == 0 || *self.at(start - 1) != fate {
            self.starts.insert(start, fate);
        }
    }

    /// Sets CLTUs back to what they were in `before`.
    pub fn restore(&mut self, cltus: Range<u64>, before: &Self) {
        let runs: Vec<FateRun> = before.runs().collect();
        for run in runs {
            let start = run.cltus.start.max(cltus.start);
            self.set(start..run.cltus.end.min(cltus.end), run.fate);
        }
    }

    /// All CLTUs in their order, as runs with the same fate.
    pub fn runs(&self) -> impl Iterator<Item = FateRun> {
        let ends = self.starts.keys().copied().skip(1).chain([self.cltus]);
        self.starts
            .iter()
            .zip(ends)
            .map(|((start, fate), end)| FateRun { cltus: *start..end, fate: fate.clone() })
            .filter(|run| !run.cltus.is_empty())
    }

    /// Number of CLTUs with a fate.
    #[must_use]
    pub fn count(&self, fate: FateWord) -> u64 {
        let of = self.runs().filter(|run| run.fate.fate == fate);
        of.map(|run| run.cltus.end - run.cltus.start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fate(fate: FateWord) -> RecordedFate {
        RecordedFate { fate, diagnostic: None, number_offset: Some(7) }
    }

    #[test]
    fn every_fate_has_a_word_of_its_own() {
        for one in FateWord::ALL {
            assert_eq!(FateWord::parse(one.word()), Some(one));
        }
        assert_eq!(FateWord::parse("lost"), None);
    }

    #[test]
    fn numbers_follow_from_the_offset() {
        let mut fates = TransferFates::new(10);
        fates.set(2..5, fate(FateWord::Radiated));
        let runs: Vec<_> = fates.runs().map(|run| (run.cltus.clone(), run.number())).collect();
        assert_eq!(runs, [(0..2, None), (2..5, Some(9)), (5..10, None)]);
    }

    proptest! {
        /// As an array of fates would have it.
        #[test]
        fn runs_are_as_an_array(sets in prop::collection::vec((0..40u64, 0..20u64, 0..9usize), 0..30)) {
            let mut fates = TransferFates::new(32);
            let mut array = vec![RecordedFate::NOT_SENT; 32];
            for (start, count, word) in sets {
                let one = fate(FateWord::ALL[word]);
                fates.set(start..start + count, one.clone());
                for (_, slot) in (0..).zip(array.iter_mut()).filter(|(i, _)| (start..start + count).contains(i)) {
                    *slot = one.clone();
                }
            }
            let flat: Vec<_> = fates.runs()
                .flat_map(|run| run.cltus.map(move |_| run.fate.clone()))
                .collect();
            prop_assert_eq!(&flat, &array);
            let runs: Vec<_> = fates.runs().collect();
            prop_assert!(runs.windows(2).all(|two| two[0].fate != two[1].fate), "{:?}", runs);
        }
    }
}

//! Native chains, minute by minute: by one pass over columns where that suffices, else grouped by
//! chain.

use crate::foreign_chains::{ForeignChains, MixedChainRows};
use crate::group::{ChainScope, Grouping, read_native, read_unsealed};
use crate::minutes::{Minutes, NativeMinute};
use crate::scan::scan;
use crate::series::Findings;
use crate::task::Task;
use chronoscope_chain::{Partition, Paths};
use chronoscope_model::ChainId;
use chronoscope_store::segment_file::SegmentFile;
use chronoscope_store::{RowKind, StoreError};

impl Task<'_> {
    /// Asks native chains minute by minute, those without foreign rows; and says where the others
    /// are.
    pub(crate) fn ask_native(
        &self,
        minutes: &Minutes<'_>,
        foreign: &ForeignChains,
    ) -> Result<(Findings, MixedChainRows), StoreError> {
        let jobs: Vec<_> = minutes.native.iter().collect();
        let new = || (Findings::new(self.shared.keep), MixedChainRows::default());
        let states = self.spread(&jobs, new, |(findings, all), (minute, rows)| {
            let mut meeting = MixedChainRows::default();
            findings.merge(self.ask_minute(rows, foreign, &mut meeting)?);
            all.add(**minute, meeting);
            rows.parts.iter().try_for_each(|_| self.shared.progress.tick())
        })?;
        let mut findings = Findings::new(self.shared.keep);
        let mut meeting = MixedChainRows::default();
        for (found, met) in states {
            findings.merge(found);
            meeting.merge(met);
        }
        Ok((findings, meeting))
    }

    /// Asks rows whose chains were linked elsewhere.
    pub(crate) fn ask_linked(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let new = || Findings::new(self.shared.keep);
        let states = self.spread(&minutes.linked, new, |findings, segment| {
            let scanned = SegmentFile::open(segment).and_then(|file| {
                if self.is_outside(&file) {
                    return Ok(None);
                }
                scan(&file, self.shared, RowKind::Native, &[])
            });
            findings.merge(self.or_damage(segment, scanned)?.flatten().unwrap_or_else(new));
            self.shared.progress.tick()
        })?;
        let mut findings = new();
        states.into_iter().for_each(|found| findings.merge(found));
        Ok(findings)
    }

    pub(crate) fn ask_minute(
        &self,
        minute: &NativeMinute<'_>,
        foreign: &ForeignChains,
        meeting: &mut MixedChainRows,
    ) -> Result<Findings, StoreError> {
        let empty = || Findings::new(self.shared.keep);
        let corrected = self.shared.clocks.as_ref().is_some_and(|clocks| clocks.corrected);
        let grouped = self.shared.question.split
            || corrected
            || self.shared.breakdowns.is_some()
            || self.shared.arriving.is_some()
            || self.shared.attributes.as_ref().is_some_and(|attributes| !attributes.is_of_leaf());
        if let ([part], [], false) = (&minute.parts[..], &minute.unsealed[..], grouped) {
            let scanned = SegmentFile::open(part).and_then(|file| {
                if self.is_outside(&file) {
                    meeting.passed_over = true;
                    return Ok(Some(empty()));
                }
                let (rows, chains) = foreign.rows_in(&file)?;
                let scanned = scan(&file, self.shared, RowKind::Native, &rows)?;
                if scanned.is_some() {
                    meeting.chains.extend(chains);
                    meeting.rows += rows.len() as u64;
                }
                Ok(scanned)
            });
            match self.or_damage(part, scanned)? {
                None => return Ok(empty()),
                Some(Some(findings)) => return Ok(findings),
                Some(None) => {} // it has to be grouped
            }
        }
        self.group_minute(minute, foreign, meeting)
    }

    fn group_minute(
        &self,
        minute: &NativeMinute<'_>,
        foreign: &ForeignChains,
        meeting: &mut MixedChainRows,
    ) -> Result<Findings, StoreError> {
        let memory = self.memory_bytes() / self.limits.threads.max(1) as u64;
        let mut findings = Findings::new(self.shared.keep);
        let rows: u64 = minute.parts.iter().map(|part| part.row_count).sum();
        let rows = rows + minute.unsealed.len() as u64;
        for partition in Partition::within(rows, memory) {
            let chains =
                self.shared.breakdowns.as_ref().and_then(|breakdowns| breakdowns.chains.as_ref());
            let mut wanted = |chain| {
                chains.is_none_or(|chains| chains.contains(chain))
                    && partition.contains(chain)
                    && !(foreign.contains(chain) && meeting.meet(chain))
            };
            let mut paths = Paths::default();
            let mut runs =
                vec![read_unsealed(&minute.unsealed, self.shared, &mut wanted, &mut paths)];
            for part in &minute.parts {
                let run = SegmentFile::open(part).and_then(|file| {
                    read_native(&file, self.shared, &mut wanted, |classes| paths.of(classes))
                });
                runs.extend(self.or_damage(part, run)?);
            }
            let mut grouping = Grouping::new(self.shared);
            grouping.ask(&runs, (ChainId::NONE, None), ChainScope::All, &mut paths);
            findings.merge(grouping.into_findings());
        }
        Ok(findings)
    }
}

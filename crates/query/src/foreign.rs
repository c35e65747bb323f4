//! Foreign chains, and mixed ones: those that go from native rows to foreign ones or back.
//!
//! Foreign rows lie in the minutes of their own starts, so that a chain's rows are anywhere. Which
//! chains have foreign rows is found out first, from two columns of the foreign segments. Native
//! rows of these are passed over where native minutes are asked; they are brought together with
//! the foreign ones here, and the chain is asked as a whole. A store without foreign rows pays
//! nothing for it, one with both kinds two more columns of its native segments.

use crate::foreign_chains::{ForeignChains, MixedChainRows};
use crate::group::{ChainScope, Grouping, read_chains, read_foreign, read_native, read_unsealed};
use crate::minutes::Minutes;
use crate::series::Findings;
use crate::task::Task;
use chronoscope_chain::{Partition, Paths, Run, cuts};
use chronoscope_model::ChainId;
use chronoscope_store::segment_file::SegmentFile;
use chronoscope_store::{Minute, Segment, StoreError};
use std::collections::{BTreeSet, HashSet};
use std::sync::{Mutex, PoisonError};

impl Task<'_> {
    /// Asks all chains, native, foreign and mixed.
    pub(crate) fn ask_chains(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let mut findings = self.ask_whole_chains(minutes)?;
        findings.merge(self.ask_linked(minutes)?);
        Ok(findings)
    }

    /// Asks all chains but those that were linked elsewhere.
    pub(crate) fn ask_whole_chains(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let foreign = self.foreign_chains(minutes)?;
        let (mut findings, meeting) = self.ask_native(minutes, &foreign)?;
        findings.merge(self.ask_foreign(minutes, &foreign, &meeting)?);
        Ok(findings)
    }

    /// Asks chosen chains, which are few: of whatever rows, these are brought together at once.
    pub(crate) fn ask_chosen(&self, minutes: &Minutes<'_>) -> Result<Findings, StoreError> {
        let breakdowns = self.shared.breakdowns.as_ref();
        let chosen = breakdowns.and_then(|breakdowns| breakdowns.chains.as_ref());
        let wanted = |chain| chosen.is_none_or(|chains| chains.contains(chain));
        let states = self.spread(&minutes.foreign, Vec::new, |runs, segment| {
            let mut run = Run::default();
            let read = SegmentFile::open(segment).and_then(|file| {
                read_foreign(&file, self.shared, |chain, rows| run.extend(chain, rows))
            });
            if self.or_damage(segment, read)?.is_some() && !run.is_empty() {
                run.sort();
                runs.push(run);
            }
            Ok(())
        })?;
        let mut runs = states.concat();
        let (all, paths) = (minutes.native.keys().copied().collect(), Mutex::default());
        runs.extend(self.read_natives(minutes, &all, &wanted, &paths)?);
        let mut paths = paths.into_inner().unwrap_or_else(PoisonError::into_inner);
        runs.push(read_unsealed(&minutes.foreign_unsealed, self.shared, wanted, &mut paths));
        let mut grouping = Grouping::new(self.shared);
        grouping.ask(&runs, (ChainId::NONE, None), ChainScope::All, &mut paths);
        Ok(grouping.into_findings())
    }

    /// The chains that have foreign rows. Takes some 26 bytes for every one of them.
    fn foreign_chains(&self, minutes: &Minutes<'_>) -> Result<ForeignChains, StoreError> {
        let states = self.spread(&minutes.foreign, Vec::new, |chains, segment| {
            let read = SegmentFile::open(segment).and_then(|file| read_chains(&file));
            chains.extend(self.or_damage(segment, read)?.unwrap_or_default());
            Ok(())
        })?;
        let mut chains = states.concat();
        chains.extend(minutes.foreign_unsealed.iter().map(|record| (record.chain(), 1)));
        Ok(ForeignChains::new(chains))
    }

    /// Most foreign chains lie in one place, and are asked as they are read; the rows of the
    /// others are brought together, in as many passes as memory demands.
    fn ask_foreign(
        &self,
        minutes: &Minutes<'_>,
        foreign: &ForeignChains,
        meeting: &MixedChainRows,
    ) -> Result<Findings, StoreError> {
        let mut findings = Findings::new(self.shared.keep);
        if foreign.chains.is_empty() {
            return Ok(findings);
        }
        let unsealed = minutes.foreign_unsealed.iter().map(|record| record.chain());
        let mut scattered: HashSet<ChainId> = unsealed.collect();
        scattered.extend(foreign.in_several_places());
        scattered.extend(&meeting.chains);
        let rows = foreign.rows_of(&scattered) + meeting.rows;
        for partition in Partition::within(rows, self.memory_bytes()) {
            let (found, mut runs, mut aside) =
                self.read_scattered(minutes, &scattered, partition)?;
            findings.merge(found);
            let paths = Mutex::default();
            let mixed = |chain| partition.contains(chain) && meeting.chains.contains(&chain);
            runs.extend(self.read_natives(minutes, &meeting.minutes, &mixed, &paths)?);
            let paths = paths.into_inner().unwrap_or_else(PoisonError::into_inner);
            let (found, more_aside) = self.ask_runs(&runs, &paths)?;
            drop(runs);
            findings.merge(found);
            aside.extend(more_aside);
            findings.merge(self.ask_aside(minutes, meeting, aside)?);
        }
        Ok(findings)
    }

    /// Asks the chains that stand together (in the first pass), and reads the rows of those that do
    /// not, as far as they are in the partition. Returns what was found, the rows read, and the
    /// rows of chains that were put aside.
    fn read_scattered(
        &self,
        minutes: &Minutes<'_>,
        scattered: &HashSet<ChainId>,
        partition: Partition,
    ) -> Result<(Findings, Vec<Run>, Vec<Run>), StoreError> {
        let new = || (Findings::new(self.shared.keep), Vec::new(), Run::default());
        let states = self.spread(&minutes.foreign, new, |(findings, runs, aside), segment| {
            let mut grouping = Grouping::new(self.shared);
            let (mut run, mut mine) = (Run::default(), Run::default());
            let mut paths = Paths::default();
            let read = SegmentFile::open(segment).and_then(|file| {
                read_foreign(&file, self.shared, |chain, rows| {
                    if scattered.contains(&chain) {
                        if partition.contains(chain) {
                            run.extend(chain, rows);
                        }
                    } else if partition.index == 0
                        && !grouping.ask_chain(chain, rows, ChainScope::OrAside, &mut paths)
                    {
                        mine.extend(chain, rows);
                    }
                })
            });
            if partition.index == 0 {
                self.shared.progress.tick()?;
            }
            // All of a segment, or nothing.
            if self.or_damage(segment, read)?.is_some() {
                run.sort();
                runs.push(run);
                aside.append(mine);
                findings.merge(grouping.into_findings());
            }
            Ok(())
        })?;
        let mut findings = Findings::new(self.shared.keep);
        let (mut runs, mut aside) = (Vec::new(), Vec::new());
        for (found, read, mut put_aside) in states {
            findings.merge(found);
            runs.extend(read);
            put_aside.sort();
            aside.push(put_aside);
        }
        let wanted = |chain| partition.contains(chain);
        let mut paths = Paths::default(); // stays empty: these rows have no paths
        runs.push(read_unsealed(&minutes.foreign_unsealed, self.shared, wanted, &mut paths));
        Ok((findings, runs, aside))
    }

    /// Reads the native rows of some chains, in some minutes.
    fn read_natives(
        &self,
        minutes: &Minutes<'_>,
        of: &BTreeSet<Minute>,
        wanted: &(impl Fn(ChainId) -> bool + Sync),
        paths: &Mutex<Paths>,
    ) -> Result<Vec<Run>, StoreError> {
        let lock = || paths.lock().unwrap_or_else(PoisonError::into_inner);
        let chosen = || of.iter().filter_map(|minute| minutes.native.get(minute));
        let parts: Vec<&Segment> = chosen().flat_map(|minute| &minute.parts).copied().collect();
        let states = self.spread(&parts, Vec::new, |runs, part| {
            let run = SegmentFile::open(part).and_then(|file| {
                read_native(&file, self.shared, wanted, |classes| lock().of(classes))
            });
            runs.extend(self.or_damage(part, run)?.filter(|run| !run.is_empty()));
            Ok(())
        })?;
        let mut runs = states.concat();
        let mut paths = lock();
        let unsealed = chosen().filter(|minute| !minute.unsealed.is_empty());
        runs.extend(
            unsealed.map(|minute| read_unsealed(&minute.unsealed, self.shared, wanted, &mut paths)),
        );
        Ok(runs)
    }

    /// Asks scattered chains, every thread a share of them; `paths` are those of native rows.
    fn ask_runs(&self, runs: &[Run], paths: &Paths) -> Result<(Findings, Vec<Run>), StoreError> {
        let cuts = cuts(runs, self.limits.threads.max(1) * 4);
        let starts = std::iter::once(ChainId::NONE).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().map(Some).chain([None]);
        let shares: Vec<_> = starts.zip(ends).collect();
        let new = || (Grouping::new(self.shared), paths.clone(), Vec::new());
        let states = self.spread(&shares, new, |(grouping, paths, aside), share| {
            aside.push(grouping.ask(runs, *share, ChainScope::OrAside, paths));
            Ok(())
        })?;
        let mut aside = Vec::new();
        let mut findings = Findings::new(self.shared.keep);
        for (grouping, _, runs) in states {
            findings.merge(grouping.into_findings());
            aside.extend(runs.into_iter().filter(|run| !run.is_empty()));
        }
        Ok((findings, aside))
    }

    /// Asks foreign chains with rows missing, together with their native rows in minutes that were
    /// not looked at yet: they may hang below a root that started before the time asked for.
    fn ask_aside(
        &self,
        minutes: &Minutes<'_>,
        meeting: &MixedChainRows,
        mut aside: Vec<Run>,
    ) -> Result<Findings, StoreError> {
        let mut grouping = Grouping::new(self.shared);
        let paths = Mutex::default();
        let chains: HashSet<ChainId> = aside.iter().flat_map(Run::chains).collect();
        if !chains.is_empty() {
            let wanted = |chain| chains.contains(&chain);
            aside.extend(self.read_natives(minutes, &meeting.outside, &wanted, &paths)?);
        }
        let mut paths = paths.into_inner().unwrap_or_else(PoisonError::into_inner);
        grouping.ask(&aside, (ChainId::NONE, None), ChainScope::All, &mut paths);
        Ok(grouping.into_findings())
    }
}

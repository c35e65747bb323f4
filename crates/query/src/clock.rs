//! On which hosts rows are, and what these hosts' clocks say about durations: asked only where a
//! clock was ever read or hosts are asked for, so that a store of one host pays nothing.

use crate::question::{Clocks, DurationKind, Question};
use chronoscope_chain::{
    Chain, ChainRows, ClockEstimate, ClockShift, ClockTrack, Hop, HostIndex, Hosts,
};
use chronoscope_model::schema::column;
use chronoscope_model::{Names, ProcessId};
use chronoscope_store::segment_file::{SegmentColumns, SegmentFile};
use chronoscope_store::{ClockTable, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The clocks of a question's hosts.
pub(crate) struct HostClocks<'a> {
    /// Whether any clock was ever read: if not, only the hosts' names matter.
    pub(crate) read: bool,
    pub(crate) corrected: bool,
    /// The hosts that are asked for; `None` for all.
    wanted: Option<HashSet<HostIndex>>,
    /// Clocks of the hosts from index 1 on; hosts beyond have none.
    tracks: Vec<&'a ClockTrack>,
    /// Indices of the hosts with a track, and of others that occur in rows.
    hosts: Mutex<HashMap<String, HostIndex>>,
}

impl<'a> HostClocks<'a> {
    /// The hosts and their clocks, where they matter: where clocks were read, or where it matters
    /// how the hosts are `named`.
    pub(crate) fn of(table: &'a ClockTable, question: &Question, named: bool) -> Option<Self> {
        let read = !table.is_empty() && question.kind != DurationKind::Sync;
        if !read && !named {
            return None;
        }
        let mut clocks = Self::new(table, read, question);
        if !question.hosts.is_empty() {
            clocks.wanted = Some(question.hosts.iter().map(|host| clocks.index(host)).collect());
        }
        Some(clocks)
    }

    fn new(table: &'a ClockTable, read: bool, question: &Question) -> Self {
        let hosts = table.hosts().zip(1..).map(|((host, _), n)| (host.to_owned(), HostIndex(n)));
        Self {
            read,
            corrected: read && question.clocks == Clocks::Corrected,
            wanted: None,
            tracks: table.hosts().map(|(_, track)| track).collect(),
            hosts: Mutex::new(hosts.collect()),
        }
    }

    /// Whether leaves on a host are asked for.
    pub(crate) fn wants(&self, host: HostIndex) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&host))
    }

    /// Whether leaves on a host of this name are asked for.
    pub(crate) fn wants_name(&self, host: &str) -> bool {
        self.wanted.is_none() || self.wants(self.index(host))
    }

    /// The number of a host.
    pub(crate) fn index(&self, host: &str) -> HostIndex {
        if host.is_empty() {
            return HostIndex::UNKNOWN;
        }
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = hosts.get(host) {
            return *known;
        }
        let next = HostIndex(u32::try_from(hosts.len() + 1).unwrap_or(u32::MAX));
        hosts.insert(host.to_owned(), next);
        next
    }

    /// Whether leaves on any host are asked for.
    pub(crate) const fn wants_all(&self) -> bool {
        self.wanted.is_none()
    }

    /// The columns that [`Self::hosts_of`] needs: the roots' hosts matter for their clocks only.
    pub(crate) const fn columns(&self) -> &'static [&'static str] {
        if self.read { &[column::HOST, column::ROOT_HOST] } else { &[column::HOST] }
    }

    /// On which hosts the rows of a batch and, where clocks were read, their roots are: into
    /// `hosts`, which is emptied before.
    pub(crate) fn hosts_of(
        &self,
        columns: &SegmentColumns<'_>,
        hosts: &mut Vec<Hosts>,
    ) -> Result<(), StoreError> {
        hosts.clear();
        let (own_keys, own_words) = columns.words(column::HOST)?;
        let numbers = |words: Vec<&str>| -> Vec<HostIndex> {
            words.into_iter().map(|word| self.index(word)).collect()
        };
        let own = numbers(own_words);
        let of = |key: &i32, numbers: &[HostIndex]| {
            let number = usize::try_from(*key).ok().and_then(|key| numbers.get(key));
            number.copied().unwrap_or_default()
        };
        if !self.read {
            let root = HostIndex::UNKNOWN;
            hosts.extend(own_keys.iter().map(|key| Hosts { own: of(key, &own), root }));
            return Ok(());
        }
        let (root_keys, root_words) = columns.words(column::ROOT_HOST)?;
        let root = numbers(root_words);
        let pairs = own_keys.iter().zip(root_keys);
        hosts.extend(pairs.map(|(own_key, root_key)| Hosts {
            own: of(own_key, &own),
            root: of(root_key, &root),
        }));
        Ok(())
    }

    /// The names of the hosts, by their numbers.
    pub(crate) fn names(&self) -> Vec<String> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = vec![String::new(); hosts.len() + 1];
        for (name, index) in &*hosts {
            if let Some(place) = names.get_mut(index.0 as usize) {
                place.clone_from(name);
            }
        }
        names
    }

    /// The hosts of a process and of its root's.
    pub(crate) fn hosts_by_id(&self, names: &Names, own: ProcessId, root: ProcessId) -> Hosts {
        let host = |id| names.process(id).map_or(HostIndex::UNKNOWN, |name| self.index(&name.host));
        Hosts { own: host(own), root: host(root) }
    }

    fn estimate(&self, host: HostIndex, stamp_ns: i64) -> Option<ClockEstimate> {
        let index = usize::try_from(host.0.checked_sub(1)?).ok()?;
        self.tracks.get(index)?.at_own(stamp_ns)
    }

    /// Clock difference for a duration from a root's stamp to a leaf's; `None` where both are of
    /// one clock, and `Some(None)` where the clocks are unknown or were never read.
    pub(crate) fn shift(
        &self,
        (root, root_ns): (HostIndex, i64),
        (leaf, leaf_ns): (HostIndex, i64),
    ) -> Option<Option<ClockShift>> {
        if !self.read || (root == leaf && root != HostIndex::UNKNOWN) {
            return None;
        }
        let both = self.estimate(root, root_ns).zip(self.estimate(leaf, leaf_ns));
        Some(both.map(|(root, leaf)| ClockShift::between(root, leaf)))
    }

    /// Error bound of a duration, raw or corrected.
    pub(crate) const fn error_ns(&self, shift: ClockShift) -> u64 {
        if self.corrected { shift.error_ns } else { shift.raw_error_ns() }
    }

    /// Error bound of the duration from `start_ns` to a leaf; `None` as in [`Self::shift`].
    pub(crate) fn error_of(
        &self,
        rows: &ChainRows,
        chain: &Chain<'_>,
        leaf: usize,
        (steps, start_ns): (Option<u16>, i64),
    ) -> Option<Option<u64>> {
        let root = root_host(rows, chain, leaf, (steps, start_ns));
        let own = (rows.hosts(leaf).own, rows.hops[leaf].start_ns);
        let shift = self.shift((root, start_ns), own)?;
        Some(shift.map(|shift| self.error_ns(shift)))
    }

    /// The rows of a chain by the clock of its root. What cannot be corrected stays as it is.
    pub(crate) fn correct(&self, rows: &ChainRows, corrected: &mut Vec<Hop>) {
        corrected.clear();
        corrected.extend_from_slice(&rows.hops);
        let told = (0..rows.hops.len()).find_map(|row| {
            let host = rows.hosts(row).root;
            rows.told(row).map(|told| (host, told.root_start_ns))
        });
        let is_root = |hop: &Hop| hop.parent.is_none();
        let seen = || {
            let row = rows.hops.iter().position(is_root)?;
            Some((rows.hosts(row).own, rows.hops[row].start_ns))
        };
        let Some(root) = told.or_else(seen) else { return };
        for (row, hop) in corrected.iter_mut().enumerate() {
            let shift = self.shift(root, (rows.hosts(row).own, hop.start_ns)).flatten();
            let correction_ns = shift.map_or(0, |shift| shift.correction_ns);
            hop.start_ns = hop.start_ns.saturating_add(correction_ns);
        }
    }
}

/// The host by whose clock a duration begins: that of the root's row, or what rows below it were
/// told.
fn root_host(
    rows: &ChainRows,
    chain: &Chain<'_>,
    leaf: usize,
    (steps, start_ns): (Option<u16>, i64),
) -> HostIndex {
    let row = steps.and_then(|steps| chain.ancestor(leaf, steps));
    if let Some(row) = row.filter(|row| chain.hops[*row].start_ns == start_ns) {
        return rows.hosts(row).own;
    }
    let mut up = std::iter::successors(Some(leaf), |at| chain.places[*at].parent());
    let told = up.find(|at| rows.told(*at).is_some_and(|told| told.root_start_ns == start_ns));
    told.map_or(HostIndex::UNKNOWN, |at| rows.hosts(at).root)
}

/// The host of all rows of a native segment, and of their roots, where that is one and the same.
pub(crate) fn only_host(file: &SegmentFile) -> Option<String> {
    let own = file.only_word(column::HOST).filter(|own| !own.is_empty())?;
    (file.only_word(column::ROOT_HOST)? == own).then_some(own)
}

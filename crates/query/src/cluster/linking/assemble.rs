//! Putting chains together, and what their rows say then.

use super::super::linked_cells::SPAN_NS;
use super::super::names::ClusterNames;
use super::cells::CellRows;
use crate::path_catalog::PathCatalog;
use crate::question::Question;
use chronoscope_chain::links::bits;
use chronoscope_chain::{Assembler, CarriedAncestors, Chain, Hop, PathIndex, Paths};
use chronoscope_clickhouse::{ForeignChain, LinkedRow, shard_of};
use chronoscope_model::{ChainId, ClassId, PathId};
use chronoscope_store::Minute;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A row of a chain that is being linked.
#[derive(Clone, Debug)]
pub(super) struct LinkRow {
    pub(super) hop: Hop,
    /// What a native row knows of its ancestors.
    pub(super) told: Option<CarriedAncestors>,
    /// The host, and that of the root where it was told.
    pub(super) hosts: [Arc<str>; 2],
    /// The id by which it is stored.
    pub(super) chain: ChainId,
    /// The minute that it is stored in.
    pub(super) minute: i64,
}

/// Puts chains together, one after the other.
pub(super) struct Assembly {
    pub(super) catalog: PathCatalog,
    pub(super) paths: Paths,
    assembler: Assembler,
    /// Text of each path, as far as the text means this path and no other.
    texts: HashMap<PathIndex, Option<Arc<str>>>,
    /// Paths by their texts.
    known: HashMap<String, Vec<ClassId>>,
    /// Texts in `known` that the cluster does not have.
    new: Vec<String>,
    words: HashMap<String, Arc<str>>,
    hops: Vec<Hop>,
}

impl Assembly {
    pub(super) fn new(names: &ClusterNames) -> Self {
        let known = names.names.paths();
        let known = known.map(|(id, classes)| (names.names.path_text(id), classes.to_vec()));
        Self {
            catalog: PathCatalog::new(&names.names, &Question::acpd("", "")),
            paths: Paths::default(),
            assembler: Assembler::default(),
            texts: HashMap::new(),
            known: known.collect(),
            new: Vec::new(),
            words: HashMap::new(),
            hops: Vec::new(),
        }
    }

    /// The same text as one that came before.
    pub(super) fn word(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.words.get(text) {
            return Arc::clone(known);
        }
        let word: Arc<str> = text.into();
        self.words.insert(text.to_owned(), Arc::clone(&word));
        word
    }

    /// The paths that the cluster does not have.
    pub(super) fn new_paths(&self) -> Vec<(PathId, String, Vec<ClassId>)> {
        let of = |text: &String| {
            let classes = self.known.get(text)?;
            Some((PathId::of(classes), text.clone(), classes.clone()))
        };
        self.new.iter().filter_map(of).collect()
    }

    /// Links the rows of a component: into cells, where it has foreign rows.
    pub(super) fn link(
        &mut self,
        component: ChainId,
        rows: &[LinkRow],
        shards: usize,
        cells: &mut BTreeMap<(i64, usize), CellRows>,
    ) {
        if rows.iter().all(|row| row.told.is_some()) {
            return;
        }
        let whole = self.linked_rows(component, rows);
        let loose = whole.is_none();
        let own = shard_of(component, shards);
        for row in whole.into_iter().flatten() {
            cells.entry((row.minute, own)).or_default().rows.push(row);
        }
        let mut chains: BTreeSet<ChainId> = rows.iter().map(|row| row.chain).collect();
        chains.insert(component);
        if !loose && chains.len() == 1 && rows.iter().all(|row| row.told.is_none()) {
            return;
        }
        let minutes: BTreeSet<i64> = rows.iter().map(|row| row.minute).collect();
        for minute in minutes {
            for chain in &chains {
                let line = ForeignChain { minute, chain: *chain, component, loose };
                let mut note = |shard| cells.entry((minute, shard)).or_default().chains.push(line);
                let shard = shard_of(*chain, shards);
                note(shard);
                if shard != own {
                    note(own);
                }
            }
        }
    }

    /// What the rows of a component say; `None` where it is not whole.
    fn linked_rows(&mut self, component: ChainId, rows: &[LinkRow]) -> Option<Vec<LinkedRow>> {
        let starts = || {
            let told = rows.iter().filter_map(|row| row.told.map(|told| told.root_start_ns));
            rows.iter().map(|row| row.hop.start_ns).chain(told)
        };
        if starts().max()?.saturating_sub(starts().min()?) > SPAN_NS {
            return None;
        }
        self.hops.clear();
        self.hops.extend(rows.iter().map(|row| row.hop));
        let told = |row: usize| rows[row].told;
        let chain = self.assembler.assemble(&self.hops, told, &mut self.paths);
        let mut linked = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let (place, standing) = (chain.places[at], chain.standings[at]);
            let level = standing.level.filter(|level| *level == place.level)?;
            if place.duplicate || place.has(bits::ANCESTOR_MISSING) {
                return None;
            }
            let text = match self.texts.get(&standing.path) {
                Some(known) => known.clone(),
                None => {
                    let classes = self.paths.classes(standing.path);
                    let text = text_of(&classes, &self.catalog, &mut self.known, &mut self.new);
                    self.texts.insert(standing.path, text.clone());
                    text
                }
            };
            let path = text?;
            if self.paths.classes(standing.path).len() != usize::from(level) + 1 {
                return None;
            }
            let root_start_ns = standing.root_start_ns?;
            linked.push(LinkedRow {
                minute: Minute::of(root_start_ns).0,
                path,
                root_start_ns,
                start_ns: row.hop.start_ns,
                elapsed_ns: i64::try_from(row.hop.elapsed_ns).ok()?,
                links: place.links | if standing.foreign { bits::ASSEMBLED } else { 0 },
                hosts: [Arc::clone(&row.hosts[0]), root_host(rows, &chain, at)],
                component,
            });
        }
        Some(linked)
    }
}

/// The text of a path; `None` where it has a gap, or its text is that of another path.
fn text_of(
    classes: &[ClassId],
    catalog: &PathCatalog,
    known: &mut HashMap<String, Vec<ClassId>>,
    new: &mut Vec<String>,
) -> Option<Arc<str>> {
    if classes.contains(&ClassId::NONE) {
        return None;
    }
    let text = catalog.text(classes);
    let of_text = known.entry(text.clone()).or_insert_with(|| {
        new.push(text.clone());
        classes.to_vec()
    });
    (of_text == classes).then(|| text.into())
}

/// The host by whose clock a row's chain begins: that of its root's row, or what a row above was
/// told.
fn root_host(rows: &[LinkRow], chain: &Chain<'_>, at: usize) -> Arc<str> {
    let start_ns = chain.standings[at].root_start_ns;
    let top = chain.places[at].top as usize;
    if Some(chain.hops[top].start_ns) == start_ns {
        return Arc::clone(&rows[top].hosts[0]);
    }
    let mut up = std::iter::successors(Some(at), |at| chain.places[*at].parent());
    let told = up.find(|at| rows[*at].told.map(|told| told.root_start_ns) == start_ns);
    told.map_or_else(|| "".into(), |at| Arc::clone(&rows[at].hosts[1]))
}

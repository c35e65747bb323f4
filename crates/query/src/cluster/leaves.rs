//! The leaves that a question is about, by their paths.

use super::linked_cells::LinkedCells;
use super::names::ClusterNames;
use crate::path_catalog::PathCatalog;
use crate::question::Question;
use chronoscope_chain::Meaning;
use chronoscope_clickhouse::{SealedMinute, root_class_text};
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

/// The paths whose rows a question is about, with the classes of their roots.
#[derive(Clone)]
pub(super) struct WantedPaths {
    pub(super) paths: BTreeSet<String>,
    /// As the column `top` has them.
    pub(super) tops: BTreeSet<String>,
}

impl WantedPaths {
    /// `None` where a path alone does not say what its rows are.
    pub(super) fn of(question: &Question, names: &ClusterNames) -> Option<Self> {
        let mut catalog = PathCatalog::new(&names.names, question);
        let (mut paths, mut tops) = (BTreeSet::new(), BTreeSet::new());
        for text in names.paths.keys().filter(|text| !text.is_empty()) {
            match catalog.meaning(text)? {
                Meaning::None | Meaning::Hidden => {}
                Meaning::Below { from_top: false, .. } => return None,
                Meaning::Below { from_top: true, .. } => {
                    let top = *catalog.path(text).classes.first()?;
                    let top = names.names.class(top)?;
                    tops.insert(root_class_text(&top.application, &top.class));
                    paths.insert(text.clone());
                }
            }
        }
        Some(Self { paths, tops })
    }
}

/// A question about leaves, and what of its rows is fetched.
pub(super) struct Leaves {
    pub(super) wanted: WantedPaths,
    /// With the ids of the chains, by which these can be named.
    pub(super) with_chains: bool,
    /// With the hosts of the roots, whose clocks were read.
    pub(super) with_root_hosts: bool,
    /// The linked chains, where there are foreign rows.
    pub(super) linked: Option<LinkedCells>,
}

impl Leaves {
    /// Tells them apart from those of other questions.
    pub(super) fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let of_rows = (self.with_chains, self.with_root_hosts, &self.linked);
        (&self.wanted.paths, of_rows).hash(&mut hasher);
        hasher.finish()
    }
}

/// A minute whose columns are wanted, with its newest version on each shard.
pub(super) type Versions = BTreeMap<i64, Vec<Option<SealedMinute>>>;

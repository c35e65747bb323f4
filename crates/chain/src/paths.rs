//! Paths by number: the classes from a chain's root down to a transaction, each path stored once.

use chronoscope_model::ClassId;
use std::collections::HashMap;

/// A path in a [`Paths`]; the numbers are dense and small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathIndex(pub u32);

impl PathIndex {
    /// The path of nothing.
    pub const EMPTY: Self = Self(0);
    /// A path whose upper part is not known.
    pub const GAP: Self = Self(1);
}

/// All distinct paths so far, as a tree of classes. It only grows, with the number of distinct
/// paths and not of transactions.
#[derive(Clone, Debug)]
pub struct Paths {
    nodes: Vec<(PathIndex, ClassId)>,
    children: HashMap<(PathIndex, ClassId), PathIndex>,
    /// Cache of recent results, indexed by a few bits of the arguments: rows of chains take the
    /// same few paths over and over.
    recent: Box<[(PathIndex, ClassId, PathIndex); RECENT]>,
}

/// Number of recent results in the cache; a power of two.
const RECENT: usize = 256;

impl Default for Paths {
    fn default() -> Self {
        let mut paths = Self {
            nodes: vec![(PathIndex::EMPTY, ClassId::NONE)],
            children: HashMap::new(),
            recent: Box::new([(PathIndex::EMPTY, ClassId::NONE, PathIndex::GAP); RECENT]),
        };
        paths.add(PathIndex::EMPTY, ClassId::NONE); // becomes GAP
        paths
    }
}

impl Paths {
    /// The path one step further down. [`ClassId::NONE`] stands for unknown ancestors.
    ///
    /// # Panics
    /// At 2³² distinct paths.
    pub fn child(&mut self, path: PathIndex, class: ClassId) -> PathIndex {
        #[allow(clippy::cast_possible_truncation)] // only the low bits matter; class ids are hashes
        let recent = (class.0 as usize ^ (path.0 as usize * 31)) % RECENT;
        let (recent_path, recent_class, recent_child) = self.recent[recent];
        if (recent_path, recent_class) == (path, class) {
            return recent_child;
        }
        let child = match self.children.get(&(path, class)) {
            Some(child) => *child,
            None => self.add(path, class),
        };
        self.recent[recent] = (path, class, child);
        child
    }

    fn add(&mut self, path: PathIndex, class: ClassId) -> PathIndex {
        assert!(self.nodes.len() < u32::MAX as usize, "2^32 distinct paths");
        #[allow(clippy::cast_possible_truncation)] // asserted just above
        let child = PathIndex(self.nodes.len() as u32);
        self.nodes.push((path, class));
        self.children.insert((path, class), child);
        child
    }

    /// The path through `classes`, root first.
    pub fn of(&mut self, classes: &[ClassId]) -> PathIndex {
        classes.iter().fold(PathIndex::EMPTY, |path, class| self.child(path, *class))
    }

    /// The classes of a path, root first.
    pub fn classes(&self, path: PathIndex) -> Vec<ClassId> {
        let mut classes = Vec::new();
        let mut at = path;
        while at != PathIndex::EMPTY {
            let (parent, class) = self.nodes[at.0 as usize];
            classes.push(class);
            at = parent;
        }
        classes.reverse();
        classes
    }

    /// Number of paths, including [`PathIndex::EMPTY`] and [`PathIndex::GAP`]; every index is below
    /// it.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: the two fixed paths are always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_number() {
        let mut paths = Paths::default();
        let (a, b) = (ClassId(1), ClassId(2));
        let ab = paths.of(&[a, b]);
        assert_eq!(paths.of(&[a, b]), ab);
        assert_ne!(paths.of(&[b, a]), ab);
        assert_eq!(paths.classes(ab), [a, b]);
        assert_eq!(paths.of(&[ClassId::NONE]), PathIndex::GAP);
        assert_eq!(paths.classes(PathIndex::EMPTY), []);
        assert_eq!(paths.len(), 2 + 4); // a, a/b, b, b/a
    }
}

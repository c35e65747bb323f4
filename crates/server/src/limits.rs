//! Limits that the page's view of now is held against: `serve --limits FILE`.
//!
//! ```toml
//! [[limit]]                           # of a class: its own elapsed time
//! class = "CWP::TargetView_redraw"    # or without its application
//! limit_ns = 20_000_000
//!
//! [[limit]]                           # of chains: from the start of a root to the end of a leaf
//! root = "MRTS::decodePlots"
//! leaf = "CWP::TargetView_redraw"
//! level = 4                           # steps from root to leaf; any where it is not given
//! limit_ns = 1_000_000_000
//! arrivals = "each-root"              # each root has to reach a leaf within limit_ns, too
//! ```
//!
//! A limit holds when less than 0.3 % takes longer. With `arrivals` a second limit holds when less
//! than 0.3 % of the roots have no leaf within `limit_ns`.

use chronoscope_model::ClassName;
use chronoscope_query::ClassSelector;
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// A limit on the time that something takes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Limit {
    /// Subject of the limit.
    pub of: Limited,
    /// The longest allowed duration, in nanoseconds.
    pub limit_ns: u64,
}

/// Subject of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limited {
    /// The elapsed time of a class.
    Class(ClassSelector),
    /// The time from the start of a root to the end of a leaf.
    Chain {
        /// The class that chains begin with.
        root: ClassSelector,
        /// The class that is measured to.
        leaf: ClassSelector,
        /// Steps from the one to the other; `None` for any.
        level: Option<u16>,
        /// Additional requirement on arrivals; `None` for none.
        arrivals: Option<Arrivals>,
    },
}

/// Chains that must arrive at their leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Each root must have a leaf that ends within the limit.
    EachRoot,
}

/// Reason why limits cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LimitsError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The content of the file is not valid.
    #[error("{}: {source}", path.display())]
    Words {
        /// The file.
        path: PathBuf,
        /// Error of the parser, with its position.
        source: toml::de::Error,
    },
}

/// A limit as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    class: Option<String>,
    root: Option<String>,
    leaf: Option<String>,
    level: Option<u16>,
    arrivals: Option<Arrivals>,
    limit_ns: u64,
}

impl TryFrom<Written> for Limit {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, &'static str> {
        let Written { class, root, leaf, level, arrivals, limit_ns } = written;
        let of = match (class, root, leaf) {
            (Some(class), None, None) if level.is_none() && arrivals.is_none() => {
                Limited::Class(ClassSelector(class))
            }
            (None, Some(root), Some(leaf)) => {
                let (root, leaf) = (ClassSelector(root), ClassSelector(leaf));
                Limited::Chain { root, leaf, level, arrivals }
            }
            _ => return Err("a limit is of a class, or of chains from a root to a leaf"),
        };
        Ok(Self { of, limit_ns })
    }
}

impl Limit {
    /// Reads a file of limits.
    ///
    /// # Errors
    /// [`LimitsError`] when the file cannot be read or is not valid.
    pub fn read(path: &Path) -> Result<Vec<Self>, LimitsError> {
        let io = |source| LimitsError::Io { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(io)?;
        Self::parse(&text).map_err(|source| LimitsError::Words { path: path.to_owned(), source })
    }

    fn parse(text: &str) -> Result<Vec<Self>, toml::de::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct All {
            #[serde(default)]
            limit: Vec<Limit>,
        }
        toml::from_str(text).map(|All { limit }| limit)
    }

    /// Whether the limit applies to the elapsed time of `class`.
    pub(crate) fn is_of_class(&self, class: &ClassName) -> bool {
        matches!(&self.of, Limited::Class(selector) if selector.selects(class))
    }

    /// Whether the limit applies to chains along a path, given by its classes from the root.
    pub(crate) fn is_of_path(&self, hops: &[ClassName]) -> bool {
        let [first, .., last] = hops else { return false };
        u16::try_from(hops.len() - 1).is_ok_and(|steps| self.is_of_chain(first, last, steps))
    }

    /// Whether it is on chains from `first` to `last`, `steps` below it.
    pub(crate) fn is_of_chain(&self, first: &ClassName, last: &ClassName, steps: u16) -> bool {
        let Limited::Chain { root, leaf, level, .. } = &self.of else { return false };
        root.selects(first) && leaf.selects(last) && level.is_none_or(|level| level == steps)
    }

    /// Whether the limit applies to chains.
    pub(crate) fn is_of_chains(&self) -> bool {
        matches!(self.of, Limited::Chain { .. })
    }

    /// Whether each of its roots has to arrive.
    pub(crate) fn is_of_arrivals(&self) -> bool {
        matches!(self.of, Limited::Chain { arrivals: Some(Arrivals::EachRoot), .. })
    }

    /// Whether chains begin with `class`.
    pub(crate) fn is_of_root(&self, class: &ClassName) -> bool {
        matches!(&self.of, Limited::Chain { root, .. } if root.selects(class))
    }

    /// Whether chains are measured to `class`.
    pub(crate) fn is_of_leaf(&self, class: &ClassName) -> bool {
        matches!(&self.of, Limited::Chain { leaf, .. } if leaf.selects(class))
    }

    /// The class, or the root and leaf, that the limit applies to.
    pub(crate) fn what(&self) -> String {
        match &self.of {
            Limited::Class(class) => class.0.clone(),
            Limited::Chain { root, leaf, level: None, .. } => format!("{} → {}", root.0, leaf.0),
            Limited::Chain { root, leaf, level: Some(level), .. } => {
                format!("{} → {} at level {level}", root.0, leaf.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_reads_and_what_is_neither_is_refused() {
        let example: String = include_str!("limits.rs")
            .lines()
            .filter_map(|line| line.strip_prefix("//! "))
            .skip_while(|line| *line != "```toml")
            .skip(1)
            .take_while(|line| *line != "```")
            .flat_map(|line| [line, "\n"])
            .collect();
        let limits = Limit::parse(&example).unwrap();
        assert_eq!(
            limits.iter().map(|limit| limit.limit_ns).collect::<Vec<_>>(),
            [20_000_000, 1_000_000_000]
        );
        let name = |application: &str, class: &str| ClassName {
            application: application.to_owned(),
            class: class.to_owned(),
        };
        let redraw = name("CWP", "TargetView_redraw");
        assert!(limits[0].is_of_class(&redraw) && !limits[1].is_of_class(&redraw));
        let mut path = vec![name("MRTS", "decodePlots"), redraw.clone()];
        assert!(!limits[1].is_of_path(&path), "level 1, 4 is asked for");
        path.splice(1..1, [name("A", "a"), name("B", "b"), name("C", "c")]);
        assert!(limits[1].is_of_path(&path) && !limits[0].is_of_path(&path));
        assert!(limits[1].is_of_arrivals() && !limits[0].is_of_arrivals());
        for wrong in [
            "[[limit]]\nlimit_ns = 1",
            "[[limit]]\nclass = 'a'\nroot = 'b'\nlimit_ns = 1",
            "[[limit]]\nclass = 'a'\nlevel = 3\nlimit_ns = 1",
            "[[limit]]\nroot = 'a'\nlimit_ns = 1",
            "[[limit]]\nclass = 'a'\narrivals = 'each-root'\nlimit_ns = 1",
            "[[limit]]\nroot = 'a'\nleaf = 'b'\narrivals = 'some'\nlimit_ns = 1",
            "[[limit]]\nclass = 'a'\nlimit = '1s'",
            "limits = 3",
        ] {
            assert!(Limit::parse(wrong).is_err(), "{wrong}");
        }
    }
}

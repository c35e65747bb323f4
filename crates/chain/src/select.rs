//! Selection of the root above a leaf: by class, and by level or at any level.
//!
//! The level is the number of steps from the selected root: a direct child is at level 1. With
//! [`LeafLevel::Any`] the root is the *outermost* proper ancestor of the root class: a class that
//! occurs twice on a path measures the longer stretch, once per leaf.

use chronoscope_model::{ClassId, ClassName};
use std::fmt;

/// A class in a question: `application::class`, or the class alone in every application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClassSelector(pub String);

impl ClassSelector {
    /// Whether the selection includes this class.
    pub fn selects(&self, name: &ClassName) -> bool {
        let full = || {
            let rest = self.0.strip_prefix(&name.application)?.strip_prefix("::")?;
            (rest == name.class).then_some(())
        };
        self.0 == name.class || full().is_some()
    }
}

impl From<&str> for ClassSelector {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for ClassSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Required level of a leaf below the selected root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LeafLevel {
    /// Any level below it.
    #[default]
    Any,
    /// Exactly this many steps below; at 0 root and leaf are the same transaction.
    Exactly(u16),
}

/// Number of steps from a leaf up to the selected root, or `None` when the path has no such root.
///
/// `path` are the classes from the chain's root to the leaf; [`ClassId::NONE`] in it stands for any
/// number of unknown ancestors (dropped on the way, or not in the store). `level` is the leaf's
/// level in the whole chain, which determines their number; `None` when not known. A root among the
/// unknown ancestors is not found.
pub fn steps_to_root(
    path: &[ClassId],
    level: Option<u16>,
    is_root: impl Fn(ClassId) -> bool,
    want: LeafLevel,
) -> Option<u16> {
    let gap = path.iter().rposition(|class| class.is_none());
    let below = gap.map_or(path, |gap| &path[gap + 1..]);
    let head = path.iter().position(|class| class.is_none()).unwrap_or(0);
    // Above the gap positions count from the root, below it from the leaf.
    let above = path[..head].iter().enumerate().filter_map(|(index, class)| {
        let steps = level?.checked_sub(u16::try_from(index).ok()?)?;
        (usize::from(steps) > below.len()).then_some((steps, *class))
    });
    let below = below
        .iter()
        .rev()
        .enumerate()
        .rev()
        .filter_map(|(steps, class)| Some((u16::try_from(steps).ok()?, *class)));
    let mut candidates = above.chain(below).filter(|(steps, class)| {
        let wanted = match want {
            LeafLevel::Any => *steps > 0,
            LeafLevel::Exactly(exactly) => *steps == exactly,
        };
        wanted && is_root(*class)
    });
    candidates.next().map(|(steps, _)| steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: ClassId = ClassId(1);
    const X: ClassId = ClassId(2);
    const L: ClassId = ClassId(3);
    const GAP: ClassId = ClassId::NONE;

    fn steps(path: &[ClassId], level: u16, want: LeafLevel) -> Option<u16> {
        steps_to_root(path, Some(level), |class| class == R, want)
    }

    #[test]
    fn the_outermost_root_or_the_one_at_the_level() {
        let path = [X, R, X, R, L];
        assert_eq!(steps(&path, 4, LeafLevel::Any), Some(3));
        assert_eq!(steps(&path, 4, LeafLevel::Exactly(1)), Some(1));
        assert_eq!(steps(&path, 4, LeafLevel::Exactly(3)), Some(3));
        assert_eq!(steps(&path, 4, LeafLevel::Exactly(2)), None);
        assert_eq!(steps(&[X, R], 1, LeafLevel::Any), None, "its own class is no ancestor");
        assert_eq!(steps(&[X, R], 1, LeafLevel::Exactly(0)), Some(0));
        assert_eq!(steps(&[], 0, LeafLevel::Any), None);
    }

    #[test]
    fn a_gap_hides_what_it_hides() {
        // Levels: R 0, …, X 5, L 6: the gap stands for four.
        let path = [R, GAP, X, L];
        assert_eq!(steps(&path, 6, LeafLevel::Any), Some(6));
        assert_eq!(steps(&path, 6, LeafLevel::Exactly(6)), Some(6));
        assert_eq!(steps(&path, 6, LeafLevel::Exactly(3)), None, "hidden");
        assert_eq!(steps(&[GAP, R, X, L], 9, LeafLevel::Any), Some(2));
        assert_eq!(steps_to_root(&path, None, |c| c == R, LeafLevel::Any), None, "level not known");
        assert_eq!(steps_to_root(&[GAP, R, L], None, |c| c == R, LeafLevel::Exactly(1)), Some(1));
    }

    #[test]
    fn classes_by_name() {
        let name = ClassName { application: "CWP".into(), class: "io::write".into() };
        for (text, selects) in [
            ("io::write", true),
            ("CWP::io::write", true),
            ("MSG::io::write", false),
            ("write", false),
            ("CWP", false),
        ] {
            assert_eq!(ClassSelector::from(text).selects(&name), selects, "{text}");
        }
    }
}

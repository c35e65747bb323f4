//! Limits that the page's view of now is held against, minute by minute: the rules of
//! `serve --limits FILE` without further words.
//!
//! A limit holds when less than 0.3 % takes longer. With `arrivals` a second limit holds when less
//! than 0.3 % of the roots have no leaf within `limit_ns`.

use chronoscope_model::ClassName;
use chronoscope_query::ClassSelector;
use chronoscope_rules::{Arrivals, Condition, Rule, RuleSubject};

/// A limit on the time that something takes.
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Limit {
    /// The limits among rules: those of 0.3 % in a minute, without hysteresis.
    pub fn of_rules(rules: &[Rule]) -> Vec<Self> {
        let mut limits = Vec::<Self>::new();
        for rule in rules.iter().filter(|rule| rule.is_plain_limit()) {
            let Condition::Share { limit_ns, .. } = rule.condition else { continue };
            let is_its_arrivals = |other: &Rule| {
                let is_arrivals = matches!(other.condition, Condition::Arrivals { .. });
                is_arrivals && other.name == format!("{} arrivals", rule.name)
            };
            let arrivals = rules.iter().any(is_its_arrivals).then_some(Arrivals::EachRoot);
            let of = match &rule.subject {
                RuleSubject::Class(class) => Limited::Class(class.clone()),
                RuleSubject::Chain { root, leaf, level } => Limited::Chain {
                    root: root.clone(),
                    leaf: leaf.clone(),
                    level: *level,
                    arrivals,
                },
            };
            limits.push(Self { of, limit_ns });
        }
        limits
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
    use chronoscope_rules::RuleFile;

    const FILE: &str = r#"
[[limit]]
class = "CWP::TargetView_redraw"
limit_ns = 20_000_000

[[limit]]
root = "MRTS::decodePlots"
leaf = "CWP::TargetView_redraw"
level = 4
limit_ns = 1_000_000_000
arrivals = "each-root"

[[limit]]
class = "CWP::TargetView_redraw"
limit = "20ms"
quantile = 0.99

[[limit]]
class = "CWP::TargetView_redraw"
limit = "20ms"
fires_after = 2
"#;

    #[test]
    fn rules_without_further_words_are_limits() {
        let limits = Limit::of_rules(&RuleFile::parse(FILE).unwrap().rules);
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
    }
}

//! The selection that drives every view: which chains, and which duration of them.

use super::error::ApiError;
use chronoscope_query::{
    AttributeSelection, ClassSelector, Clocks, LeafLevel, Question, VerdictSubject,
};
use serde::Deserialize;
use std::ops::Range;
use utoipa::{IntoParams, ToSchema};

/// Selection of durations. All parameters are optional except where a question needs them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Selection {
    /// Only chains whose root started at this time or later: UTC ns since 1970.
    pub(crate) from_ns: Option<i64>,
    /// Only chains whose root started before this time: UTC ns since 1970.
    pub(crate) until_ns: Option<i64>,
    /// Only chains whose leaf ran on one of these hosts, separated by commas.
    pub(crate) hosts: Option<String>,
    /// Kind of duration; the default is `acpd`.
    pub(crate) kind: Option<DurationKind>,
    /// The class that is measured from, as `APPLICATION::CLASS` or `CLASS`; for `sync` the class.
    pub(crate) root: Option<String>,
    /// The class that is measured to; only for `acpd`.
    pub(crate) leaf: Option<String>,
    /// Steps from root to leaf, or `any`; only for `acpd`.
    #[param(pattern = "^([0-9]{1,5}|any)$")]
    pub(crate) level: Option<String>,
    /// Only this path, in words from root to leaf: `A::b/C::d`.
    pub(crate) path: Option<String>,
    /// Only durations with this attribute: `KEY`, `KEY=VALUE` or `KEY!=VALUE`; may be given
    /// several times. The attribute is that of the leaf, else of the root, else of a transaction
    /// between; `leaf.KEY` and `root.KEY` ask one alone.
    #[serde(default, rename = "where")]
    pub(crate) filters: Vec<String>,
    /// The shortest duration, in ns.
    pub(crate) min_ns: Option<u64>,
    /// The longest duration, in ns.
    pub(crate) max_ns: Option<u64>,
    /// The longest allowed duration, in ns; requests a verdict.
    pub(crate) limit_ns: Option<u64>,
    /// Clocks that durations refer to; the default is `raw`.
    pub(crate) clocks: Option<ClockChoice>,
}

/// Kind of duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DurationKind {
    /// From the start of a root to the end of each leaf.
    Acpd,
    /// From the start of a root to the end of the leaf that starts last.
    Apcd,
    /// A transaction's own elapsed time.
    Sync,
}

/// Clocks that durations across hosts refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ClockChoice {
    /// The hosts' own stamps.
    Raw,
    /// The root's clock, as far as the clocks' offsets are known.
    Corrected,
}

impl Selection {
    /// The names of its parameters.
    pub(super) const NAMES: [&str; 12] = [
        "from_ns", "until_ns", "hosts", "kind", "root", "leaf", "level", "path", "min_ns",
        "max_ns", "limit_ns", "clocks",
    ];

    /// Range of the root's start.
    pub(crate) fn start_ns(&self) -> Range<i64> {
        self.from_ns.unwrap_or(i64::MIN)..self.until_ns.unwrap_or(i64::MAX)
    }

    /// The hosts of the leaf; none for any.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let words = self.hosts.iter().flat_map(|hosts| hosts.split(','));
        words.filter(|host| !host.is_empty()).map(str::to_owned).collect()
    }

    /// The clocks to use.
    pub(crate) fn clocks(&self) -> Clocks {
        match self.clocks {
            Some(ClockChoice::Corrected) => Clocks::Corrected,
            Some(ClockChoice::Raw) | None => Clocks::Raw,
        }
    }

    /// The question about durations that these parameters ask.
    ///
    /// # Errors
    /// 400 where a parameter that its kind needs is missing, or one is given that its kind does not
    /// have.
    pub(crate) fn question(&self) -> Result<Question, ApiError> {
        let level = match self.level.as_deref() {
            None | Some("any") => LeafLevel::Any,
            Some(number) => LeafLevel::Exactly(
                number.parse().map_err(|_| ApiError::question("level: a number or any"))?,
            ),
        };
        let needed = |what: &Option<String>, name: &str| {
            let given = what.clone().filter(|class| !class.is_empty());
            given.ok_or_else(|| {
                ApiError::question(format!("{name} is needed"))
                    .hint("GET /api/v1/classes and /api/v1/paths list the possible values")
            })
        };
        let root = ClassSelector(needed(&self.root, "root")?);
        let (kind, leaf) = match self.kind.unwrap_or(DurationKind::Acpd) {
            DurationKind::Acpd => (
                chronoscope_query::DurationKind::Acpd,
                Some(ClassSelector(needed(&self.leaf, "leaf")?)),
            ),
            DurationKind::Apcd => (chronoscope_query::DurationKind::Apcd, None),
            DurationKind::Sync => (chronoscope_query::DurationKind::Sync, None),
        };
        if kind != chronoscope_query::DurationKind::Acpd
            && (self.leaf.is_some() || level != LeafLevel::Any)
        {
            return Err(ApiError::question("leaf and level are for kind=acpd only"));
        }
        Ok(Question {
            kind,
            root,
            leaf,
            level,
            start_ns: self.start_ns(),
            path: self.path.clone().filter(|path| !path.is_empty()),
            hosts: self.hosts(),
            duration_ns: self.min_ns.unwrap_or(0)..=self.max_ns.unwrap_or(u64::MAX),
            attributes: AttributeSelection::parse(&self.filters, &[])
                .map_err(ApiError::question)?,
            limit_ns: self.limit_ns,
            judged: VerdictSubject::Described,
            split: false,
            points: false,
            clocks: self.clocks(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_needs_what_its_kind_needs() {
        let refused = |selection: Selection| selection.question().unwrap_err();
        let of = |kind, root: &str, leaf: Option<&str>| Selection {
            kind: Some(kind),
            root: Some(root.to_owned()),
            leaf: leaf.map(str::to_owned),
            ..Selection::default()
        };
        assert_ne!(refused(Selection::default()), refused(of(DurationKind::Acpd, "A::b", None)));
        refused(of(DurationKind::Sync, "A::b", Some("C::d")));
        let question = of(DurationKind::Acpd, "A::b", Some("C::d")).question().unwrap();
        assert_eq!(
            (question.kind, question.start_ns),
            (chronoscope_query::DurationKind::Acpd, i64::MIN..i64::MAX)
        );
        let level = Selection { level: Some("x".into()), ..of(DurationKind::Apcd, "A::b", None) };
        refused(level);
        assert_eq!(
            of(DurationKind::Apcd, "A::b", None).question().unwrap().kind,
            chronoscope_query::DurationKind::Apcd
        );
    }

    #[test]
    fn hosts_are_separated_by_commas() {
        let hosts = |text: &str| Selection { hosts: Some(text.into()), ..Selection::default() };
        assert_eq!(hosts("a,b-1,").hosts(), ["a", "b-1"]);
        assert!(hosts("").hosts().is_empty());
    }
}

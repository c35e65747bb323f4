//! `GET /classes` and `GET /paths`: stored classes and paths. They are read from sketches, which is
//! fast at any size.

use super::error::{ApiError, ErrorBody};
use super::group_values::GroupValues;
use super::parameters::{Pairs, PlainParameters, QuestionName, take_all};
use super::{Api, cpu};
use axum::Json;
use axum::extract::State;
use chronoscope_model::ClassName;
use chronoscope_query::{AttributeSelection, ClassGroup, ClassStatistics, Limits};
use chronoscope_statistics::{Histogram, Quantile};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use utoipa::{IntoParams, ToSchema};

/// A time range.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TimeRange {
    /// Only minutes that begin at this time or later, by their roots' starts: UTC ns since 1970.
    from_ns: Option<i64>,
    /// Only minutes that begin before this time: UTC ns since 1970.
    until_ns: Option<i64>,
}

impl TimeRange {
    /// The time range; all time by default.
    pub(super) fn range(self) -> Range<i64> {
        self.from_ns.unwrap_or(i64::MIN)..self.until_ns.unwrap_or(i64::MAX)
    }
}

/// Largest number of list entries in one answer.
const ENTRIES_MAX: usize = 10_000;

/// Range of the entries of a list, and of time.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListRange {
    /// Only minutes that begin at this time or later, by their roots' starts: UTC ns since 1970.
    from_ns: Option<i64>,
    /// Only minutes that begin before this time: UTC ns since 1970.
    until_ns: Option<i64>,
    /// Number of entries to skip; the default is 0.
    offset: Option<usize>,
    /// Largest number of entries in the answer; the default and maximum is 10,000.
    #[param(minimum = 1, maximum = 10000)]
    limit: Option<usize>,
}

impl ListRange {
    /// The time range; all time by default.
    fn range(self) -> Range<i64> {
        TimeRange { from_ns: self.from_ns, until_ns: self.until_ns }.range()
    }

    /// The piece of a list.
    fn of<T>(self, list: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
        list.skip(self.offset.unwrap_or(0)).take(self.limit.unwrap_or(ENTRIES_MAX))
    }

    /// Refuses a piece that is none.
    fn check(self) -> Result<Self, &'static str> {
        match self.limit {
            Some(0) => Err("limit: 1 to 10000"),
            Some(limit) if limit > ENTRIES_MAX => Err("limit: 1 to 10000"),
            _ => Ok(self),
        }
    }
}

/// Range of a list of classes, and the attributes of their transactions.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Pairs")]
pub(super) struct ClassParameters {
    piece: ListRange,
    attributes: AttributeSelection,
}

/// Attributes of transactions. With any of these, rows are read instead of sketches.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code)] // read by name, see `ClassParameters`
pub(super) struct AttributeParameters {
    /// Only transactions with this attribute: `KEY`, `KEY=VALUE` or `KEY!=VALUE`; may be given
    /// several times.
    r#where: Option<Vec<String>>,
    /// Group the transactions of each class by this attribute; may be given twice.
    by: Option<Vec<String>>,
}

impl TryFrom<Pairs> for ClassParameters {
    type Error = String;

    fn try_from(mut pairs: Pairs) -> Result<Self, String> {
        let (filters, by) = (take_all(&mut pairs, "where"), take_all(&mut pairs, "by"));
        let attributes = AttributeSelection::parse(&filters, &by).map_err(|e| e.to_string())?;
        let query = serde_urlencoded::to_string(&pairs).map_err(|error| error.to_string())?;
        let piece = serde_urlencoded::from_str(&query).map_err(|error| error.to_string())?;
        Ok(Self { piece, attributes })
    }
}

/// Classes, by name: a piece of all.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Classes {
    classes: Vec<ClassRow>,
    /// Number of all classes.
    total: u64,
    /// Unreadable sketches, in words: their contents are not counted.
    damage: Vec<String>,
}

/// One class. Quantiles are a sketch's: at most 3.125 % too large.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ClassRow {
    /// `APPLICATION::CLASS`.
    name: String,
    /// The values of `by`; only where that is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    group: Option<GroupValues>,
    application: String,
    class: String,
    /// Number of transactions.
    count: u64,
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
    /// Thread CPU time of all of them; null where none has any, as of spans of OpenTelemetry.
    cpu_ns: Option<u64>,
    /// Transactions whose status is not GOOD.
    not_good: u64,
}

/// Paths, most chains first: a piece of all.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Paths {
    paths: Vec<PathSummary>,
    /// Number of all paths.
    total: u64,
    /// Unreadable sketches, in words: their contents are not counted.
    damage: Vec<String>,
}

/// One path. Quantiles are a sketch's: at most 3.125 % too large.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct PathSummary {
    /// The path in words, from root to leaf.
    path: String,
    /// Its classes, as `APPLICATION::CLASS`, root first.
    hops: Vec<String>,
    root: String,
    leaf: String,
    /// Steps from root to leaf.
    level: u64,
    /// Transactions at its end.
    count: u64,
    /// From the root's start to the leaf's end.
    p50_ns: u64,
    p99_ns: u64,
    max_ns: u64,
}

/// Median, 99 % quantile and largest; zeros where nothing was counted.
pub(super) fn quantiles(histogram: &Histogram) -> (u64, u64, u64) {
    let at = |quantile| histogram.quantile(quantile).unwrap_or(0);
    (at(Quantile::P50), at(Quantile::P99), histogram.max().unwrap_or(0))
}

/// Statistics of every class.
#[utoipa::path(get, path = "/classes", tag = "stored", params(ListRange, AttributeParameters, QuestionName),
    responses((status = 200, body = Classes), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn classes(
    State(api): State<Api>,
    PlainParameters { id, own }: PlainParameters<ClassParameters>,
) -> Result<Json<Classes>, ApiError> {
    let piece = own.piece.check().map_err(ApiError::question)?;
    let attributes = own.attributes;
    if attributes.is_empty() {
        return all_classes(&api, id, piece).await;
    }
    api.ask(id, move |api, progress| {
        let limits = Limits::default();
        let found = api.recently(|view, _| {
            view.class_groups(&piece.range(), &attributes, &limits, progress)
        })?;
        let has_groups = !found.by.is_empty();
        let row = |class: ClassGroup| {
            let group = has_groups.then(|| GroupValues::of(&class.values));
            ClassRow::new(class.name, group, &class.statistics)
        };
        Ok(Classes {
            total: found.classes.len() as u64,
            classes: piece.of(found.classes.into_iter()).map(row).collect(),
            damage: found.damage.iter().map(ToString::to_string).collect(),
        })
    })
    .await
}

/// Statistics of all transactions, from sketches.
async fn all_classes(
    api: &Api,
    id: Option<String>,
    piece: ListRange,
) -> Result<Json<Classes>, ApiError> {
    api.ask(id, move |api, _| {
        let (classes, damage) = api.recently(|view, _| view.classes(&piece.range()))?;
        let classes = classes.into_iter();
        Ok(Classes {
            total: classes.len() as u64,
            classes: piece.of(classes.map(|(name, of)| ClassRow::new(name, None, &of))).collect(),
            damage: damage.iter().map(ToString::to_string).collect(),
        })
    })
    .await
}

impl ClassRow {
    fn new(name: ClassName, group: Option<GroupValues>, class: &ClassStatistics) -> Self {
        let (p50_ns, p99_ns, max_ns) = quantiles(&class.elapsed);
        Self {
            name: name.to_string(),
            group,
            application: name.application,
            class: name.class,
            count: class.elapsed.count(),
            p50_ns,
            p99_ns,
            max_ns,
            cpu_ns: cpu::of_sum(class.cpu_ns),
            not_good: class.not_good,
        }
    }
}

/// Statistics of every path of native chains.
#[utoipa::path(get, path = "/paths", tag = "stored", params(ListRange, QuestionName),
    responses((status = 200, body = Paths), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn paths(
    State(api): State<Api>,
    PlainParameters { id, own: piece }: PlainParameters<ListRange>,
) -> Result<Json<Paths>, ApiError> {
    let piece = piece.check().map_err(ApiError::question)?;
    api.ask(id, move |api, progress| {
        let (paths, damage) = api.recently(|view, _| view.paths(&piece.range(), progress))?;
        let mut paths: Vec<_> = paths.into_iter().map(summary).collect();
        paths.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.path.cmp(&b.path)));
        Ok(Paths {
            total: paths.len() as u64,
            paths: piece.of(paths.into_iter()).collect(),
            damage: damage.iter().map(ToString::to_string).collect(),
        })
    })
    .await
}

fn summary((path, statistics): (String, chronoscope_query::PathStatistics)) -> PathSummary {
    let hops: Vec<String> = statistics.hops.iter().map(ToString::to_string).collect();
    let (p50_ns, p99_ns, max_ns) = quantiles(&statistics.since_root);
    PathSummary {
        path,
        root: hops.first().cloned().unwrap_or_default(),
        leaf: hops.last().cloned().unwrap_or_default(),
        level: hops.len().saturating_sub(1) as u64,
        count: statistics.since_root.count(),
        hops,
        p50_ns,
        p99_ns,
        max_ns,
    }
}

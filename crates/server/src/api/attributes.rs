//! `GET /attributes` and `GET /attributes/values`: what `where` and `by` can ask for. For
//! completion, so that by default the newest rows are enough.

use super::Api;
use super::error::{ApiError, ErrorBody};
use super::parameters::{PlainParameters, QuestionName};
use axum::Json;
use axum::extract::State;
use chronoscope_query::{AttributeKey, AttributeRows, COUNTED_MAX, GroupValue, Limits, Progress};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use utoipa::{IntoParams, ToSchema};

/// Rows that are looked at by default.
const ROWS: u64 = 500_000;

/// The rows to look at.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct AttributeRange {
    /// Only rows whose root started at this time or later: UTC ns since 1970.
    from_ns: Option<i64>,
    /// Only rows whose root started before this time: UTC ns since 1970.
    until_ns: Option<i64>,
    /// So many of the newest rows are enough; the default is 500,000. Whole minutes are read.
    rows: Option<u64>,
}

/// The attribute whose values are listed, and the rows to look at.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct NamedAttribute {
    /// The attribute's key.
    name: String,
    /// Only rows whose root started at this time or later: UTC ns since 1970.
    from_ns: Option<i64>,
    /// Only rows whose root started before this time: UTC ns since 1970.
    until_ns: Option<i64>,
    /// So many of the newest rows are enough; the default is 500,000. Whole minutes are read.
    rows: Option<u64>,
}

impl NamedAttribute {
    fn range(&self) -> AttributeRange {
        AttributeRange { from_ns: self.from_ns, until_ns: self.until_ns, rows: self.rows }
    }
}

impl AttributeRange {
    fn start_ns(self) -> Range<i64> {
        self.from_ns.unwrap_or(i64::MIN)..self.until_ns.unwrap_or(i64::MAX)
    }

    fn rows(self, progress: &Progress) -> AttributeRows<'_> {
        let most = Some(self.rows.unwrap_or(ROWS));
        let threads = Limits::default().threads;
        AttributeRows { start_ns: self.start_ns(), most, threads, progress }
    }
}

/// Names of attributes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct AttributeList {
    /// In most rows first.
    names: Vec<AttributeRow>,
    /// Whether there are more names than are listed.
    cut: bool,
    /// Rows that were looked at.
    rows: u64,
    /// Whether older rows were not looked at.
    newest_only: bool,
    /// Unreadable segments, in words.
    damage: Vec<String>,
}

/// The name of an attribute.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct AttributeRow {
    /// The key, as `where` and `by` take it.
    key: String,
    /// Rows that have it.
    rows: u64,
    /// Number of different values.
    values: u64,
    /// Whether there are more values than `values` says.
    values_cut: bool,
}

/// Values of an attribute.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ValueList {
    /// In most rows first, at most 1,000.
    values: Vec<ValueRow>,
    /// Rows that have other values.
    others: u64,
    /// Rows without the attribute.
    without: u64,
    /// Rows that were looked at.
    rows: u64,
    /// Whether older rows were not looked at.
    newest_only: bool,
    /// Unreadable segments, in words.
    damage: Vec<String>,
}

/// A value of an attribute.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ValueRow {
    value: String,
    /// Rows that have it.
    rows: u64,
}

/// The names of the attributes that stored rows have.
#[utoipa::path(get, path = "/attributes", tag = "stored", params(AttributeRange, QuestionName),
    responses((status = 200, body = AttributeList), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn names(
    State(api): State<Api>,
    PlainParameters { id, own: range }: PlainParameters<AttributeRange>,
) -> Result<Json<AttributeList>, ApiError> {
    api.ask(id, move |api, progress| {
        let found = api.recently(|view, _| view.attribute_names(&range.rows(progress)))?;
        let row = |name: chronoscope_query::AttributeName| AttributeRow {
            values_cut: name.values >= COUNTED_MAX as u64,
            key: name.key,
            rows: name.rows,
            values: name.values,
        };
        Ok(AttributeList {
            names: found.names.into_iter().map(row).collect(),
            cut: found.cut,
            rows: found.rows,
            newest_only: found.newest_only,
            damage: found.damage.iter().map(ToString::to_string).collect(),
        })
    })
    .await
}

/// The values of an attribute, row by row.
#[utoipa::path(get, path = "/attributes/values", tag = "stored", params(NamedAttribute, QuestionName),
    responses((status = 200, body = ValueList), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn values(
    State(api): State<Api>,
    PlainParameters { id, own }: PlainParameters<NamedAttribute>,
) -> Result<Json<ValueList>, ApiError> {
    let key: AttributeKey = own.name.parse().map_err(ApiError::question)?;
    let range = own.range();
    api.ask(id, move |api, progress| {
        let found = api.recently(|view, _| view.attribute_values(&key, &range.rows(progress)))?;
        let row = |(value, rows): (GroupValue, u64)| ValueRow { value: value.to_string(), rows };
        Ok(ValueList {
            values: found.values.into_iter().map(row).collect(),
            others: found.others,
            without: found.without,
            rows: found.rows,
            newest_only: found.newest_only,
            damage: found.damage.iter().map(ToString::to_string).collect(),
        })
    })
    .await
}

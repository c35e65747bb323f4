//! `GET /groups`: the selected durations by the values of attributes.

use super::{DistributionView, elapsed_ms, of_rows};
use crate::api::Api;
use crate::api::error::{ApiError, ErrorBody};
use crate::api::group_values::GroupValues;
use crate::api::parameters::{Pairs, QuestionName, SelectionParameters, take_all};
use crate::api::selection::Selection;
use axum::Json;
use axum::extract::State;
use chronoscope_query::{
    AttributeGroup, AttributeSelection, Question, VerdictSubject, ask_watched,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The attributes to group by.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(try_from = "Pairs")]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct GroupKeys {
    /// Group by this attribute; may be given twice.
    by: Vec<String>,
}

impl TryFrom<Pairs> for GroupKeys {
    type Error = String;

    fn try_from(mut pairs: Pairs) -> Result<Self, String> {
        let by = take_all(&mut pairs, "by");
        match pairs.first() {
            Some((name, _)) => Err(format!("unknown field `{name}`, expected `by`")),
            None if by.is_empty() => Err("missing field `by`".to_owned()),
            None => Ok(Self { by }),
        }
    }
}

/// Durations by the values of attributes. Every duration is in exactly one group.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct GroupsAnswer {
    /// The attributes.
    by: Vec<String>,
    /// Most durations first; at last those that were brought together.
    groups: Vec<GroupRow>,
    /// Statistics of all durations; null without durations.
    distribution: Option<DistributionView>,
    /// Number of groups that were brought together, because they are not among the 1,000 largest.
    merged: u64,
    /// For each attribute whether it has more values than are told apart.
    cut: Vec<bool>,
    /// Unreadable segments, in words: their rows are in no group.
    damage: Vec<String>,
    elapsed_ms: u64,
}

/// Durations with the same values.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(in crate::api) struct GroupRow {
    /// The values.
    group: GroupValues,
    distribution: DistributionView,
    /// Number of durations above `limit_ns`; null without it.
    above: Option<u64>,
}

/// The selected durations by the values of one or two attributes. Reads the attributes of all rows.
#[utoipa::path(get, path = "/groups", tag = "durations", params(Selection, GroupKeys, QuestionName),
    responses((status = 200, body = GroupsAnswer), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn groups(
    State(api): State<Api>,
    SelectionParameters { selection, id, own }: SelectionParameters<GroupKeys>,
) -> Result<Json<GroupsAnswer>, ApiError> {
    let attributes = AttributeSelection::parse(&selection.filters, &own.by);
    let attributes = attributes.map_err(ApiError::question)?;
    // Which roots did not arrive is no matter here.
    let judged = VerdictSubject::Durations;
    let question = Question { attributes, judged, ..selection.question()? };
    let began_ns = chronoscope_clock::monotonic_ns();
    api.ask(id, move |api, progress| {
        let found = of_rows((api, progress), &[&question], |snapshot, asking| {
            ask_watched(snapshot, &question, asking.limits, asking.progress)
        })?;
        let groups = found.groups.ok_or_else(|| ApiError::failed("no groups"))?;
        let row = |group: &AttributeGroup| GroupRow {
            group: GroupValues::of(&group.values),
            distribution: (&group.distribution).into(),
            above: group.above,
        };
        Ok(GroupsAnswer {
            by: groups.by.iter().map(ToString::to_string).collect(),
            groups: groups.groups.iter().map(row).collect(),
            distribution: found.distribution.as_ref().map(Into::into),
            merged: groups.merged,
            cut: groups.cut,
            damage: found.losses.damage.iter().map(ToString::to_string).collect(),
            elapsed_ms: elapsed_ms(began_ns),
        })
    })
    .await
}

//! `GET /rules`: the rules of `--limits`, and their alarms.

use super::error::{ApiError, ErrorBody};
use super::{Api, beside};
use crate::rules::RuleStanding;
use axum::Json;
use axum::extract::State;
use chronoscope_rules::AlarmState;
use serde::Serialize;
use utoipa::ToSchema;

/// The rules of a server.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Rules {
    /// Every rule, in the order of the file.
    rules: Vec<RuleReport>,
}

/// One rule and its alarm.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct RuleReport {
    name: String,
    /// The class, or root and leaf, as text.
    what: String,
    severity: String,
    /// Meaning of the rule.
    sentence: String,
    state: RuleState,
    /// Instant at which its alarm fired: UTC ns since 1970; null while it does not fire.
    since_ns: Option<i64>,
    /// End of the last windows: UTC ns since 1970; null before the first.
    judged_ns: Option<i64>,
    /// Why the last windows could not be judged; null where they could.
    not_judged: Option<String>,
    /// The last windows.
    windows: Vec<RuleWindow>,
}

/// State of a rule's alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleState {
    /// It does not fire.
    Quiet,
    /// It fires.
    Firing,
}

/// A window of a rule.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(super) struct RuleWindow {
    length_ns: u64,
    /// Durations that ended in it; of arrivals, roots that started in it.
    count: u64,
    /// Number of these that are above the limit.
    above: u64,
    /// Number of these that may be above the limit.
    undecided: u64,
}

/// The rules of `--limits` and their alarms.
#[utoipa::path(get, path = "/rules", tag = "now",
    responses((status = 200, body = Rules), (status = 401, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn rules(State(api): State<Api>) -> Result<Json<Rules>, ApiError> {
    beside(move || {
        let rules = api.rules.standings().into_iter().map(RuleReport::from).collect();
        Ok(Rules { rules })
    })
    .await
}

impl From<RuleStanding> for RuleReport {
    fn from(standing: RuleStanding) -> Self {
        let RuleStanding { rule, state, unjudged, last } = standing;
        let (state, since_ns) = match state {
            AlarmState::Quiet => (RuleState::Quiet, None),
            AlarmState::Firing { since_ns, .. } => (RuleState::Firing, Some(since_ns)),
        };
        let (judged_ns, last) = last.unzip();
        let counts = last.map(|last| last.windows).unwrap_or_default();
        let windows = rule.condition.windows_ns().into_iter().zip(counts);
        let windows = windows.map(|(length_ns, counts)| RuleWindow {
            length_ns,
            count: counts.count,
            above: counts.above,
            undecided: counts.undecided,
        });
        Self {
            what: rule.subject.to_string(),
            sentence: rule.sentence(),
            windows: windows.collect(),
            not_judged: unjudged.map(|reason| reason.to_string()),
            name: rule.name,
            severity: rule.severity,
            state,
            since_ns,
            judged_ns,
        }
    }
}

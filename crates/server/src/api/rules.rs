//! `GET /rules`: the rules of `--limits`, and their alarms. `POST /rules/acknowledge` and
//! `POST /rules/silence`: what people say of them.

use super::acknowledged::AcknowledgedBy;
use super::change::{Change, Writer};
use super::error::{ApiError, ErrorBody};
use super::{Api, beside};
use crate::rules::RuleStanding;
use axum::Json;
use axum::extract::State;
use chronoscope_clock as clock;
use chronoscope_rules::{AlarmState, Condition};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The rules of a server.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Rules {
    /// Every rule, in the order of the file; of a rule with groups (`by`) every group that was judged.
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
    /// Who acknowledged the alarm; null where nobody did.
    acknowledged: Option<AcknowledgedBy>,
    /// Until when nobody is told of the rule: UTC ns since 1970; null where it is not silenced.
    silenced_until_ns: Option<i64>,
}

/// The rule whose alarm is acknowledged.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Acknowledge {
    /// Name of the rule.
    rule: String,
}

/// The rule of which nobody is to be told for a time.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SilenceFor {
    /// Name of the rule, with all its groups, or of one group.
    rule: String,
    /// How long, in seconds from now; 0 ends a silence.
    #[schema(maximum = 31_536_000)]
    seconds: u32,
}

/// Longest silence: a year.
const SILENCE_S_MAX: u32 = 31_536_000;

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
    /// Of a rule on regularity: standard deviation of the intervals between their ends over the
    /// mean; null where it is not known, or nothing came.
    spread: Option<f64>,
    /// Of such a rule: the usual spread, by which it is judged; null where it is not known, or where
    /// most others are silent.
    usual_spread: Option<f64>,
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

/// Acknowledges the alarm of a rule: there are no reminders until it clears. Needs a token that may
/// write, where tokens are needed.
#[utoipa::path(post, path = "/rules/acknowledge", tag = "now", request_body = Acknowledge,
    responses((status = 200, body = RuleReport), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody)))]
pub(super) async fn acknowledge(
    State(api): State<Api>,
    Writer(by): Writer,
    Change(Acknowledge { rule }): Change<Acknowledge>,
) -> Result<Json<RuleReport>, ApiError> {
    beside(move || {
        known(&api, &rule)?;
        if !api.rules.acknowledge(&rule, by).map_err(ApiError::failed)? {
            return Err(ApiError::conflict(format!("the alarm of {rule:?} does not fire")));
        }
        known(&api, &rule)
    })
    .await
}

/// Tells nobody of a rule for a time. An alarm that fires meanwhile, and still fires at the end, is
/// told then. Needs a token that may write, where tokens are needed.
#[utoipa::path(post, path = "/rules/silence", tag = "now", request_body = SilenceFor,
    responses((status = 200, body = RuleReport), (status = 400, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 500, body = ErrorBody)))]
pub(super) async fn silence(
    State(api): State<Api>,
    Writer(by): Writer,
    Change(SilenceFor { rule, seconds }): Change<SilenceFor>,
) -> Result<Json<RuleReport>, ApiError> {
    if seconds > SILENCE_S_MAX {
        return Err(ApiError::question(format!("seconds: at most {SILENCE_S_MAX} (a year)")));
    }
    beside(move || {
        known(&api, &rule)?;
        let until_ns = clock::utc_now_ns() + i64::from(seconds) * 1_000_000_000;
        api.rules.silence(&rule, until_ns, by).map_err(ApiError::failed)?;
        known(&api, &rule)
    })
    .await
}

/// The rule with a name.
fn known(api: &Api, rule: &str) -> Result<RuleReport, ApiError> {
    let found = api.rules.standing(rule);
    found.map(RuleReport::from).ok_or_else(|| {
        ApiError::missing(format!("no rule is called {rule:?}")).hint("/api/v1/rules lists them")
    })
}

impl From<RuleStanding> for RuleReport {
    fn from(standing: RuleStanding) -> Self {
        let RuleStanding { rule, state, unjudged, last, handling } = standing;
        let (state, since_ns) = match state {
            AlarmState::Quiet => (RuleState::Quiet, None),
            AlarmState::Firing { since_ns, .. } => (RuleState::Firing, Some(since_ns)),
        };
        let (judged_ns, last) = last.unzip();
        let usual = last.as_ref().and_then(|last| last.usual).map(|usual| usual.median);
        let is_on_regularity = matches!(rule.condition, Condition::Irregular { .. });
        let finite = |value: &f64| is_on_regularity && value.is_finite();
        let counts = last.map(|last| last.windows).unwrap_or_default();
        let windows = rule.condition.windows_ns().into_iter().zip(counts);
        let windows = windows.map(|(length_ns, counts)| RuleWindow {
            length_ns,
            count: counts.count,
            above: counts.above,
            undecided: counts.undecided,
            spread: counts.intervals.spread().filter(finite),
            usual_spread: usual.filter(finite),
        });
        Self {
            what: rule.what(),
            sentence: rule.sentence(),
            windows: windows.collect(),
            not_judged: unjudged.map(|reason| reason.to_string()),
            acknowledged: handling.acknowledged.map(AcknowledgedBy::from),
            silenced_until_ns: handling.silence.map(|silence| silence.until_ns),
            name: rule.name,
            severity: rule.severity,
            state,
            since_ns,
            judged_ns,
        }
    }
}

//! `GET /contrast`: the attribute values by which slow durations differ from others, selected ones
//! from the rest, or one time from another.

use super::compare::{OtherTime, named, of_other};
use super::{bounded, of_rows};
use crate::api::Api;
use crate::api::error::{ApiError, ErrorBody};
use crate::api::parameters::{QuestionName, SelectionParameters};
use crate::api::selection::Selection;
use crate::contrast::ContrastView;
use axum::Json;
use axum::extract::State;
use chronoscope_query::{
    AttributeContrast, CONTRAST_SAMPLE, QueryEnvironment, Question, SlowLimit, compared_attributes,
    selected_attributes, slow_attributes,
};
use chronoscope_statistics::Quantile;
use chronoscope_store::{Snapshot, StoreError};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use utoipa::{IntoParams, ToSchema};

/// The two sets of durations.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::api) struct ContrastParameters {
    /// Which sets are compared; the default is `slow`.
    of: Option<ContrastOf>,
    /// For `slow`: durations longer than this quantile of the selection are slow, as `p99` or
    /// `0.99`; the default are those above `limit_ns`, and without it above `p99`.
    above: Option<String>,
    /// For `selected`: the rest are those that started then or later: UTC ns since 1970.
    context_from_ns: Option<i64>,
    /// For `selected`: the rest are those that started before then: UTC ns since 1970.
    context_until_ns: Option<i64>,
    /// For `times`: as for `/compare`.
    b_store: Option<String>,
    /// For `times`: as for `/compare`.
    b_from_ns: Option<i64>,
    /// For `times`: as for `/compare`.
    b_until_ns: Option<i64>,
    /// Largest number of durations of each set whose attributes are read; the default is 4000.
    #[param(minimum = 1, maximum = 20000)]
    sample: Option<usize>,
}

/// Two sets of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::api) enum ContrastOf {
    /// The slow durations of the selection and its others of the same time.
    #[default]
    Slow,
    /// The selection, and the rest of the same root, leaf, level and path at the same time.
    Selected,
    /// The selection (A), and another time or another store (B).
    Times,
}

/// A contrast that is asked of a store, with the limit, or the time of the other set.
enum Contrast {
    Slow(SlowLimit),
    Selected(Range<i64>),
    Times(Range<i64>),
}

/// The attribute values by which two sets of durations differ.
#[utoipa::path(get, path = "/contrast", tag = "durations", params(Selection, ContrastParameters, QuestionName),
    responses((status = 200, body = ContrastView), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(in crate::api) async fn contrast(
    State(api): State<Api>,
    SelectionParameters { selection, id, own }: SelectionParameters<ContrastParameters>,
) -> Result<Json<ContrastView>, ApiError> {
    let question = selection.question()?;
    let most = bounded("sample", own.sample, CONTRAST_SAMPLE, 20_000)?;
    let contrast = own.contrast(&question)?;
    let other = own.b_store.as_deref().map(|name| named(&api, name)).transpose()?;
    api.ask(id, move |api, progress| {
        let rest = contrast.rest(&question);
        let here: &[&Question] = if other.is_some() { &[&question] } else { &[&question, &rest] };
        let found = of_rows((api, progress), here, |snapshot, asking| match &other {
            None => Ok(contrast.ask((snapshot, &question), snapshot, most, asking)?),
            Some(other) => of_other(other, (&rest, asking), |second| {
                contrast.ask((snapshot, &question), second, most, asking)
            }),
        })?;
        Ok(ContrastView::from(&found))
    })
    .await
}

impl ContrastParameters {
    fn contrast(&self, question: &Question) -> Result<Contrast, ApiError> {
        let of = self.of.unwrap_or_default();
        let needs = |given: bool, name: &str, needed: ContrastOf, word: &str| {
            if given && of != needed {
                return Err(ApiError::question(format!("{name} is for of={word} only")));
            }
            Ok(())
        };
        let context = self.context_from_ns.or(self.context_until_ns).is_some();
        let times = self.b_from_ns.or(self.b_until_ns).is_some() || self.b_store.is_some();
        needs(self.above.is_some(), "above", ContrastOf::Slow, "slow")?;
        needs(context, "context_from_ns or context_until_ns", ContrastOf::Selected, "selected")?;
        needs(times, "b_from_ns, b_until_ns or b_store", ContrastOf::Times, "times")?;
        Ok(match of {
            ContrastOf::Slow => Contrast::Slow(match (&self.above, question.limit_ns) {
                (Some(above), _) => {
                    let quantile = above.parse::<Quantile>();
                    SlowLimit::AboveQuantile(quantile.map_err(ApiError::question)?)
                }
                (None, Some(limit_ns)) => SlowLimit::Above(limit_ns),
                (None, None) => SlowLimit::default(),
            }),
            ContrastOf::Selected => {
                let from = self.context_from_ns.unwrap_or(i64::MIN);
                Contrast::Selected(from..self.context_until_ns.unwrap_or(i64::MAX))
            }
            ContrastOf::Times => {
                let other = OtherTime {
                    has_store: self.b_store.is_some(),
                    from_ns: self.b_from_ns,
                    until_ns: self.b_until_ns,
                };
                Contrast::Times(other.start_ns()?)
            }
        })
    }
}

impl Contrast {
    /// A question about all durations that are looked at besides those of `question`.
    fn rest(&self, question: &Question) -> Question {
        let own = &question.start_ns;
        let start_ns = match self {
            Self::Slow(_) => own.clone(),
            Self::Selected(rest) => own.start.min(rest.start)..own.end.max(rest.end),
            Self::Times(other) => other.clone(),
        };
        Question { start_ns, ..question.clone() }
    }

    /// Asks a store; a second one for the other time.
    fn ask(
        &self,
        (snapshot, question): (&Snapshot, &Question),
        second: &Snapshot,
        most: usize,
        asking: &QueryEnvironment<'_>,
    ) -> Result<AttributeContrast, StoreError> {
        match self {
            Self::Slow(slow) => slow_attributes(snapshot, question, (*slow, most), asking),
            Self::Selected(context_ns) => {
                selected_attributes(snapshot, question, (context_ns.clone(), most), asking)
            }
            Self::Times(start_ns) => {
                let other = Question { start_ns: start_ns.clone(), ..question.clone() };
                compared_attributes((snapshot, question), (second, &other), most, asking)
            }
        }
    }
}

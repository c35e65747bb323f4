//! `GET /worst`: the worst transactions of each class, with their chains.

use super::error::{ApiError, ErrorBody};
use super::parameters::{QuestionName, SelectionParameters};
use super::selection::Selection;
use super::{Api, cpu};
use axum::Json;
use axum::extract::State;
use chronoscope_model::{ClassName, Transaction};
use chronoscope_query::ClassSelector;
use chronoscope_query::{StoreView, WorstBy};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Transactions of a class that are sent.
const COUNT_MAX: usize = 1000;

/// Selection of the worst transactions. Only the selection's time and hosts count; hosts are
/// those where the transactions themselves ran.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WorstSelection {
    /// Only this class, as `APPLICATION::CLASS` or `CLASS`.
    class: Option<String>,
    /// Number of transactions of each class; the default is 10.
    #[param(minimum = 1, maximum = 1000)]
    n: Option<usize>,
    /// What they are worst by; the default is `elapsed`.
    by: Option<WorstOrder>,
}

/// What transactions are worst by.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum WorstOrder {
    /// Elapsed time.
    #[default]
    Elapsed,
    /// CPU time of the thread; transactions of which it is not known are left out.
    Cpu,
}

/// The worst transactions.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Worst {
    /// Classes, by name.
    classes: Vec<WorstClass>,
    /// Segments that could not be read, in words.
    damage: Vec<String>,
}

/// The worst of one class, the worst first.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct WorstClass {
    /// `APPLICATION::CLASS`.
    name: String,
    rows: Vec<WorstRow>,
}

/// One transaction.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct WorstRow {
    chain: String,
    /// UTC ns since 1970.
    start_ns: i64,
    elapsed_ns: u64,
    /// CPU time of its thread; null where it was not measured, as for spans of OpenTelemetry.
    cpu_ns: Option<u64>,
    host: String,
    process: u32,
    status: String,
}

/// The worst transactions of each class, by elapsed time or by CPU time.
#[utoipa::path(get, path = "/worst", tag = "stored",
    params(Selection, WorstSelection, QuestionName),
    responses((status = 200, body = Worst), (status = 400, body = ErrorBody),
        (status = 401, body = ErrorBody), (status = 409, body = ErrorBody),
        (status = 500, body = ErrorBody), (status = 501, body = ErrorBody),
        (status = 503, body = ErrorBody)))]
pub(super) async fn worst(
    State(api): State<Api>,
    SelectionParameters { selection, id, own: which }: SelectionParameters<WorstSelection>,
) -> Result<Json<Worst>, ApiError> {
    let count = which.n.unwrap_or(10);
    if !(1..=COUNT_MAX).contains(&count) {
        return Err(ApiError::question(format!("n: a number from 1 to {COUNT_MAX}")));
    }
    let question = chronoscope_query::WorstQuery {
        start_ns: selection.start_ns(),
        hosts: selection.hosts(),
        class: which.class.map(ClassSelector),
        count,
        by: match which.by.unwrap_or_default() {
            WorstOrder::Elapsed => WorstBy::Elapsed,
            WorstOrder::Cpu => WorstBy::Cpu,
        },
    };
    api.ask(id, move |api, progress| {
        let (classes, damage) = api.recently(|view, _| match view {
            StoreView::Files(snapshot) => {
                Ok(chronoscope_query::worst(snapshot, &question, progress)?)
            }
            StoreView::Cluster(remote) => remote.worst(&question, progress),
        })?;
        Ok(Worst {
            classes: classes.iter().map(class).collect(),
            damage: damage.iter().map(ToString::to_string).collect(),
        })
    })
    .await
}

fn class((name, rows): (&ClassName, &Vec<Transaction>)) -> WorstClass {
    let row = |t: &Transaction| WorstRow {
        chain: t.chain.to_string(),
        start_ns: t.start_ns,
        elapsed_ns: t.elapsed_ns,
        cpu_ns: cpu::of_row(t.cpu_ns, t.flags),
        host: t.process.as_ref().map_or_else(String::new, |process| process.host.clone()),
        process: t.process.as_ref().map_or(0, |process| process.pid),
        status: t.status.to_string(),
    };
    WorstClass { name: name.to_string(), rows: rows.iter().map(row).collect() }
}

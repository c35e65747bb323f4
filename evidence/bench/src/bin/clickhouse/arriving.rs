//! Rows that come in as time goes by, while chains are linked as `serve` links them: whether their rate
//! is taken, what processors it takes, and how long it is until an answer has a row.
//!
//! This process inserts and links by the code of `serve`; agents and their connections are not part of
//! it. It makes the rows too, which its processor time has in it.

use crate::flow::Flow;
use crate::load::Load;
use crate::pictures::acpd;
use crate::servers::Servers;
use crate::took::Took;
use anyhow::{Context, Result, ensure};
use chronoscope_clickhouse::ClusterWriter;
use chronoscope_clock as clock;
use chronoscope_query::{ClusterView, Limits, Progress, Question, StoreLocation};
use chronoscope_statistics::median;
use chronoscope_store::MINUTE_NS;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time of each of the two parts: without questions, and with one after the other.
const SECONDS: i64 = 60;
/// Inserts a second, each of what has come since the last one.
const INSERTS_A_SECOND: i64 = 5;
const SECOND_NS: i64 = 1_000_000_000;
/// Minutes that a question is about, up to now.
const ASKED_MINUTES: i64 = 15;
/// Turns of linking, and the minutes that are left alone, as `serve` has them.
const LINK_EVERY: Duration = Duration::from_secs(10);
const NOT_LINKED_MINUTES: i64 = 3;

/// Inserts whose rows no answer has had yet: when the last of them ended, by the clock, and the number
/// of chains up to there.
type Sent = Mutex<Vec<(u64, u64)>>;

/// Lets rows come in at the rate of a flow, first alone and then beside questions.
pub(crate) fn arriving(
    flow: &mut Flow,
    sink: &ClusterWriter,
    view: &ClusterView,
    load: Load,
    servers: &Servers,
) -> Result<Value> {
    let alone = part(flow, (sink, view), load, servers, None)?;
    let location = StoreLocation::Cluster(view.clone());
    let asked = part(flow, (sink, view), load, servers, Some(&location))?;
    Ok(json!({ "alone": alone, "beside_questions": asked }))
}

fn part(
    flow: &mut Flow,
    (sink, view): (&ClusterWriter, &ClusterView),
    load: Load,
    servers: &Servers,
    location: Option<&StoreLocation>,
) -> Result<Value> {
    let (sent, is_done) = (Sent::default(), AtomicBool::new(false));
    let begin_ns = flow.begin_ns;
    let start_ns = begin_ns - ASKED_MINUTES * MINUTE_NS..i64::MAX;
    let question = Question { start_ns, ..acpd() };
    let before = location.map_or(Ok(0), |location| count(location, &question))?;
    let begun_ns = clock::monotonic_ns();
    let now_ns = || begin_ns.saturating_add_unsigned(clock::monotonic_ns() - begun_ns);
    let mut took = Took::default();
    let (rows, behind_ns, answered) = took.run(servers, || {
        std::thread::scope(|scope| {
            let linking = scope.spawn(|| link(view, &now_ns, &is_done));
            let asking = location.map(|location| {
                let (question, state) = ((&question, before), (&sent, &is_done));
                scope.spawn(move || ask(location, question, state))
            });
            let inserted = insert(flow, sink, load, (begun_ns, &sent));
            is_done.store(true, Ordering::SeqCst);
            linking.join().ok().context("linking ended in a panic")??;
            let answered = match asking {
                Some(asking) => Some(asking.join().ok().context("asking ended in a panic")??),
                None => None,
            };
            let (rows, behind_ns) = inserted?;
            Ok((rows, behind_ns, answered))
        })
    })?;
    let seconds = took.seconds();
    let mut value = json!({
        "seconds": seconds, "rows": rows, "rows_per_second": rows as f64 / seconds,
        "inserts_per_second": INSERTS_A_SECOND,
        "last_insert_late_s": behind_ns as f64 * 1e-9,
        "our_cpu_per_second": took.cpu_seconds() / seconds,
        "servers_cpu_per_second": took.servers_ns as f64 * 1e-9 / seconds,
    });
    if let Some(answered) = answered {
        value["questions"] = answered.took_s.len().into();
        value["question_s"] = spread(&answered.took_s);
        value["seen_after_s"] = spread(&answered.lags_s);
    }
    Ok(value)
}

/// Inserts the rows of each moment when it is over; how many, and how long after the end of the last
/// moment the last ones were acknowledged.
fn insert(
    flow: &mut Flow,
    sink: &ClusterWriter,
    load: Load,
    (begun_ns, sent): (u64, &Sent),
) -> Result<(usize, u64)> {
    let moment_ns = SECOND_NS / INSERTS_A_SECOND;
    let (mut rows, mut chains, mut due_ns) = (0, 0, begun_ns);
    for _ in 0..SECONDS * INSERTS_A_SECOND {
        due_ns += moment_ns.unsigned_abs();
        let wait_ns = due_ns.saturating_sub(clock::monotonic_ns());
        clock::sleep(Duration::from_nanos(wait_ns));
        chains += flow.chains_of(moment_ns);
        waiting(sent).push((due_ns, chains));
        rows += flow.insert(sink, moment_ns, load)?;
    }
    Ok((rows, clock::monotonic_ns().saturating_sub(due_ns)))
}

/// Links the minutes that are over, as `serve` does.
fn link(view: &ClusterView, now_ns: &(dyn Fn() -> i64 + Sync), is_done: &AtomicBool) -> Result<()> {
    let mut next_ns = clock::monotonic_ns();
    while !is_done.load(Ordering::SeqCst) {
        if clock::monotonic_ns() < next_ns {
            clock::sleep(Duration::from_millis(50));
            continue;
        }
        let last = now_ns().div_euclid(MINUTE_NS) - NOT_LINKED_MINUTES;
        view.seal(&(last - 120..=last), &Progress::default())?;
        next_ns = clock::monotonic_ns() + u64::try_from(LINK_EVERY.as_nanos())?;
    }
    Ok(())
}

/// What questions told.
#[derive(Default)]
struct Answered {
    took_s: Vec<f64>,
    /// Of each insert, from the end of its last row to the first answer that had all of its rows.
    lags_s: Vec<f64>,
}

/// Asks the same question again and again; `before` are the durations that it finds without any of
/// these rows. Every chain is one duration.
fn ask(
    location: &StoreLocation,
    (question, before): (&Question, u64),
    (sent, is_done): (&Sent, &AtomicBool),
) -> Result<Answered> {
    let mut answered = Answered::default();
    loop {
        // The last question begins when all rows are acknowledged.
        let is_last = is_done.load(Ordering::SeqCst);
        let begun_ns = clock::monotonic_ns();
        let seen = count(location, question)?.saturating_sub(before);
        let ended_ns = clock::monotonic_ns();
        answered.took_s.push((ended_ns - begun_ns) as f64 * 1e-9);
        waiting(sent).retain(|(due_ns, chains)| {
            let is_seen = *chains <= seen;
            if is_seen {
                answered.lags_s.push(ended_ns.saturating_sub(*due_ns) as f64 * 1e-9);
            }
            !is_seen
        });
        if is_last {
            break;
        }
    }
    ensure!(waiting(sent).is_empty(), "the last answer does not have all rows");
    Ok(answered)
}

fn count(location: &StoreLocation, question: &Question) -> Result<u64> {
    Ok(location.ask(question, &Limits::default())?.counts.used)
}

fn waiting(sent: &Sent) -> MutexGuard<'_, Vec<(u64, u64)>> {
    sent.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Median and largest of some seconds.
fn spread(seconds: &[f64]) -> Value {
    let most = seconds.iter().copied().fold(0.0, f64::max);
    json!({ "median": median(seconds.iter().copied()), "most": most })
}

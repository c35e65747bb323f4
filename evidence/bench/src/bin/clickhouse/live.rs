//! What the last minutes cost, which are not linked yet: an hour of rows without ancestors, asked
//! before anything is linked, when all but the last three minutes are, when all are, and while further
//! rows come in at the same rate.

use crate::arriving::arriving;
use crate::flow::Flow;
use crate::load::Load;
use crate::pictures::{acpd, statistics};
use crate::rows::BEGIN_NS;
use crate::servers::Servers;
use crate::took::Took;
use anyhow::{Result, ensure};
use chronoscope_clickhouse::{Cluster, ClusterWriter, TableOptions};
use chronoscope_query::{ClusterView, Progress, StoreLocation};
use chronoscope_store::MINUTE_NS;
use serde_json::{Value, json};

const DATABASE: &str = "live";
/// Minutes of rows, and those of them that are not linked.
const MINUTES: i64 = 60;
const OPEN_MINUTES: i64 = 3;
/// Questions one after the other, each with a second of new rows before it.
const FOLLOWING: u32 = 5;

/// Measures it at a rate of rows a second.
pub(crate) fn costs(load: Load, rate: u32, servers: &Servers) -> Result<Value> {
    let cluster = Cluster::new(&servers.url_of(DATABASE))?;
    cluster.prepare(&TableOptions::default())?;
    let sink = ClusterWriter::new(cluster.clone());
    let view = ClusterView::new(cluster);
    let mut flow = Flow::new(load, rate)?;
    let rows = flow.insert(&sink, MINUTES * MINUTE_NS, load)?;
    let question = acpd();
    let ask = || -> Result<(Value, [Took; 2])> {
        let location = StoreLocation::open(&servers.url_of(DATABASE))?;
        let mut both = [Took::default(); 2];
        let mut answers = Vec::new();
        for took in &mut both {
            answers.push(took.run(servers, || statistics(&location, &question))?);
        }
        ensure!(answers[0] == answers[1], "two answers differ");
        Ok((json!(answers[0].1), both))
    };
    let first = BEGIN_NS.div_euclid(MINUTE_NS);
    let progress = Progress::default();
    let (expected, unlinked) = ask()?;
    let mut linking = Took::default();
    let most = first..=first + MINUTES - OPEN_MINUTES - 1;
    let sealed = linking.run(servers, || Ok(view.seal(&most, &progress)?))?;
    let (found, open) = ask()?;
    ensure!(found == expected, "with open minutes the answer is another one");
    view.seal(&(i64::MIN..=i64::MAX), &progress)?;
    let (found, linked) = ask()?;
    ensure!(found == expected, "linked, the answer is another one");
    let told =
        |both: [Took; 2]| json!({ "first": both[0].of_question(), "again": both[1].of_question() });
    let mut results = json!({
        "rows": rows, "rows_per_second": rate, "minutes": MINUTES, "open_minutes": OPEN_MINUTES,
        "linking": linking.of_rows(usize::try_from(sealed.foreign)?.max(1), 0),
        "nothing_linked": told(unlinked), "all_but_the_last_linked": told(open),
        "all_linked": told(linked),
    });
    results["following"] = following(&mut flow, &sink, load, servers)?;
    results["arriving"] = arriving(&mut flow, &sink, &view, load, servers)?;
    Ok(results)
}

/// The same question again and again by one process, with new rows before each: as the page asks.
fn following(
    flow: &mut Flow,
    sink: &ClusterWriter,
    load: Load,
    servers: &Servers,
) -> Result<Value> {
    let location = StoreLocation::open(&servers.url_of(DATABASE))?;
    flow.insert(sink, (OPEN_MINUTES - 1) * MINUTE_NS, load)?;
    statistics(&location, &acpd())?;
    let mut took = Took::default();
    for _ in 0..FOLLOWING {
        flow.insert(sink, 1_000_000_000, load)?;
        took.run(servers, || statistics(&location, &acpd()))?;
    }
    let each = |seconds: f64| seconds / f64::from(FOLLOWING);
    Ok(json!({
        "questions": FOLLOWING, "seconds_each": each(took.seconds()),
        "our_cpu_s_each": each(took.cpu_seconds()),
        "servers_cpu_s_each": each(took.servers_ns as f64 * 1e-9),
    }))
}

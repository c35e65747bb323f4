//! The server's status page in the paper's run: every figure is the server's own count.

use super::{list, lost, number};
use crate::outcome::ItemResults;
use anyhow::{Context, Result};
use serde_json::Value;

/// Full feeds of the paper's run.
const FEEDS: f64 = 640.0;

pub(super) fn status(printed: &Value) -> Result<ItemResults> {
    let mut found = ItemResults::new("aprsc.status");
    let outcome = &printed["paper"];
    let page = &outcome["status"];
    let of = |key: &str| number(page, &format!("/{key}"));
    let page_rows = list(page, "/rows")?;
    let row = |name: &str| {
        let row = page_rows.iter().find(|row| row["name"] == name);
        row.with_context(|| format!("the status page has no row “{name}”"))
    };
    let rate = |name: &str| number(row(name)?, "/rate");
    found
        .figure("clients", number(row("Clients")?, "/total")?)
        .note("640 full feeds and 4 senders");
    found.figure("rx_packets_per_s", of("received_per_s")?);
    found.figure("tx_packets_per_s", of("sent_per_s")?);
    found.figure("rx_bytes_per_s", rate("Bytes Rx TCP")?);
    found.figure("tx_bytes_per_s", rate("Bytes Tx TCP")?);
    found.figure("dupes_per_s", of("duplicates_per_s")?);
    found.figure("unique_per_s", of("uniques_per_s")?);
    found.figure("sent_of_due", of("sent_per_s")? / of("uniques_per_s")? / FEEDS);
    let dupes = row("Duplicate packets dropped")?;
    let (dropped, repeated) = (number(dupes, "/total")?, number(dupes, "/generator")?);
    let note = format!("{dropped} dropped of {repeated} that were sent again");
    found.figure("dupes_found", dropped / repeated).note(note);
    let differs = match page["differs_most"].as_str() {
        None | Some("none") => "all rows are the same".to_owned(),
        Some(name) => format!("“{name}”"),
    };
    found.figure("counters_off_pct", of("difference_pct")?).note(differs);
    found.own("CPU", "% of a core", number(outcome, "/cpu")? * 100.0);
    found.own("99 % of packets within", "ms", number(outcome, "/p99_ms")?);
    found.own("packets missing, out of order, clients cut", "", lost(outcome));
    let mut rows = Vec::new();
    for row in page_rows {
        rows.push(vec![
            row["name"].as_str().unwrap_or("").into(),
            number(row, "/total")?.into(),
            format!("{:.0}/s", number(row, "/rate")?).into(),
            number(row, "/generator")?.into(),
        ]);
    }
    let window_s = of("window_s")?;
    found.table(
        &format!(
            "status.json of the server: totals at the end, rates between two readings {window_s:.1} \
             s apart; beside them what the load generator counted"
        ),
        &["", "total", "rate", "the generator's total"],
        rows,
    );
    Ok(found)
}

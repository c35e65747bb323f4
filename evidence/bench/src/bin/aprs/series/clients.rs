//! Clients that are logged in and do nothing.

use super::megabytes;
use crate::Arguments;
use crate::load;
use crate::server::Server;
use crate::status::Reading;
use crate::table::Table;
use anyhow::Result;
use serde_json::{Value, json};

#[allow(clippy::cast_precision_loss)]
pub(crate) fn clients(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "Clients that are logged in",
        &["clients", "port", "by the server", "seconds", "CPU-s", "RSS MB", "kB each"],
    );
    let mut rows = Vec::new();
    for (port, filter) in [("full", ""), ("igate", "r/60.2/24.9/50")] {
        for client_count in [1000, 2500, 5000, 7500, 10_000] {
            let server = Server::start(&arguments.settings("adaptive"))?;
            let address = server.port(port)?;
            let before = server.usage()?;
            let (seconds, held) = load::crowd(address, client_count, filter)?;
            let after = server.usage()?;
            // Making the list of clients needs memory of its own: asked for afterwards.
            let counted = Reading::take(server.port("HTTPStatus")?)?.counts.clients;
            let each = after.rss_kb.saturating_sub(before.rss_kb) as f64 / client_count as f64;
            table.row(&[
                client_count.to_string(),
                port.to_owned(),
                counted.to_string(),
                format!("{seconds:.2}"),
                format!("{:.2}", after.cpu_s - before.cpu_s),
                format!("{:.1}", megabytes(after.rss_kb)),
                format!("{each:.2}"),
            ]);
            rows.push(json!({
                "clients": client_count, "port": port, "counted": counted, "seconds": seconds,
                "cpu_s": after.cpu_s - before.cpu_s, "rss_kb": after.rss_kb,
                "rss_before_kb": before.rss_kb, "kb_each": each,
            }));
            drop(held);
        }
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

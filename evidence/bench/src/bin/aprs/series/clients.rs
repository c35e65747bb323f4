//! Clients that are logged in and do nothing.

use super::megabytes;
use crate::Arguments;
use crate::filters;
use crate::load;
use crate::process::{kernel_kb, load_average};
use crate::server::Server;
use crate::status::Reading;
use crate::table::Table;
use anyhow::Result;
use serde_json::{Value, json};

/// Memory of the server that an idle client with a filter is to take at most, in kB.
const AIM_KB: f64 = 1.0;

/// Port, and the filters of so many clients in words and in the server's language.
type Crowd = (&'static str, &'static str, fn(usize) -> Vec<String>);

const CROWDS: [Crowd; 3] = [
    ("full", "none", |count| vec![String::new(); count]),
    ("igate", "one for all", |count| vec!["r/60.2/24.9/50".to_owned(); count]),
    ("igate", "each its own", filters::mixed),
];

#[allow(clippy::cast_precision_loss)]
pub(crate) fn clients(arguments: &Arguments) -> Result<Value> {
    let mut table = Table::new(
        "Clients that are logged in; memory of the server itself, and of the kernel for one end of \
         a connection (half of what both ends take)",
        &[
            "clients",
            "port",
            "filters",
            "by the server",
            "seconds",
            "CPU-s",
            "RSS MB",
            "kB each",
            "to aim",
            "kernel kB",
            "load",
        ],
    );
    let mut rows = Vec::new();
    for (port, filter, filters) in CROWDS {
        for client_count in [1000, 2500, 5000, 7500, 10_000] {
            let server = Server::start(&arguments.default_settings("adaptive"))?;
            let address = server.port(port)?;
            let (before, kernel_before) = (server.usage()?, kernel_kb()?);
            let (seconds, held) = load::crowd(address, &filters(client_count))?;
            let (after, kernel_after) = (server.usage()?, kernel_kb()?);
            // Making the list of clients needs memory of its own: asked for afterwards.
            let counted = Reading::take(server.port("HTTPStatus")?)?.counts.clients;
            let each = |kb: u64| kb as f64 / client_count as f64;
            let own_kb = each(after.rss_kb.saturating_sub(before.rss_kb));
            let kernel_kb = each(kernel_after.saturating_sub(kernel_before)) / 2.0;
            table.row(&[
                client_count.to_string(),
                port.to_owned(),
                filter.to_owned(),
                counted.to_string(),
                format!("{seconds:.2}"),
                format!("{:.2}", after.cpu_s - before.cpu_s),
                format!("{:.1}", megabytes(after.rss_kb)),
                format!("{own_kb:.2}"),
                format!("{:.2}", own_kb / AIM_KB),
                format!("{kernel_kb:.2}"),
                format!("{:.1}", load_average()),
            ]);
            rows.push(json!({
                "clients": client_count, "port": port, "filters": filter, "counted": counted,
                "seconds": seconds, "cpu_s": after.cpu_s - before.cpu_s, "rss_kb": after.rss_kb,
                "rss_before_kb": before.rss_kb, "kb_each": own_kb, "kernel_kb_each": kernel_kb,
            }));
            drop(held);
        }
    }
    arguments.show(&table);
    Ok(Value::Array(rows))
}

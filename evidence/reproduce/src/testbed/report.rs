//! Output of a test bed: text for people, with the figures of its JSON.

use super::chain::{Ran, Role};
use crate::machine;
use crate::outcome::Machine;
use anyhow::Result;
use chronoscope_published::Published;
use serde_json::{Value, json};
use std::fmt::Write;

/// A published figure of an item, as the number that it is; `null` where it is none.
pub(super) fn published(item: &str, figure: &str) -> Result<Value> {
    let published = Published::read()?;
    let figure = published.item(item).and_then(|item| item.figure(figure));
    Ok(figure.map_or(Value::Null, |figure| json!(figure.value.bounds()[0])))
}

/// Circumstances in every test bed's report.
pub(super) fn circumstances(began: &str, load_before: f64) -> Value {
    json!({
        "machine": Machine::this(), "began": began,
        "load": [load_before, machine::load()],
        "build": if cfg!(debug_assertions) { "dev" } else { "release" },
    })
}

/// Resources used by the programs, as text.
pub(super) fn roles(roles: &[Role]) -> String {
    let mut text = String::from("\nCPU                processes    seconds  processors\n");
    for role in roles {
        let Role { role, processes, cpu_s, processors } = role;
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{role:<18} {processes:>9} {cpu_s:>10.2} {processors:>11.3}");
    }
    text
}

/// A row of a table: ours beside the document's.
pub(super) fn row(what: &str, ours: &Value, theirs: &Value) -> String {
    format!("{what:<34} {:>14} {:>14}\n", number(ours), number(theirs))
}

/// A number of a table.
pub(super) fn number(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number.fract() == 0.0 || number.abs() >= 1e5 => format!("{number:.0}"),
            Some(number) => format!("{number:.3}"),
            None => number.to_string(),
        },
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// State of the hosts, as text.
pub(super) fn hosts(ran: &Ran) -> String {
    match ran.carried {
        Some([packets, lost]) => format!(
            "{} hosts (network namespaces), {packets} packets between them, {lost} lost",
            ran.hosts.len()
        ),
        None => "ALL ON ONE HOST".to_owned(),
    }
}

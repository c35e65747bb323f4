//! What an export has lost: the difference between a configuration and what an import of the export
//! gives.

use super::toml_text::toml_text;
use super::{ExchangeNote, Imported};
use crate::config::Config;
use toml::{Table, Value};

/// A remark for each key of `config` that is not, or not so, in the import.
pub(super) fn lost(config: &Config, again: &Imported) -> Vec<ExchangeNote> {
    let tables = [toml_text(config), toml_text(&again.config)].map(|text| text.parse::<Table>());
    let [Ok(before), Ok(after)] = tables else {
        return vec![ExchangeNote::new(None, true, "the export could not be checked")];
    };
    let mut notes = Vec::new();
    compare("", &before, &after, &mut notes);
    notes
}

fn compare(place: &str, before: &Table, after: &Table, notes: &mut Vec<ExchangeNote>) {
    for (key, value) in before {
        let place = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        match (value, after.get(key)) {
            (value, Some(same)) if value == same => {}
            (Value::Table(before), other) => {
                let empty = Table::new();
                let after = other.and_then(Value::as_table).unwrap_or(&empty);
                compare(&place, before, after, notes);
            }
            (Value::Array(before), other) if before.iter().all(Value::is_table) => {
                let after = other.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                compare_all(&place, before, after, notes);
            }
            (_, other) => notes.push(ExchangeNote::new(None, true, difference(&place, other))),
        }
    }
}

fn difference(place: &str, other: Option<&Value>) -> String {
    // A password is in no message.
    match other.filter(|_| !place.ends_with("password")) {
        Some(other) => format!("{place}: the format can only say {other}"),
        None => format!("{place}: the format has no place for it"),
    }
}

/// Tables that have an identifier are compared with those of the same.
fn compare_all(place: &str, before: &[Value], after: &[Value], notes: &mut Vec<ExchangeNote>) {
    let id = |value: &Value| value.get("id").map(ToString::to_string);
    for (index, value) in before.iter().enumerate() {
        let (Some(table), name) = (value.as_table(), id(value)) else { continue };
        let same = match &name {
            Some(_) => after.iter().find(|other| id(other) == name),
            None => after.get(index),
        };
        let place = format!("{place} {}", name.unwrap_or_else(|| (index + 1).to_string()));
        match same.and_then(Value::as_table) {
            Some(other) => compare(&place, table, other, notes),
            None => {
                notes.push(ExchangeNote::new(
                    None,
                    true,
                    format!("{place}: the format has no place for it"),
                ));
            }
        }
    }
}

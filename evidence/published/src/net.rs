//! The figures of one document that `chronoscope net report` prints: they are written in its crate.

use anyhow::{Context, Result, bail};
use toml::Value;

const NET: &str = include_str!("../../../crates/net/src/published.toml");

/// Puts the values of the other file in place of `net: PATH` and `net: PATH: COLUMN...`.
///
/// # Errors
/// When the other file does not have them.
pub(crate) fn fill_in(documents: &mut toml::Table) -> Result<()> {
    let net = Value::Table(NET.parse().context("crates/net/src/published.toml")?);
    documents.iter_mut().try_for_each(|(_, value)| fill(value, &net))
}

fn fill(value: &mut Value, net: &Value) -> Result<()> {
    match value {
        Value::Table(table) => table.iter_mut().try_for_each(|(_, value)| fill(value, net)),
        Value::Array(array) => array.iter_mut().try_for_each(|value| fill(value, net)),
        Value::String(text) => {
            if let Some(asked) = text.strip_prefix("net: ") {
                let found = match asked.split_once(": ") {
                    None => at(net, asked)?.clone(),
                    Some((path, columns)) => rows(at(net, path)?, columns)?,
                };
                *value = found;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The value at a path of keys and indices, joined by dots.
fn at<'a>(net: &'a Value, path: &str) -> Result<&'a Value> {
    let step = |value: &'a Value, key: &str| match value {
        Value::Array(array) => array.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    };
    path.split('.')
        .try_fold(net, step)
        .with_context(|| format!("crates/net/src/published.toml has no {path}"))
}

/// The rows of a table: a list in a column is as many cells, in which 0 stands for the dot of a
/// share below the threshold.
fn rows(table: &Value, columns: &str) -> Result<Value> {
    let Value::Array(table) = table else { bail!("{columns}: no table") };
    let row = |row: &Value| {
        let mut cells = Vec::new();
        for column in columns.split(' ') {
            match row.get(column).with_context(|| format!("a row without {column}"))? {
                Value::Array(list) => cells.extend(list.iter().map(|cell| match cell {
                    Value::Integer(0) => Value::String(".".to_owned()),
                    other => other.clone(),
                })),
                cell => cells.push(cell.clone()),
            }
        }
        Ok(Value::Array(cells))
    };
    table.iter().map(row).collect::<Result<_>>().map(Value::Array)
}

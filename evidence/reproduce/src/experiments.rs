//! The experiments: the programs that they run, and the figures that they read from the output.

pub mod aprs;
mod chain;
pub mod csts;
pub mod day;
pub mod definitions;
pub mod monitoring;
pub mod network;
pub mod phoenix;
pub mod primitives;
pub mod proof;
pub mod track;

use anyhow::{Context, Result};
use serde_json::Value;

/// A number in what a program printed, by its JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Result<f64> {
    let found = value.pointer(pointer).and_then(Value::as_f64);
    found.with_context(|| format!("the output has no number at {pointer}"))
}

/// A list in what a program printed.
fn list<'v>(value: &'v Value, pointer: &str) -> Result<&'v [Value]> {
    let found = value.pointer(pointer).and_then(Value::as_array);
    found.map(Vec::as_slice).with_context(|| format!("the output has no list at {pointer}"))
}

/// A word in what a program printed; empty where there is none.
fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or("")
}

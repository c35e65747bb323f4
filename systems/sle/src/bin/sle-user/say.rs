//! What goes where: results to standard output, talk to standard error.

use serde_json::{Value, json};
use std::io::Write;

/// Version of what `--json` prints; keys are only added within one.
const FORMAT: u32 = 1;

/// How one says things.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Say {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Say {
    /// A result: one line, of JSON or of `key: value` pairs.
    pub(crate) fn result(self, value: &Value) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        match value {
            Value::Object(fields) if self.json => {
                let mut all = fields.clone();
                all.insert("format".to_owned(), json!(FORMAT));
                writeln!(out, "{}", Value::Object(all))?;
            }
            Value::Object(fields) => {
                let parts: Vec<String> =
                    fields.iter().map(|(key, value)| format!("{key}: {}", plain(value))).collect();
                writeln!(out, "{}", parts.join(", "))?;
            }
            other => writeln!(out, "{other}")?,
        }
        Ok(out.flush()?)
    }

    /// Progress, and what happens.
    pub(crate) fn talk(self, text: &str) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }

    /// What went wrong.
    pub(crate) fn fault(self, text: &str) {
        eprintln!("sle-user: {text}");
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

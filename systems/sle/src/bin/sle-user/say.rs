//! Output: results on standard output, messages on standard error.

use chronoscope_escape::{terminal, terminal_lines};
use serde_json::{Value, json};
use std::io::Write;

/// Version of the `--json` format. Within a version keys are only added.
const FORMAT: u32 = 1;

/// Settings of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UserOutput {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl UserOutput {
    /// A result: one line, of JSON or of `key: value` pairs.
    pub(crate) fn result(self, value: &Value) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", self.line(value))?;
        Ok(out.flush()?)
    }

    /// The line of a result. Control characters in a provider's text are escaped; in JSON the
    /// escaped text has the same value.
    fn line(self, value: &Value) -> String {
        let line = match value {
            Value::Object(fields) if self.json => {
                let mut all = fields.clone();
                all.insert("format".to_owned(), json!(FORMAT));
                Value::Object(all).to_string()
            }
            Value::Object(fields) => {
                let parts: Vec<String> =
                    fields.iter().map(|(key, value)| format!("{key}: {}", plain(value))).collect();
                parts.join(", ")
            }
            other => other.to_string(),
        };
        terminal(&line).into_owned()
    }

    /// Prints progress or an event, unless quiet.
    pub(crate) fn talk(self, text: &str) {
        if !self.quiet {
            eprintln!("{}", terminal_lines(text));
        }
    }

    /// Prints an error.
    pub(crate) fn fault(self, text: &str) {
        eprintln!("sle-user: {}", terminal_lines(text));
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic

    use super::*;

    #[test]
    fn a_providers_words_do_not_steer_a_terminal() {
        let words = "a\u{1b}[2J\u{9b}1m\u{202e}b\r\n";
        let value = json!({ "diagnostic": words });
        for json in [false, true] {
            let line = UserOutput { json, quiet: true }.line(&value);
            assert!(!line.contains(chronoscope_escape::is_control), "{line:?}");
            if json {
                let read: Value = serde_json::from_str(&line).unwrap();
                assert_eq!(read["diagnostic"], words, "what a program reads is the same");
            }
        }
    }
}

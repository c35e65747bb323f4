//! Prometheus's text format, 0.0.4.

use std::fmt::{Display, Write};

/// A page being written.
#[derive(Debug, Default)]
pub(super) struct Page(String);

impl Page {
    /// Begins a metric; all its samples follow.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        // A String takes everything.
        let _ =
            write!(self.0, "# HELP chronoscope_{name} {help}\n# TYPE chronoscope_{name} {kind}\n");
    }

    /// Adds a value.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0 += "chronoscope_";
        self.0 += name;
        for (index, (label, text)) in labels.iter().enumerate() {
            self.0.push(if index == 0 { '{' } else { ',' });
            self.0 += label;
            self.0 += "=\"";
            for c in text.chars() {
                match c {
                    '\\' => self.0 += "\\\\",
                    '"' => self.0 += "\\\"",
                    '\n' => self.0 += "\\n",
                    c => self.0.push(c),
                }
            }
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}"); // as above
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

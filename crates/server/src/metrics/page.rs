//! Prometheus's text format, 0.0.4.

use std::fmt::{Display, Write};

/// A page being written.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
    /// The head of a metric that has no sample yet.
    head: String,
}

impl Page {
    /// Begins a metric; all its samples follow. One without any is not on the page: a reader would
    /// look for series that do not exist.
    pub(super) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.head = format!("# HELP chronoscope_{name} {help}\n# TYPE chronoscope_{name} {kind}\n");
    }

    /// Adds a value.
    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.text += &std::mem::take(&mut self.head);
        self.text += "chronoscope_";
        self.text += name;
        for (index, (label, text)) in labels.iter().enumerate() {
            self.text.push(if index == 0 { '{' } else { ',' });
            self.text += label;
            self.text += "=\"";
            for c in text.chars() {
                match c {
                    '\\' => self.text += "\\\\",
                    '"' => self.text += "\\\"",
                    '\n' => self.text += "\\n",
                    c => self.text.push(c),
                }
            }
            self.text.push('"');
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}"); // a String takes everything
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

//! Properties and metrics of a transaction (ARM), or OpenTelemetry attributes, as lines of a
//! terminal.

use chronoscope_model::Transaction;

/// Lines that folded attributes take at most.
const LINES_MAX: usize = 3;
/// Letters of a folded attribute's value.
const VALUE_LETTERS_MAX: usize = 60;

/// Prefixes of keys that describe a span's work and outcome (OpenTelemetry semantic conventions).
const IMPORTANT: [&str; 4] = ["messaging.", "http.", "db.", "rpc."];
const OUTCOME: [&str; 3] = ["status", "error", "exception"];

/// Extent of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// All attributes, one a line.
    All,
    /// As many as fit into a few lines of a terminal, the important ones first; the others are
    /// counted.
    Folded {
        /// Width of the terminal.
        columns: usize,
    },
}

impl Shown {
    /// The attributes of a transaction as lines, `indent` blanks before each where there is room.
    pub(crate) fn lines(self, t: &Transaction, indent: usize) -> Vec<String> {
        let (indent, lines) = match self {
            Self::All => {
                let all = attributes(t).into_iter();
                (indent, all.map(|(key, value)| format!("{key}={value}")).collect())
            }
            Self::Folded { columns } => {
                let indent = indent.min(columns / 3);
                (indent, folded(attributes(t), columns - indent))
            }
        };
        lines.into_iter().map(|line: String| format!("{:indent$}{line}", "")).collect()
    }
}

/// Keys and values, each on one line whatever is in it.
fn attributes(t: &Transaction) -> Vec<(String, String)> {
    let properties = t.properties.iter().map(|(key, value)| (key.clone(), one_line(value)));
    let metrics = t.metrics.iter().map(|(key, value)| (key.clone(), value.to_string()));
    properties.chain(metrics).collect()
}

/// Control characters would break the line, or do worse to a terminal.
fn one_line(value: &str) -> String {
    let mut line = String::with_capacity(value.len());
    for letter in value.chars() {
        if letter.is_control() {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

fn is_important(key: &str) -> bool {
    IMPORTANT.iter().any(|prefix| key.starts_with(prefix))
        || OUTCOME.iter().any(|word| key.contains(word))
}

fn folded(mut attributes: Vec<(String, String)>, columns: usize) -> Vec<String> {
    attributes.sort_by_key(|(key, _)| !is_important(key)); // stable
    let words: Vec<String> =
        attributes.iter().map(|(key, value)| shortened(key, value, columns)).collect();
    let with_the_first = |count: usize| {
        let mut shown = words[..count].to_vec();
        if count < words.len() {
            shown.push(format!("… {} more, --all shows them", words.len() - count));
        }
        packed(&shown, columns)
    };
    let fits = |lines: &Vec<String>| lines.len() <= LINES_MAX;
    (0..=words.len()).rev().map(with_the_first).find(fits).unwrap_or_default()
}

/// Words side by side, as many in a line as fit.
fn packed(words: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let letters = word.chars().count();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + letters <= columns => {
                line.push(' ');
                *line += word;
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

/// An attribute with as much of its value as is shown of one.
fn shortened(key: &str, value: &str, columns: usize) -> String {
    let room = columns.saturating_sub(key.chars().count() + 1).clamp(1, VALUE_LETTERS_MAX);
    let word = if value.chars().count() > room {
        let begin: String = value.chars().take(room.saturating_sub(1)).collect();
        format!("{key}={begin}…")
    } else {
        format!("{key}={value}")
    };
    word.chars().take(columns.max(1)).collect()
}

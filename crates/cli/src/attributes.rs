//! Properties and metrics of a transaction (ARM), or OpenTelemetry attributes, as lines of a
//! terminal.

use chronoscope_model::Transaction;
use std::collections::BTreeMap;

/// Prefix of keys of a resource's attributes.
const RESOURCE: &str = "otel.resource.";
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
    /// The attributes of a transaction as lines, `indent` blanks before each where there is room;
    /// without those that `processes` shows.
    pub(crate) fn lines(
        self,
        t: &Transaction,
        indent: usize,
        processes: &Processes,
    ) -> Vec<String> {
        let mut own = attributes(t);
        own.retain(|(key, value)| !processes.has(t, key, value));
        self.of(own, indent)
    }

    fn of(self, attributes: Vec<(String, String)>, indent: usize) -> Vec<String> {
        let (indent, lines) = match self {
            Self::All => {
                let all = attributes.into_iter();
                (indent, all.map(|(key, value)| format!("{key}={value}")).collect())
            }
            Self::Folded { columns } => {
                let indent = indent.min(columns / 3);
                (indent, folded(attributes, columns - indent))
            }
        };
        lines.into_iter().map(|line: String| format!("{:indent$}{line}", "")).collect()
    }
}

/// Attributes of resources (OpenTelemetry), which every span of a process repeats: those of the
/// process, shown once. Of a key with several values the most frequent one is the process's.
#[derive(Debug, Default)]
pub(crate) struct Processes(BTreeMap<Place, BTreeMap<String, String>>);

/// Application, host and number of a process.
type Place = (String, String, u32);

impl Processes {
    /// Of the processes of these transactions.
    pub(crate) fn of(transactions: &[Transaction]) -> Self {
        let mut counts: BTreeMap<Place, BTreeMap<String, BTreeMap<String, u64>>> = BTreeMap::new();
        for t in transactions {
            let Some(place) = place(t) else { continue };
            for (key, value) in t.properties.iter().filter(|(key, _)| key.starts_with(RESOURCE)) {
                let values =
                    counts.entry(place.clone()).or_default().entry(key.clone()).or_default();
                *values.entry(one_line(value)).or_default() += 1;
            }
        }
        let most = |values: BTreeMap<String, u64>| {
            let most = values.into_iter().rev().max_by_key(|(_, count)| *count);
            most.map(|(value, _)| value).unwrap_or_default()
        };
        let of_process = |keys: BTreeMap<String, BTreeMap<String, u64>>| {
            keys.into_iter().map(|(key, values)| (key, most(values))).collect()
        };
        Self(counts.into_iter().map(|(place, keys)| (place, of_process(keys))).collect())
    }

    /// Whether an attribute of a transaction is one of its process.
    fn has(&self, t: &Transaction, key: &str, value: &str) -> bool {
        let known = key.starts_with(RESOURCE).then(|| place(t)).flatten();
        let known = known.and_then(|place| self.0.get(&place)?.get(key));
        known.is_some_and(|known| known == value)
    }

    /// A heading for each process, and its attributes below.
    pub(crate) fn lines(&self, shown: Shown) -> String {
        let mut text = String::new();
        for ((application, host, pid), attributes) in &self.0 {
            text += &format!("{application} {host}:{pid}: attributes of the process\n");
            let own = attributes.iter().map(|(key, value)| (key.clone(), value.clone()));
            text.extend(shown.of(own.collect(), 2).into_iter().map(|line| line + "\n"));
        }
        text
    }
}

fn place(t: &Transaction) -> Option<Place> {
    t.process.as_ref().map(|p| (p.application.clone(), p.host.clone(), p.pid))
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

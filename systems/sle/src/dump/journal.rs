//! The journal of a transfer (`sle-user send`), line by line.

use crate::journal::{JournalEntry, LineError, TransferState};
use serde_json::{Value, json};

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalLine {
    /// Number of the line, from 1.
    pub number: usize,
    /// The entry, or why there is none.
    pub entry: Result<JournalEntry, LineError>,
    /// Why the entry contradicts those before it.
    pub fault: Option<String>,
}

/// The lines of a journal.
#[must_use]
pub fn journal_lines(text: &str) -> Vec<JournalLine> {
    let mut state: Option<TransferState> = None;
    let lines = text.lines().enumerate().map(|(index, line)| {
        let entry = JournalEntry::parse(line);
        let fault = match (&entry, &mut state) {
            (Ok(JournalEntry::Transfer(of)), None) => {
                state = Some(TransferState::new(of.cltus));
                None
            }
            (Ok(_), None) => Some("the first line does not name a transfer".to_owned()),
            (Ok(entry), Some(state)) => state.apply(entry).err().map(|error| error.to_string()),
            (Err(_), _) => None,
        };
        JournalLine { number: index + 1, entry, fault }
    });
    lines.collect()
}

impl JournalLine {
    /// The line in words.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.entry {
            Ok(JournalEntry::Transfer(of)) => {
                format!("transfer of {} CLTUs to {}: {}", of.cltus, of.instance, of.source)
            }
            Ok(JournalEntry::Session(session)) => {
                let ranges: Vec<String> = session
                    .plan
                    .ranges()
                    .map(|range| format!("{}..{}", range.start, range.end))
                    .collect();
                format!(
                    "session of {} CLTUs, the first with number {}: indices {}",
                    session.plan.len(),
                    session.first,
                    ranges.join(", ")
                )
            }
            Ok(JournalEntry::Reserved { until }) => {
                format!("reserved: the first {until} CLTUs may be sent from here on")
            }
            Ok(JournalEntry::Fate(fate)) => {
                let diagnostic = fate.diagnostic.as_ref();
                let why = diagnostic.map_or(String::new(), |text| format!(": {text}"));
                let (from, until) = (fate.positions.start, fate.positions.end);
                format!("fate of positions {from}..{until}: {}{why}", fate.fate.word())
            }
            Ok(JournalEntry::Closed { sent }) => format!("closed: {sent} CLTUs were sent"),
            Ok(JournalEntry::Given(one)) => format!(
                "given: CLTU {} of a program at position {}, {} octets, SHA-256 {}…",
                one.reference, one.position, one.octets, one.sha256
            ),
            Ok(JournalEntry::Contradicted { position }) => {
                format!("contradicted: position {position} was told as radiated after its loss")
            }
            Err(error) => format!("no entry: {error}"),
        }
    }

    /// What is wrong with it.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.fault.clone().or_else(|| self.entry.as_ref().err().map(ToString::to_string))
    }

    /// The line as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let entry = self.entry.as_ref().ok();
        let entry = entry.and_then(|entry| serde_json::from_str::<Value>(&entry.line()).ok());
        json!({
            "format": 1, "kind": "journal", "line": self.number, "entry": entry,
            "words": self.words(), "fault": self.fault(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{SendPlan, SessionEntry, TransferIdentity};

    #[test]
    fn lines_are_told_and_faults_with_them() {
        let source = "generated, 8 octets each".to_owned();
        let of = TransferIdentity { instance: "cltu1".to_owned(), source, cltus: 4 };
        let session = SessionEntry { first: 7, plan: SendPlan::from(0..4) };
        let mut text = [
            JournalEntry::Transfer(of).line(),
            JournalEntry::Reserved { until: 3 }.line(),
            JournalEntry::Session(session).line(),
            JournalEntry::Reserved { until: 3 }.line(),
        ]
        .join("\n");
        text.push_str("\n{\"reserved\":4,\"check\":\"00000000\"}");
        let lines = journal_lines(&text);
        let words: Vec<String> = lines.iter().map(JournalLine::words).collect();
        assert_eq!(words[0], "transfer of 4 CLTUs to cltu1: generated, 8 octets each");
        assert_eq!(words[2], "session of 4 CLTUs, the first with number 7: indices 0..4");
        let faults: Vec<bool> = lines.iter().map(|line| line.fault().is_some()).collect();
        assert_eq!(faults, [false, true, false, false, true]);
        assert!(words[4].starts_with("no entry: the checksum"), "{}", words[4]);
    }
}

//! Any bytes as a file of a journal: read, cut or refused.

use chronoscope_replay::journal::{JournalReader, Tail};

/// Holds for any bytes.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(mut reader) = JournalReader::new(bytes) else { return };
    let inputs: Vec<_> = reader.by_ref().collect();
    let octets: usize = inputs.iter().flatten().map(|input| input.octets.len()).sum();
    assert!(octets <= bytes.len());
    let refused = inputs.last().is_some_and(Result::is_err);
    match reader.tail {
        Some(Tail::Torn { position, octets }) => assert_eq!(position + octets, bytes.len() as u64),
        Some(Tail::Whole) => assert!(!refused),
        None => assert!(refused, "ended without saying how"),
    }
}

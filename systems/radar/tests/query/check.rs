//! What holds for any octets; the fuzz target and the replay of its corpus share it.

use chronoscope_radar::messages::query::{Desk, LINE_OCTETS_MAX, Query};
use chronoscope_radar::messages::{PlanCorrelation, Situation};

/// Asks every line of `octets` and checks that
/// * it is answered by exactly one line, a JSON object of version 1,
/// * a refusal lies within the line,
/// * a line is answered as one that was understood exactly when it is read.
pub(crate) fn check(octets: &[u8]) {
    let (correlation, situation, desk) =
        (PlanCorrelation::default(), Situation::default(), Desk::default());
    for line in octets.split(|octet| *octet == b'\n').take(1000) {
        let mut answer = Vec::new();
        let known =
            desk.answer(line, &correlation, &situation, 1_700_000_000_000_000_000, &mut answer);
        assert!(answer.starts_with(b"{\"version\":1,") && answer.ends_with(b"}\n"));
        assert_eq!(answer.iter().filter(|octet| **octet == b'\n').count(), 1);
        match std::str::from_utf8(line) {
            Err(_) => assert!(!known),
            Ok(text) => match Query::parse(text) {
                Ok(_) => assert!(known),
                Err(why) => {
                    assert!(!known);
                    assert!(why.octet() <= line.len().min(LINE_OCTETS_MAX), "{text:?}: {why}");
                }
            },
        }
    }
}

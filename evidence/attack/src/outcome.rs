//! Outcomes of attacks.

use serde::Serialize;

/// Outcome of an attack.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Outcome {
    /// Number of tries: kills, flips, connections, requests.
    pub(crate) tried: u64,
    /// Rows that were durable or had been recorded, are not there, and were not counted as lost.
    pub(crate) lost: u64,
    /// Rows that are there twice.
    pub(crate) doubled: u64,
    /// Wrong answers without a report; strangers that got data without authorisation.
    pub(crate) silent: u64,
    /// Programs that did not answer or end in time, ended by a signal, or panicked.
    pub(crate) hung: u64,
    /// Most memory that the attacked program took (resident), in octets; 0 where several were run.
    pub(crate) memory: u64,
    /// The defence that held, with figures.
    pub(crate) note: String,
}

impl Outcome {
    /// Whether nothing was lost, doubled, wrong or stuck.
    pub(crate) fn holds(&self) -> bool {
        self.lost + self.doubled + self.silent + self.hung == 0
    }
}

/// An error that means that this machine lacks a resource of the attack.
#[derive(Debug)]
pub(crate) struct CannotTry(pub(crate) &'static str);

impl std::fmt::Display for CannotTry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for CannotTry {}

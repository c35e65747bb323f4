//! Inputs from outside, delivered at their virtual instants.

use crate::schedule::Mode;
use crate::wire::{Endpoint, Token};
use std::io;

/// What comes from outside.
#[derive(Debug, Default)]
pub struct Player {}

impl Player {
    /// Nothing comes from outside.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        Vec::new()
    }

    pub(crate) fn next_ns(&self) -> Option<i64> {
        None
    }

    pub(crate) fn deliver(&mut self, _now_ns: i64, _mode: Mode) -> io::Result<Vec<Token>> {
        Ok(Vec::new())
    }

    pub(crate) fn drain(&mut self) -> io::Result<()> {
        Ok(())
    }
}

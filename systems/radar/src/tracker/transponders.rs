//! Assumptions about transponders: how seldom an aircraft answers now and not then.

use serde::{Deserialize, Serialize};

/// How seldom a plot of an aircraft is with a code or an address where others of it are without, as
/// -2 ln of the probability. Only of radars that hear transponders.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Transponders {
    /// Of a plot without anything from a transponder, for a track that has one: 6 is one in twenty.
    pub bare_cost: f64,
    /// Such a plot is not a track's that had no plot for more turns: it may be anybody's.
    pub bare_turns: f64,
    /// Of the first plot with a code, or an address, for a track whose plots had none: its transponder was
    /// switched on, or to Mode S, which one in a thousand does.
    pub named_cost: f64,
}

impl Default for Transponders {
    fn default() -> Self {
        Self { bare_cost: 6.0, bare_turns: 3.5, named_cost: 14.0 }
    }
}

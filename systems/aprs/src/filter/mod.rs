//! Server-side filters: which packets a client gets.
//!
//! A client's filter is blank-separated terms, each a letter with arguments: `r/60.2/24.9/50`
//! packets within 50 km of a place, `b/OH7LZB/OH2*` those of some stations, `-t/w` no weather
//! ([`Filter::parse`]). A port may have terms of its own that its clients cannot change
//! ([`FilterSet`]). [`FilterSet::matches`] walks one client's terms and is the definition;
//! [`FilterIndex`] finds all clients that a packet goes to, at a cost that grows with how many
//! these are. What filters ask beyond the packet itself comes from [`Stations`] and the position
//! history. `#filter` and messages to `SERVER` are [`Command`]s.
//!
//! Source: <http://www.aprs-is.net/javAPRSFilter.aspx> and aprsc's behaviour, which differs from
//! it in that names compare without regard to case and a wildcard anywhere means one at the end.
//! Not here: messages to a client's own or heard stations, which pass whatever the filter says.

mod command;
mod evaluate;
mod geometry;
mod index;
mod name;
mod parse;
mod set;
mod stations;
mod term;

pub use command::Command;
pub use evaluate::Context;
pub use index::{ClientSlot, FilterIndex, IndexedClient};
pub use parse::{FilterError, TERMS_MAX, TermError};
pub use set::{Filter, FilterSet, shown};
pub use stations::{Facts, Stations};

#[cfg(test)]
mod tests;

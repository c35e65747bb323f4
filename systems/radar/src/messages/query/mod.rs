//! Queries to the message server: a line of text in, a line of JSON out.
//!
//! ```text
//! flight CALLSIGN | flight @ADDRESS
//! list from|to AERODROME [to|from AERODROME] [between HH:MM and HH:MM]
//! tracks AREA
//! entering AREA between HH:MM and HH:MM
//! load AREA between HH:MM and HH:MM
//!
//! AREA:  in SOUTH,WEST,NORTH,EAST | near LAT,LON NM      [levels FROM-TO]
//! last:  [limit N]
//! ```
//!
//! Degrees of WGS-84, nautical miles, flight levels; an address is six hexadecimal digits. Times
//! are UTC of the server's current day, 24:00 its end. `list` counts by departure when it asks
//! `from`, by arrival when it asks `to` only. `entering` and `load` look at the past: the server
//! keeps a position a minute of every track, for 24 h ([`Situation`]); an area crossed within less
//! than a minute may be missed.
//!
//! An answer is one object with `version` 1, `kind`, `count` (the number of results) and the
//! results, at most `limit` of them ([`LIMIT_DEFAULT`], at most [`LIMIT_MAX`]); or `version`,
//! `error` and `octet`, its position in the line. The connection stays open after either. One that
//! sends a line of more than [`LINE_OCTETS_MAX`] octets is answered and closed; one that does not
//! read its answers is cut, as displays are.

mod answer;
mod area;
mod parse;
mod service;

pub use answer::Desk;
pub use area::{Area, Shape};
pub use parse::{
    DaySpan, FlightList, FlightName, LIMIT_DEFAULT, LIMIT_MAX, LINE_OCTETS_MAX, Query, QueryError,
    QueryKind,
};
pub use service::{QueryCounts, QueryService};

#[cfg(doc)]
use super::Situation;

//! `sle-provider` and `sle-user` as an operator has them: processes, files, lines, signals.
#![allow(clippy::unwrap_used)]

mod cable;
mod chains;
mod commands;
mod completeness;
mod delivery;
mod kills;
mod operator;
mod resumption;
mod station;

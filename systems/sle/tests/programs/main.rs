//! `sle-provider` and `sle-user` as an operator has them: processes, files, lines, signals.
#![allow(clippy::unwrap_used)]

mod cable;
mod chains;
mod commands;
mod completeness;
mod delivery;
mod kills;
mod link_forward;
mod link_return;
mod links;
mod operator;
mod resumption;
mod station;

//! What is read of the files, and the remarks about it.

use crate::config::{Password, PeerTable, SecurityTable, TransportTable};
use crate::exchange::digits::password;
use crate::exchange::{ExchangeNote, ExchangeRole};
use std::str::FromStr;

/// A port of the file.
#[derive(Default)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) addresses: Vec<String>,
    pub(super) heartbeat_s: Option<u16>,
    pub(super) dead_factor: Option<u16>,
    pub(super) send_buffer: Option<u32>,
    pub(super) receive_buffer: Option<u32>,
}

/// What was read, and the remarks about it.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) notes: Vec<ExchangeNote>,
    pub(super) role: Option<ExchangeRole>,
    pub(super) id: Option<String>,
    pub(super) password: Password,
    pub(super) security: SecurityTable,
    pub(super) transport: TransportTable,
    pub(super) peers: Vec<PeerTable>,
    pub(super) ports: Vec<Port>,
    /// Service and its versions.
    pub(super) services: Vec<(String, Vec<u16>)>,
    pub(super) min_reporting_cycle_s: Option<u16>,
}

impl Reader {
    pub(super) fn lost(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(ExchangeNote::new(Some(line), true, text));
    }

    pub(super) fn note(&mut self, line: usize, text: impl Into<String>) {
        self.notes.push(ExchangeNote::new(Some(line), false, text));
    }

    pub(super) fn parsed<T: FromStr>(&mut self, key: &str, line: usize, text: &str) -> Option<T> {
        let value = text.parse().ok();
        if value.is_none() {
            self.lost(line, format!("{key}: {text:?} is out of range or no value"));
        }
        value
    }

    pub(super) fn boolean(&mut self, key: &str, line: usize, text: &str) -> Option<bool> {
        match text {
            "TRUE" => Some(true),
            "FALSE" => Some(false),
            _ => {
                self.lost(line, format!("{key}: {text:?} is neither TRUE nor FALSE"));
                None
            }
        }
    }

    pub(super) fn password(&mut self, line: usize, digits: &str) -> Password {
        match password(digits) {
            Ok(octets) => Password::new(octets),
            Err(why) => {
                self.lost(line, why);
                Password::default()
            }
        }
    }
}

//! A list of rings as Protocol Buffers.

use super::list::{RINGS_MAX, RingList, RingSummary};
use super::message::{HEAD_MAX, Packed, RingMessageError, at_most, check_words, cut};
use crate::protocol::ProtocolError;
use chronoscope_model::{ProcessId, ProcessName};
use prost::Message;

/// The content of a list.
#[derive(Clone, PartialEq, prost::Message)]
struct Entries {
    #[prost(message, repeated, tag = "1")]
    rings: Vec<Entry>,
    #[prost(string, repeated, tag = "2")]
    failed: Vec<String>,
    #[prost(uint64, tag = "3")]
    left_out: u64,
}

/// One ring of a list.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Entry {
    #[prost(fixed64, tag = "1")]
    id: u64,
    #[prost(string, tag = "2")]
    application: String,
    #[prost(string, tag = "3")]
    host: String,
    #[prost(uint32, tag = "4")]
    pid: u32,
    #[prost(int64, tag = "5")]
    start_ns: i64,
    #[prost(bool, tag = "6")]
    alive: bool,
    #[prost(uint64, tag = "7")]
    recorded: u64,
    #[prost(uint64, tag = "8")]
    lost: u64,
    #[prost(uint64, tag = "9")]
    open: u64,
}

impl Packed {
    /// Packs a list; what does not fit is left out and counted.
    ///
    /// # Errors
    /// [`ProtocolError`] when the compression fails.
    pub fn of_list(mut list: RingList) -> Result<Self, ProtocolError> {
        loop {
            let bytes = Entries::from(&list).encode_to_vec();
            match Self::pack(&bytes, HEAD_MAX) {
                Err(ProtocolError::TooLarge { .. }) if !list.rings.is_empty() => {
                    list.bound(list.rings.len() / 2);
                }
                packed => return packed,
            }
        }
    }

    /// The list inside.
    ///
    /// # Errors
    /// [`RingMessageError`] when it is not one.
    pub fn list(&self) -> Result<RingList, RingMessageError> {
        let Entries { rings, failed, left_out } =
            Entries::decode(self.unpack(HEAD_MAX)?.as_slice())?;
        at_most("rings", rings.len(), RINGS_MAX)?;
        check_words(&failed)?;
        let rings = rings.into_iter().map(Entry::summary).collect::<Result<_, _>>()?;
        Ok(RingList { rings, failed, left_out })
    }
}

impl From<&RingList> for Entries {
    fn from(list: &RingList) -> Self {
        Self {
            rings: list.rings.iter().map(Entry::from).collect(),
            failed: list.failed.iter().map(|words| cut(words)).collect(),
            left_out: list.left_out,
        }
    }
}

impl From<&RingSummary> for Entry {
    fn from(ring: &RingSummary) -> Self {
        Self {
            id: ring.id.0,
            application: ring.process.application.clone(),
            host: ring.process.host.clone(),
            pid: ring.process.pid,
            start_ns: ring.process.start_ns,
            alive: ring.alive,
            recorded: ring.recorded,
            lost: ring.lost,
            open: ring.open,
        }
    }
}

impl Entry {
    /// The ring that is named.
    ///
    /// # Errors
    /// [`RingMessageError::TooMany`] when its names are too long.
    pub(super) fn summary(self) -> Result<RingSummary, RingMessageError> {
        check_words([&self.application, &self.host])?;
        let Self { application, host, pid, start_ns, .. } = self;
        Ok(RingSummary {
            id: ProcessId(self.id),
            process: ProcessName { application, host, pid, start_ns },
            alive: self.alive,
            recorded: self.recorded,
            lost: self.lost,
            open: self.open,
        })
    }
}

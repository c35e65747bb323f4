//! Common path of all OTLP requests: decompress, decode, make durable.

use super::answer::{Accepted, Refusal};
use super::limits::{BODY_WITHIN, REQUEST_BYTES_MAX};
use crate::senders::Senders;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use bytes::BytesMut;
use chronoscope_clock as clock;
use chronoscope_collect::{Ingest, IngestError, RowSource};
use chronoscope_formats::otlp::{self, Limits, Vocabulary};
use chronoscope_store::ChainAlias;
use flate2::read::MultiGzDecoder;
use std::borrow::Cow;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_stream::StreamExt;

/// Room for the bodies of all requests at a time, in [`UNIT_BYTES`].
const ROOM_UNITS: usize = 256 << 10;
const UNIT_BYTES: usize = 1 << 10;
/// Time that a request waits for memory before its sender is asked to retry.
const ROOM_WITHIN: Duration = Duration::from_secs(5);
/// Largest decompression ratio, above [`UNPACKED_FREE_BYTES`]: spans compress to a tenth, and to a
/// fiftieth at most where all of them carry one long text.
const UNPACKED_RATIO_MAX: usize = 100;
const UNPACKED_FREE_BYTES: usize = 1 << 20;
/// Requests that are read at a time; each takes at most the request and [`ROWS_BYTES_MAX`].
const TURNS: usize = 8;
const ROWS_BYTES_MAX: usize = 32 << 20;
/// Spans that start later than now and this are refused: no clock is that wrong.
const AHEAD_NS: i64 = 24 * 3_600 * 1_000_000_000;

/// Receiver of export requests: admits, decodes and stores them.
#[derive(Debug)]
pub(super) struct Receiver {
    ingest: Ingest,
    senders: Arc<Senders>,
    vocabulary: Vocabulary,
    room: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

/// Encoding of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// JSON, else Protocol Buffers.
    pub(super) json: bool,
    /// Compressed with gzip.
    pub(super) gzip: bool,
}

/// A body that has come, with the room that it takes until the request is answered.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl Receiver {
    pub(super) fn new(ingest: Ingest, senders: Arc<Senders>) -> Self {
        Self {
            ingest,
            senders,
            vocabulary: Vocabulary::default(),
            room: Arc::new(Semaphore::new(ROOM_UNITS)),
            turns: Arc::new(Semaphore::new(TURNS)),
        }
    }

    /// Reads a request's body. Memory is reserved as octets arrive and not by the announced length:
    /// a sender that announces much and sends nothing makes nobody else wait.
    pub(super) async fn body(&self, headers: &HeaderMap, body: Body) -> Result<Stored, Refusal> {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
        if length
            .and_then(|text| text.parse().ok())
            .is_some_and(|len: usize| len > REQUEST_BYTES_MAX)
        {
            return Err(Refusal::too_large());
        }
        match tokio::time::timeout(BODY_WITHIN, self.arrived(body)).await {
            Ok(arrived) => arrived,
            Err(_) => Err(Refusal::Slow),
        }
    }

    /// The whole body, in its room.
    async fn arrived(&self, body: Body) -> Result<Stored, Refusal> {
        let mut chunks = body.into_data_stream();
        let mut bytes = BytesMut::new();
        let mut room = self.room(1).await?;
        while let Some(chunk) = chunks.next().await {
            let broken = |error| {
                Refusal::Malformed(format!("the body of the request is incomplete: {error}"))
            };
            let chunk = chunk.map_err(broken)?;
            if bytes.len() + chunk.len() > REQUEST_BYTES_MAX {
                return Err(Refusal::too_large());
            }
            let units = (bytes.len() + chunk.len()) / UNIT_BYTES + 1;
            if units > room.num_permits() {
                room.merge(self.room(units - room.num_permits()).await?);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Stored { bytes: bytes.freeze(), _room: room })
    }

    async fn room(&self, units: usize) -> Result<OwnedSemaphorePermit, Refusal> {
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let room = self.room.clone().acquire_many_owned(units);
        match tokio::time::timeout(ROOM_WITHIN, room).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Refusal::Busy("too many requests at a time".to_owned())),
        }
    }

    /// Logs a refused request.
    pub(super) fn refused(&self, peer: Option<SocketAddr>, reason: &'static str, why: &str) {
        self.senders.refused(peer, reason, 1, why);
    }

    /// Takes a request; returns when its rows are durable.
    pub(super) async fn take(
        self: &Arc<Self>,
        body: Bytes,
        format: Format,
        peer: Option<SocketAddr>,
    ) -> Result<Accepted, Refusal> {
        let ends = |_| Refusal::Busy("the server ends".to_owned());
        let turn = self.turns.clone().acquire_owned().await.map_err(ends)?;
        let receiver = self.clone();
        let work = tokio::task::spawn_blocking(move || {
            let taken = receiver.take_now(&body, format, peer);
            drop(turn);
            taken
        });
        work.await.unwrap_or_else(|error| Err(Refusal::Failed(error.to_string())))
    }

    fn take_now(
        &self,
        body: &[u8],
        format: Format,
        peer: Option<SocketAddr>,
    ) -> Result<Accepted, Refusal> {
        let mut request = Cow::Borrowed(body);
        if format.gzip {
            request = gunzip(body)?.into();
        }
        if format.json {
            let converted = otlp::from_json(&request);
            request = converted.map_err(|error| Refusal::Malformed(error.to_string()))?.into();
        }
        let limits = Limits {
            rows_bytes_max: ROWS_BYTES_MAX,
            until_ns: clock::utc_now_ns().saturating_add(AHEAD_NS),
            ..Limits::default()
        };
        let received = otlp::read(&request, &limits, &self.vocabulary)
            .map_err(|error| Refusal::Malformed(error.to_string()))?;
        if !received.batch.is_empty() {
            let alias = |joined: &otlp::Joined| ChainAlias {
                chain: joined.chain,
                continues: joined.continues,
            };
            let aliases: Vec<_> = received.joined.iter().map(alias).collect();
            let (batch, names) = (&received.batch, &received.names);
            // The key: an SDK that gets no answer sends the same bytes again.
            let source = RowSource::Keyed(content_key(&request));
            self.ingest.take(source, batch, names, &aliases).map_err(refusal)?;
            self.senders.took_spans(peer, batch, names);
        }
        if received.others > 0 {
            let why = "too many names of spans: these are stored as (other), their names beside";
            self.senders.refused(peer, "names", received.others, why);
        }
        let mut message = received.message();
        if received.refused > 0 && format.json {
            message.push_str(" (octets are of the same request in Protocol Buffers)");
        }
        if received.refused > 0 {
            self.senders.refused(peer, "spans", received.refused, &message);
        }
        Ok(Accepted { refused: received.refused, message })
    }
}

fn refusal(error: IngestError) -> Refusal {
    if error.is_passing() {
        Refusal::Busy(error.to_string())
    } else {
        Refusal::Failed(error.to_string())
    }
}

/// Largest decompressed size of a compressed request of `packed` octets.
pub(super) fn unpacked_max(packed: usize) -> usize {
    let dense = packed.saturating_mul(UNPACKED_RATIO_MAX).max(UNPACKED_FREE_BYTES);
    dense.min(REQUEST_BYTES_MAX)
}

/// Decompresses a body, up to the largest size of a request.
fn gunzip(body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let max = unpacked_max(body.len());
    let mut bytes = Vec::new();
    let mut decoder = MultiGzDecoder::new(body).take(max as u64 + 1);
    let read = decoder.read_to_end(&mut bytes);
    read.map_err(|error| Refusal::Malformed(format!("gzip: {error}")))?;
    match bytes.len() > max {
        false => Ok(bytes),
        true if max == REQUEST_BYTES_MAX => Err(Refusal::too_large()),
        true => Err(Refusal::TooDense { packed: body.len(), max }),
    }
}

/// A number for a request's content, the same for ever: two lanes of multiply and rotate over
/// words of 16 octets. Against accidents, not against somebody who wants two requests of his own
/// to be taken for one.
fn content_key(bytes: &[u8]) -> u128 {
    const LANES: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
    let [mut a, mut b] = LANES;
    let mut mix = |chunk: &[u8; 16]| {
        let word = u128::from_le_bytes(*chunk);
        #[allow(clippy::cast_possible_truncation)] // its halves
        let (low, high) = (word as u64, (word >> 64) as u64);
        a = (a ^ low).wrapping_mul(LANES[0]).rotate_left(29) ^ b;
        b = (b ^ high).wrapping_mul(LANES[1]).rotate_left(31).wrapping_add(a);
    };
    let (chunks, rest) = bytes.as_chunks::<16>();
    chunks.iter().for_each(&mut mix);
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    mix(&last);
    mix(&(bytes.len() as u128).to_le_bytes());
    mix(&[0; 16]);
    u128::from(a) << 64 | u128::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_key_depends_on_every_octet_and_on_the_length() {
        let base = [7; 50];
        let mut keys: HashSet<u128> = (0..50).map(|len| content_key(&base[..len])).collect();
        for at in 0..50 {
            for bit in 0..8 {
                let mut bytes = base;
                bytes[at] ^= 1 << bit;
                keys.insert(content_key(&bytes));
            }
        }
        assert_eq!(keys.len(), 50 + 400);
    }

    #[test]
    fn a_gzip_bomb_is_refused() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::copy(&mut std::io::repeat(0).take(100 << 20), &mut encoder).unwrap();
        let bomb = encoder.finish().unwrap();
        assert!(bomb.len() < 1 << 20);
        assert!(matches!(gunzip(&bomb), Err(Refusal::TooLarge(_))));
        assert!(matches!(gunzip(&bomb[..50]), Err(Refusal::Malformed(_))));
    }

    #[test]
    fn sixteen_kilobytes_do_not_become_sixteen_megabytes() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::copy(&mut std::io::repeat(0).take(REQUEST_BYTES_MAX as u64), &mut encoder)
            .unwrap();
        let bomb = encoder.finish().unwrap();
        assert!(bomb.len() < 17_000, "{}", bomb.len());
        let refused = gunzip(&bomb).unwrap_err();
        assert!(
            matches!(refused, Refusal::TooDense { max: 1_000_000..2_000_000, .. }),
            "{refused}"
        );
    }
}

//! The connection to the collector: made, kept, and made again.

use super::link::Link;
use super::link_error::LinkError;
use super::questions;
use super::session::{self, Session, SessionEnd};
use super::target::causes;
use super::way_back::WayBack;
use crate::duration::nanos;
use crate::protocol::{
    self, AgentMessage, CollectorMessage, FromAgent, FromCollector, Hello, ProtocolError,
};
use chronoscope_clock as clock;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic_prost::ProstCodec;

/// Time limit for the collector's welcome.
const WELCOME_WITHIN: Duration = Duration::from_secs(10);
/// Interval between two checks, while waiting, whether to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Shortest and longest wait before a connection is tried again.
const AGAIN_AFTER: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// Most bytes of a message from the collector.
const ANSWER_MAX: usize = 4096;

/// Delivers until it is to end.
pub(super) async fn run(link: Link) {
    let mut wait = AGAIN_AFTER.0;
    let mut way_back = WayBack::default();
    loop {
        let connections = link.shared.status().connections;
        let (began_ns, from) = (clock::monotonic_ns(), link.current());
        let ended = connection(&link, &way_back).await;
        way_back.ended(from, clock::monotonic_ns().saturating_sub(began_ns), ended.is_ok());
        let error = match ended {
            Ok(SessionEnd::Delivered) => None,
            Ok(SessionEnd::Preferred(index)) => {
                link.shared.ended(None);
                link.choose(index);
                continue;
            }
            Err(error) => Some(with_new_number(&link, error).to_string()),
        };
        if link.shared.ended(error.clone()) > connections {
            wait = AGAIN_AFTER.0;
        }
        if error.is_none() {
            return;
        }
        // The next one at once, unless all have been tried.
        let is_last = link.is_last();
        link.choose(link.current() + 1);
        if !is_last && !link.shared.is_ending() {
            continue;
        }
        // Half of the wait is chance, so that agents do not come back all at once.
        let until_ns = clock::monotonic_ns() + nanos(wait / 2) + jitter(&link, wait / 2);
        while clock::monotonic_ns() < until_ns {
            if link.shared.is_ending() {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
        wait = (wait * 2).min(AGAIN_AFTER.1);
    }
}

/// One connection; returns when everything is delivered that is to be, or time is over.
async fn connection(link: &Link, way_back: &WayBack) -> Result<SessionEnd, LinkError> {
    let channel = link.to().endpoint().connect().await;
    let channel = channel.map_err(|error| LinkError::Connect(causes(&error)))?;
    let mut grpc = Grpc::new(channel).max_decoding_message_size(ANSWER_MAX);
    let hello = FromAgent::Hello(Hello::new(link.spool.id(), link.host.clone()));
    let (sender, receiver) = session::channel(hello)?;
    let request = link.request(ReceiverStream::new(receiver));
    grpc.ready().await.map_err(|error| LinkError::Connect(causes(&error)))?;
    let path = PathAndQuery::from_static(protocol::DELIVER);
    let codec = ProstCodec::<AgentMessage, CollectorMessage>::default();
    let response = timeout(WELCOME_WITHIN, grpc.streaming(request, path, codec)).await;
    let silent = LinkError::Silent { what: "a welcome message", within: WELCOME_WITHIN };
    let response = response.map_err(|_| silent)?;
    let response = response.map_err(|status| LinkError::refused(&status));
    let mut answers = response.map_err(|error| with_advice(link, error))?.into_inner();
    let next_row = welcome(link, &mut answers).await.map_err(|error| with_advice(link, error))?;
    let mut session = Session::new(link, grpc.clone(), sender, next_row);
    let back = AtomicUsize::new(usize::MAX);
    tokio::select! {
        ended = session.run(&mut answers, &back) => ended,
        never = questions::answer(link, grpc) => match never {},
        never = way_back.look(link, &back) => match never {},
    }
}

/// The row from which the collector wants to go on.
async fn welcome(link: &Link, answers: &mut Streaming<CollectorMessage>) -> Result<u64, LinkError> {
    let first = timeout(WELCOME_WITHIN, answers.message()).await;
    let silent = LinkError::Silent { what: "a welcome message", within: WELCOME_WITHIN };
    let first = first.map_err(|_| silent)?.map_err(|status| LinkError::refused(&status))?;
    let Some(FromCollector::Welcome(welcome)) = first.ok_or(LinkError::Closed)?.kind else {
        return Err(LinkError::Unexpected { wanted: "a welcome message" });
    };
    if welcome.version != protocol::VERSION {
        return Err(ProtocolError::Version { version: welcome.version }.into());
    }
    let next_row = welcome.next_row.unwrap_or(0);
    link.check_sent(next_row)?;
    let here = link.spool.durable_rows();
    if next_row > here {
        // New rows would get numbers that the collector takes for old ones.
        return Err(LinkError::OldSpool { there: next_row, here });
    }
    link.spool.acknowledge(next_row)?;
    link.cuts().acknowledged(next_row);
    let next_row = next_row.max(link.spool.first_row());
    let mut status = link.shared.status();
    status.connected = true;
    status.connections += 1;
    status.error = None;
    Ok(next_row)
}

/// Gives the spool a new number if somebody else has delivered under the present one: the collector
/// would take its rows for those that it has.
fn with_new_number(link: &Link, error: LinkError) -> LinkError {
    let LinkError::Impostor { .. } = error else { return error };
    match link.spool.renumber() {
        Ok(id) => {
            let notice = format!("{error}; what waits goes on under the number {:032x}", id.0);
            let mut status = link.shared.status();
            status.renumbered += 1;
            status.notice = Some(notice);
            drop(status);
            error
        }
        Err(failed) => failed.into(),
    }
}

/// An error before anybody ever said welcome: perhaps it is not what we speak that is spoken.
fn with_advice(link: &Link, error: LinkError) -> LinkError {
    match error {
        LinkError::Broken(reason)
            if !link.to().speaks_tls() && link.shared.status().connections == 0 =>
        {
            let advice = "where the port speaks TLS, the URL begins with https://";
            LinkError::Broken(format!("{reason}; {advice}"))
        }
        error => error,
    }
}

/// Nanoseconds up to `most`, other ones for every agent and every time.
#[allow(clippy::cast_possible_truncation)] // any bits do
fn jitter(link: &Link, most: Duration) -> u64 {
    let mixed = (link.spool.id().0 as u64 ^ clock::monotonic_ns())
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .rotate_right(32);
    mixed % nanos(most).max(1)
}

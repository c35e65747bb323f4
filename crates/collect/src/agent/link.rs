//! The connection to the collector: made, kept, and made again.

use super::rows::Cuts;
use super::session::{self, Session};
use super::target::{Target, causes};
use crate::protocol::{
    self, AgentMessage, CollectorMessage, FromAgent, FromCollector, Hello, ProtocolError,
};
use crate::status::{DeliveryStatus, Status};
use chronoscope_clock as clock;
use chronoscope_store::{Spool, StoreError};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Streaming};
use tonic_prost::ProstCodec;

/// How long the collector may take for a welcome.
const WELCOME_WITHIN: Duration = Duration::from_secs(10);
/// How often it is looked, while waiting, whether to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Shortest and longest wait before a connection is tried again.
const AGAIN_AFTER: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));
/// Most bytes of a message from the collector.
const ANSWER_MAX: usize = 4096;
/// Most hosts whose clock is told to be this one's: containers have names of their own.
const HOSTS_MAX: usize = 64;

/// Why a connection was not made, or has ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkError {
    #[error("cannot connect: {0}")]
    Connect(String),
    #[error("the collector refuses the token: {0}")]
    Token(String),
    #[error("the collector says {code:?}: {message}")]
    Refused { code: Code, message: String },
    #[error("the collector did not say {what} within {} s", within.as_secs())]
    Silent { what: &'static str, within: Duration },
    #[error("the collector said something else than {wanted}")]
    Unexpected { wanted: &'static str },
    #[error("the collector closed the connection")]
    Closed,
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error(
        "the collector has rows of this spool up to {there}, and the spool goes up to {here}: it \
         is an old copy; put it away and let the agent make a new one"
    )]
    OldSpool { there: u64, here: u64 },
    #[error(
        "somebody else spoke under this agent's name: the collector has rows up to {there}, and \
         those from {sent} on were never sent"
    )]
    Impostor { there: u64, sent: u64 },
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    #[error(transparent)]
    Spool(#[from] StoreError),
    #[error("reading the spool failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

impl LinkError {
    pub(super) fn refused(status: &tonic::Status) -> Self {
        // What the other side says comes without a cause.
        if let Some(cause) = std::error::Error::source(status) {
            return Self::Broken(causes(cause));
        }
        let message = status.message().to_owned();
        match status.code() {
            Code::Unauthenticated => Self::Token(message),
            code => Self::Refused { code, message },
        }
    }
}

/// What the connection's thread and the others share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// When to have ended, on the monotonic clock; 0 while that is not known.
    end_by_ns: AtomicU64,
    status: Mutex<DeliveryStatus>,
    hosts: Mutex<BTreeSet<String>>,
}

impl Shared {
    /// Deliver what is in the spool, and end then or at that time.
    pub(super) fn end_by(&self, deadline_ns: u64) {
        self.end_by_ns.store(deadline_ns.max(1), Ordering::Release);
    }

    pub(super) fn is_ending(&self) -> bool {
        self.end_by_ns.load(Ordering::Acquire) > 0
    }

    pub(super) fn is_over(&self) -> bool {
        let deadline_ns = self.end_by_ns.load(Ordering::Acquire);
        deadline_ns > 0 && clock::monotonic_ns() >= deadline_ns
    }

    /// Adds to a status what is known here; learns from it whose clock this is.
    pub(super) fn fill(&self, status: &mut Status) {
        {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            for process in &status.processes {
                if hosts.len() < HOSTS_MAX && !hosts.contains(&process.host) {
                    hosts.insert(process.host.clone());
                }
            }
        }
        let known = self.status();
        let delivery = status.delivery.get_or_insert_default();
        delivery.to.clone_from(&known.to);
        delivery.connected = known.connected;
        delivery.connections = known.connections;
        delivery.error.clone_from(&known.error);
        delivery.renumbered = known.renumbered;
        delivery.notice.clone_from(&known.notice);
        delivery.clock_offset_ns = known.clock_offset_ns;
        delivery.clock_error_ns = known.clock_error_ns;
    }

    /// Notes that a connection has ended, or was not made, and why; how many were welcomed so far.
    fn ended(&self, error: Option<String>) -> u64 {
        let mut status = self.status();
        status.connected = false;
        status.error = error;
        status.connections
    }

    /// The hosts whose clock is this one.
    pub(super) fn hosts(&self) -> Vec<String> {
        let hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        hosts.iter().cloned().collect()
    }

    pub(super) fn status(&self) -> MutexGuard<'_, DeliveryStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to one collector.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) spool: Arc<Spool>,
    to: Target,
    pub(super) shared: Arc<Shared>,
    pub(super) host: String,
    /// Over all connections.
    cuts: Mutex<Cuts>,
}

impl Link {
    pub(super) fn new(spool: Arc<Spool>, to: Target, shared: Arc<Shared>) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = host.trim().to_owned();
        shared.status().to = to.url().to_owned();
        shared.hosts.lock().unwrap_or_else(PoisonError::into_inner).insert(host.clone());
        Self { spool, to, shared, host, cuts: Mutex::default() }
    }

    /// Where messages that may be sent again ended.
    pub(super) fn cuts(&self) -> MutexGuard<'_, Cuts> {
        self.cuts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers until it is to end.
    pub(super) async fn run(self) {
        let mut wait = AGAIN_AFTER.0;
        loop {
            let connections = self.shared.status().connections;
            let ended = self.connection().await;
            let error = match ended {
                Ok(()) => None,
                Err(error) => Some(self.with_new_number(error).to_string()),
            };
            if self.shared.ended(error.clone()) > connections {
                wait = AGAIN_AFTER.0;
            }
            if error.is_none() {
                return;
            }
            // Half of the wait is chance, so that agents do not come back all at once.
            let until_ns = clock::monotonic_ns() + crate::nanos(wait / 2) + self.jitter(wait / 2);
            while clock::monotonic_ns() < until_ns {
                if self.shared.is_ending() {
                    return;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            wait = (wait * 2).min(AGAIN_AFTER.1);
        }
    }

    /// Where somebody else has spoken under the spool's number, its rows go on under another one:
    /// the collector would take them for those that it has.
    fn with_new_number(&self, error: LinkError) -> LinkError {
        let LinkError::Impostor { .. } = error else { return error };
        match self.spool.renumber() {
            Ok(id) => {
                let notice = format!("{error}; what waits goes on under the number {:032x}", id.0);
                let mut status = self.shared.status();
                status.renumbered += 1;
                status.notice = Some(notice);
                drop(status);
                error
            }
            Err(failed) => failed.into(),
        }
    }

    /// Whether rows up to `row` may be at the collector by this spool's own doing.
    pub(super) fn check_sent(&self, row: u64) -> Result<(), LinkError> {
        match self.spool.sent_rows() {
            Some(sent) if row > sent => Err(LinkError::Impostor { there: row, sent }),
            _ => Ok(()),
        }
    }

    /// Nanoseconds up to `most`, other ones for every agent and every time.
    #[allow(clippy::cast_possible_truncation)] // any bits do
    fn jitter(&self, most: Duration) -> u64 {
        let mixed = (self.spool.id().0 as u64 ^ clock::monotonic_ns())
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_right(32);
        mixed % crate::nanos(most).max(1)
    }

    /// One connection; returns when everything is delivered that is to be, or time is over.
    async fn connection(&self) -> Result<(), LinkError> {
        let channel = self.to.endpoint().connect().await;
        let channel = channel.map_err(|error| LinkError::Connect(causes(&error)))?;
        let mut grpc = Grpc::new(channel).max_decoding_message_size(ANSWER_MAX);
        let hello = FromAgent::Hello(Hello::new(self.spool.id(), self.host.clone()));
        let (sender, receiver) = session::channel(hello)?;
        let request = self.request(ReceiverStream::new(receiver));
        grpc.ready().await.map_err(|error| LinkError::Connect(causes(&error)))?;
        let path = PathAndQuery::from_static(protocol::DELIVER);
        let codec = ProstCodec::<AgentMessage, CollectorMessage>::default();
        let response = timeout(WELCOME_WITHIN, grpc.streaming(request, path, codec)).await;
        let silent = LinkError::Silent { what: "welcome", within: WELCOME_WITHIN };
        let response = response.map_err(|_| silent)?;
        let response = response.map_err(|status| LinkError::refused(&status));
        let mut answers = response.map_err(|error| self.with_advice(error))?.into_inner();
        let next_row = self.welcome(&mut answers).await.map_err(|error| self.with_advice(error))?;
        Session::new(self, grpc, sender, next_row).run(&mut answers).await
    }

    /// An error before anybody ever said welcome: perhaps it is not what we speak that is spoken.
    fn with_advice(&self, error: LinkError) -> LinkError {
        match error {
            LinkError::Broken(reason)
                if !self.to.speaks_tls() && self.shared.status().connections == 0 =>
            {
                let advice = "where the port speaks TLS, the URL begins with https://";
                LinkError::Broken(format!("{reason}; {advice}"))
            }
            error => error,
        }
    }

    /// A request that shows the token.
    pub(super) fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(token) = self.to.token() {
            request.metadata_mut().insert("authorization", token.clone());
        }
        request
    }

    /// The row from which the collector wants to go on.
    async fn welcome(&self, answers: &mut Streaming<CollectorMessage>) -> Result<u64, LinkError> {
        let first = timeout(WELCOME_WITHIN, answers.message()).await;
        let silent = LinkError::Silent { what: "welcome", within: WELCOME_WITHIN };
        let first = first.map_err(|_| silent)?.map_err(|status| LinkError::refused(&status))?;
        let Some(FromCollector::Welcome(welcome)) = first.ok_or(LinkError::Closed)?.kind else {
            return Err(LinkError::Unexpected { wanted: "welcome" });
        };
        if welcome.version != protocol::VERSION {
            return Err(ProtocolError::Version { version: welcome.version }.into());
        }
        let next_row = welcome.next_row.unwrap_or(0);
        self.check_sent(next_row)?;
        let here = self.spool.durable_rows();
        if next_row > here {
            // New rows would get numbers that the collector takes for old ones.
            return Err(LinkError::OldSpool { there: next_row, here });
        }
        self.spool.acknowledge(next_row)?;
        self.cuts().acknowledged(next_row);
        let next_row = next_row.max(self.spool.first_row());
        let mut status = self.shared.status();
        status.connected = true;
        status.connections += 1;
        status.error = None;
        Ok(next_row)
    }
}

//! Agents: `chronoscope.Collector` over gRPC. Protocol: `docs/formats/agent.md`.
//!
//! A connection's rows are decoded and appended one message after the other, in threads that may
//! wait; meanwhile those before are being made durable, many at a time, and acknowledged then.

use crate::access;
use crate::log::LogLine;
use crate::senders::{Peer, Senders};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chronoscope_clock as clock;
use chronoscope_collect::protocol::{
    self, Ack, AgentMessage, ClockReply, ClockRequest, CollectorMessage, FromAgent, FromCollector,
    Hello, MESSAGE_MAX, Rows, Welcome,
};
use chronoscope_collect::{Ingest, IngestError, Receipt};
use chronoscope_store::StreamId;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::future::{Ready, ready};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::server::{Grpc, StreamingService, UnaryService};
use tonic::{Code, Status, Streaming};
use tonic_prost::ProstCodec;

/// Agents at a time.
const AGENTS_MAX: usize = 256;
/// Messages that are decoded at a time, of all agents: each takes up to some 100 MB meanwhile.
const DECODING_MAX: usize = 4;
/// Messages of one agent that wait for being durable.
const UNSETTLED_MAX: usize = 64;
/// Within which an agent must say who it is.
pub(crate) const HELLO_WITHIN: Duration = Duration::from_secs(10);
/// Largest clock request, in bytes.
const CLOCK_MAX: usize = 1024;

/// The routes of the service.
pub(crate) fn routes(ingest: Ingest, senders: Arc<Senders>) -> Router {
    let service = Service(Arc::new(Inner {
        ingest,
        senders,
        connections: Mutex::default(),
        room: Arc::new(Semaphore::new(AGENTS_MAX)),
        decoding: Arc::new(Semaphore::new(DECODING_MAX)),
    }));
    Router::new()
        .route(protocol::DELIVER, post(deliver))
        .route(protocol::CLOCK, post(time))
        .route_layer(from_fn(access::only_grpc))
        .with_state(service)
}

async fn deliver(State(service): State<Service>, request: Request) -> Response {
    let codec = ProstCodec::<CollectorMessage, AgentMessage>::default();
    let mut grpc = Grpc::new(codec).max_decoding_message_size(MESSAGE_MAX);
    grpc.streaming(service, request).await.map(Body::new).into_response()
}

async fn time(request: Request) -> Response {
    let received_ns = clock::utc_now_ns();
    let codec = ProstCodec::<ClockReply, ClockRequest>::default();
    let mut grpc = Grpc::new(codec).max_decoding_message_size(CLOCK_MAX);
    grpc.unary(Time { received_ns }, request).await.map(Body::new).into_response()
}

/// Answers what time it is.
struct Time {
    received_ns: i64,
}

impl UnaryService<ClockRequest> for Time {
    type Response = ClockReply;
    type Future = Ready<Result<tonic::Response<ClockReply>, Status>>;

    fn call(&mut self, _: tonic::Request<ClockRequest>) -> Self::Future {
        let reply = ClockReply { received_ns: self.received_ns, sent_ns: clock::utc_now_ns() };
        ready(Ok(tonic::Response::new(reply)))
    }
}

/// State that all agents' connections share.
#[derive(Clone)]
struct Service(Arc<Inner>);

struct Inner {
    ingest: Ingest,
    senders: Arc<Senders>,
    /// The newest connection of every agent; dropping the sender ends it.
    connections: Mutex<HashMap<StreamId, (u64, oneshot::Sender<()>)>>,
    room: Arc<Semaphore>,
    decoding: Arc<Semaphore>,
}

/// The peer of a stream.
pub(crate) struct Sender {
    pub(crate) peer: Option<SocketAddr>,
    /// Name of its token, where that has one.
    pub(crate) name: Option<Arc<str>>,
}

impl Sender {
    /// Stream id under which its rows are counted. An agent with a token of its own must be on the
    /// host that the token is for, and has a count of its own: the id is a hash of its spool's id
    /// and the token's name, so no other agent can continue its count, whatever id it sends.
    pub(crate) fn stream(&self, id: StreamId, host: &str) -> Result<StreamId, Status> {
        let Some(name) = &self.name else { return Ok(id) };
        if **name != *host {
            let what =
                format!("the token belongs to the agent {name:?}, but this agent is {host:?}");
            return Err(Status::permission_denied(what));
        }
        let hash = Sha256::new().chain_update(id.0.to_le_bytes()).chain_update(&**name).finalize();
        let mut number = [0; 16];
        number.copy_from_slice(&hash[..16]);
        Ok(StreamId(u128::from_le_bytes(number)))
    }
}

type Answers = mpsc::Sender<Result<CollectorMessage, Status>>;

impl StreamingService<AgentMessage> for Service {
    type Response = CollectorMessage;
    type ResponseStream = ReceiverStream<Result<CollectorMessage, Status>>;
    type Future = Ready<Result<tonic::Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<AgentMessage>>) -> Self::Future {
        let peer = Peer::of(request.extensions());
        let bearer = request.extensions().get::<access::Bearer>();
        let sender = Sender { peer, name: bearer.and_then(|bearer| bearer.name.clone()) };
        let Ok(permit) = self.0.room.clone().try_acquire_owned() else {
            let full = format!("{AGENTS_MAX} agents are connected, which is the limit");
            self.0.senders.refused(peer, "agents", 1, &full);
            return ready(Err(Status::resource_exhausted(full)));
        };
        let (answers, receiver) = mpsc::channel(4);
        tokio::spawn(self.clone().converse(request.into_inner(), answers, (sender, permit)));
        ready(Ok(tonic::Response::new(ReceiverStream::new(receiver))))
    }
}

impl Service {
    /// One connection, from hello to end.
    async fn converse(
        self,
        mut messages: Streaming<AgentMessage>,
        answers: Answers,
        (sender, permit): (Sender, OwnedSemaphorePermit),
    ) {
        if let Err(status) = self.welcome_and_take(&mut messages, &answers, &sender).await {
            // The agent may have disconnected: then the error reaches nobody.
            let _ = answers.send(Err(status)).await;
        }
        drop(permit);
    }

    async fn welcome_and_take(
        &self,
        messages: &mut Streaming<AgentMessage>,
        answers: &Answers,
        sender: &Sender,
    ) -> Result<(), Status> {
        let peer = sender.peer;
        let (id, hello) = hello(messages).await.inspect_err(|status| {
            self.0.senders.refused(peer, "malformed", 1, status.message());
        })?;
        let id = sender.stream(id, &hello.host).inspect_err(|status| {
            self.0.senders.refused(peer, "rights", 1, status.message());
        })?;
        let connection = self.0.ingest.agent_came(id, &hello);
        let line = |event| {
            let line = LogLine::info(event).with_some("peer", peer).with("host", &hello.host);
            line.with("program", &hello.program).with("agent", format_args!("{:032x}", id.0))
        };
        line("agent_connected").say();
        let (mine, newer) = oneshot::channel();
        // From here on an older connection of this agent accepts nothing. What it accepted before
        // is included in the count that we report below, or arrives twice and is stored once.
        self.connections().insert(id, (connection, mine));
        let taken = tokio::select! {
            taken = self.take(hello.version, id, messages, answers) => taken,
            _ = newer => Err(Status::aborted("this agent has a newer connection")),
        };
        self.0.ingest.agent_went(id, connection);
        let why = taken.as_ref().err().map(Status::message);
        line("agent_disconnected").with_some("why", why).say();
        let mut connections = self.connections();
        if connections.get(&id).is_some_and(|(newest, _)| *newest == connection) {
            connections.remove(&id);
        }
        taken
    }

    async fn take(
        &self,
        version: u32,
        id: StreamId,
        messages: &mut Streaming<AgentMessage>,
        answers: &Answers,
    ) -> Result<(), Status> {
        let ingest = self.0.ingest.clone();
        let next_row = waiting(move || ingest.next_row(id).map_err(status)).await?;
        // An agent of before goes on as it did: it refuses another version than its own.
        let welcome = Welcome { version, next_row };
        if !tell(answers, FromCollector::Welcome(welcome)).await {
            return Ok(());
        }
        let (receipts, unsettled) = mpsc::channel(UNSETTLED_MAX);
        let read = async {
            while let Some(message) = messages.message().await? {
                let Some(FromAgent::Rows(rows)) = message.kind else {
                    return Err(Status::invalid_argument("after the hello only rows are allowed"));
                };
                if receipts.send(self.deliver(id, rows).await?).await.is_err() {
                    break;
                }
            }
            drop(receipts);
            Ok(())
        };
        tokio::try_join!(read, self.settle(unsettled, answers)).map(drop)
    }

    /// Decodes and appends a message.
    async fn deliver(&self, id: StreamId, rows: Rows) -> Result<Receipt, Status> {
        let turn = self.0.decoding.clone().acquire_owned().await;
        let turn = turn.map_err(|_| Status::unavailable("the server ends"))?;
        let ingest = self.0.ingest.clone();
        waiting(move || {
            let message = rows.unpack();
            let message = message.map_err(|error| Status::invalid_argument(error.to_string()))?;
            let receipt = ingest.deliver(id, rows.first_row, &message).map_err(status);
            drop(turn);
            if let Ok(Receipt { gap_rows: 1.., .. }) = &receipt {
                let gap_rows = receipt.as_ref().map_or(0, |receipt| receipt.gap_rows);
                let line = LogLine::warn("agent_gap").with("agent", format_args!("{:032x}", id.0));
                line.with("rows", gap_rows).with("first_row", rows.first_row).say();
            }
            receipt
        })
        .await
    }

    /// Acknowledges durable rows. All rows that have arrived in the meantime share one sync.
    async fn settle(
        &self,
        mut unsettled: mpsc::Receiver<Receipt>,
        answers: &Answers,
    ) -> Result<(), Status> {
        while let Some(mut last) = unsettled.recv().await {
            while let Ok(later) = unsettled.try_recv() {
                last = later;
            }
            let ingest = self.0.ingest.clone();
            waiting(move || ingest.settle(last).map_err(status)).await?;
            if !tell(answers, FromCollector::Ack(Ack { row: last.next_row })).await {
                return Ok(());
            }
        }
        Ok(())
    }

    fn connections(
        &self,
    ) -> std::sync::MutexGuard<'_, HashMap<StreamId, (u64, oneshot::Sender<()>)>> {
        self.0.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads an agent's first message, which identifies it.
async fn hello(messages: &mut Streaming<AgentMessage>) -> Result<(StreamId, Hello), Status> {
    let first = timeout(HELLO_WITHIN, messages.message()).await;
    let first = first.map_err(|_| Status::deadline_exceeded("no hello came"))??;
    let Some(FromAgent::Hello(hello)) = first.and_then(|message| message.kind) else {
        return Err(Status::invalid_argument("the first message must be a hello"));
    };
    let id = hello.check().map_err(|error| Status::invalid_argument(error.to_string()))?;
    Ok((id, hello))
}

/// Sends a message; `false` when the agent has disconnected.
async fn tell(answers: &Answers, kind: FromCollector) -> bool {
    answers.send(Ok(CollectorMessage { kind: Some(kind) })).await.is_ok()
}

/// Runs something that waits for a disk in a thread of its own.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Status> + Send + 'static,
) -> Result<T, Status> {
    spawn_blocking(work).await.map_err(|error| Status::internal(error.to_string()))?
}

/// Status that tells the agent why its rows were refused.
#[allow(clippy::needless_pass_by_value)] // as map_err gives it
fn status(error: IngestError) -> Status {
    let code = if error.is_passing() { Code::Unavailable } else { Code::FailedPrecondition };
    Status::new(code, error.to_string())
}

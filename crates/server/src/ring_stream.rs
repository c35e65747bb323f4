//! The stream on which an agent is asked about the rings of its host: `docs/formats/agent.md`,
//! "Rings". The agent opens it, and says who it is as on the stream of its rows.

use crate::access;
use crate::agent_rings::AgentRings;
use crate::grpc::{HELLO_WITHIN, Sender};
use crate::senders::{Peer, Senders};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chronoscope_collect::rings::{
    MESSAGE_MAX, QUESTIONS, RingQuestion, RingsFromAgent, RingsMessage,
};
use chronoscope_store::StreamId;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::server::{Grpc, StreamingService};
use tonic::{Code, Status, Streaming};
use tonic_prost::ProstCodec;

/// Streams at a time: as many as there may be agents.
const STREAMS_MAX: usize = 256;
/// Questions that have not been sent yet.
const UNSENT_MAX: usize = 16;

/// The routes of the service.
pub(crate) fn routes(agents: Arc<AgentRings>, senders: Arc<Senders>) -> Router {
    let service = Service {
        agents,
        senders,
        room: Arc::new(Semaphore::new(STREAMS_MAX)),
        opened: Arc::default(),
    };
    Router::new()
        .route(QUESTIONS, post(serve))
        .route_layer(from_fn(access::only_grpc))
        .with_state(service)
}

async fn serve(State(service): State<Service>, request: Request) -> Response {
    let codec = ProstCodec::<RingQuestion, RingsFromAgent>::default();
    let mut grpc = Grpc::new(codec).max_decoding_message_size(MESSAGE_MAX);
    grpc.streaming(service, request).await.map(Body::new).into_response()
}

/// State that all streams share.
#[derive(Clone)]
struct Service {
    agents: Arc<AgentRings>,
    senders: Arc<Senders>,
    room: Arc<Semaphore>,
    /// Streams that were opened so far.
    opened: Arc<AtomicU64>,
}

type Questions = mpsc::Sender<Result<RingQuestion, Status>>;

impl StreamingService<RingsFromAgent> for Service {
    type Response = RingQuestion;
    type ResponseStream = ReceiverStream<Result<RingQuestion, Status>>;
    type Future = Ready<Result<tonic::Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<RingsFromAgent>>) -> Self::Future {
        let peer = Peer::of(request.extensions());
        let bearer = request.extensions().get::<access::Bearer>();
        let sender = Sender { peer, name: bearer.and_then(|bearer| bearer.name.clone()) };
        let Ok(permit) = self.room.clone().try_acquire_owned() else {
            let full = format!("{STREAMS_MAX} agents can be asked, which is the limit");
            self.senders.refused(peer, "agents", 1, &full);
            return ready(Err(Status::resource_exhausted(full)));
        };
        let (questions, receiver) = mpsc::channel(UNSENT_MAX);
        tokio::spawn(self.clone().converse(request.into_inner(), questions, (sender, permit)));
        ready(Ok(tonic::Response::new(ReceiverStream::new(receiver))))
    }
}

impl Service {
    /// One stream, from hello to end.
    async fn converse(
        self,
        mut messages: Streaming<RingsFromAgent>,
        questions: Questions,
        (sender, permit): (Sender, OwnedSemaphorePermit),
    ) {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let ended = match hello(&mut messages, &sender).await {
            Ok(id) => {
                self.agents.opened(id, number, questions.clone());
                let ended = self.take(&mut messages, id, number).await;
                self.agents.closed(id, number);
                ended
            }
            Err(status) => Err(status),
        };
        if let Err(status) = ended {
            // An agent that goes is in the log by its stream of rows.
            if status.code() == Code::InvalidArgument {
                self.senders.refused(sender.peer, "malformed", 1, status.message());
            }
            let _ = questions.send(Err(status)).await; // the agent may have disconnected
        }
        drop(permit);
    }

    /// Takes answers until the agent ends the stream or has another one.
    async fn take(
        &self,
        messages: &mut Streaming<RingsFromAgent>,
        id: StreamId,
        number: u64,
    ) -> Result<(), Status> {
        while let Some(message) = messages.message().await? {
            let Some(RingsMessage::Answer(answer)) = message.kind else {
                return Err(Status::invalid_argument("after the hello only answers are allowed"));
            };
            self.agents.answered(id, number, answer)?;
        }
        Ok(())
    }
}

/// Reads an agent's first message, which identifies it.
async fn hello(
    messages: &mut Streaming<RingsFromAgent>,
    sender: &Sender,
) -> Result<StreamId, Status> {
    let first = timeout(HELLO_WITHIN, messages.message()).await;
    let first = first.map_err(|_| Status::deadline_exceeded("no hello came"))??;
    let Some(RingsMessage::Hello(hello)) = first.and_then(|message| message.kind) else {
        return Err(Status::invalid_argument("the first message must be a hello"));
    };
    let id = hello.check().map_err(|error| Status::invalid_argument(error.to_string()))?;
    sender.stream(id, &hello.host)
}

//! Answers the collector's questions about the rings of this host.
//!
//! On a stream of its own beside that of the rows, so that neither holds up the other; rings are
//! read in a thread that may wait, one question after the other. An older collector refuses the
//! stream, which harms nothing.

use super::link::Link;
use crate::protocol::Hello;
use crate::rings::{
    ListRings, Packed, PackedRing, QUESTIONS, ReadRing, RingAnswer, RingAnswerKind, RingList,
    RingQuestion, RingReport, RingSubject, RingsFromAgent, RingsMessage,
};
use chronoscope_model::ProcessId;
use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic_prost::ProstCodec;

/// Shortest and longest wait before the stream is opened again.
const AGAIN_AFTER: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// Answers for as long as it is polled; what goes wrong ends one stream, and another is opened.
pub(super) async fn answer(link: &Link, mut grpc: Grpc<Channel>) -> Infallible {
    let mut wait = AGAIN_AFTER.0;
    loop {
        // Why it ended is of no use to anybody here: the collector says it to those who ask.
        if matches!(stream(link, &mut grpc).await, Ok(1..)) {
            wait = AGAIN_AFTER.0;
        }
        sleep(wait).await;
        wait = (wait * 2).min(AGAIN_AFTER.1);
    }
}

/// One stream; how many questions were answered on it.
async fn stream(link: &Link, grpc: &mut Grpc<Channel>) -> Result<u64, tonic::Status> {
    // The hello, and one answer that is on its way.
    let (messages, receiver) = mpsc::channel(2);
    let hello = RingsMessage::Hello(Hello::new(link.spool.id(), link.host.clone()));
    let closed = |_| tonic::Status::cancelled("the stream is closed");
    messages.send(RingsFromAgent { kind: Some(hello) }).await.map_err(closed)?;
    grpc.ready().await.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
    let request = link.request(ReceiverStream::new(receiver));
    let path = PathAndQuery::from_static(QUESTIONS);
    let codec = ProstCodec::<RingsFromAgent, RingQuestion>::default();
    let mut questions = grpc.streaming(request, path, codec).await?.into_inner();
    let mut answered = 0;
    while let Ok(Some(question)) = questions.message().await {
        let ring_dir = link.ring_dir.clone();
        let answer = tokio::task::spawn_blocking(move || answer_to(&question, &ring_dir)).await;
        let answer = answer.map_err(|error| tonic::Status::internal(error.to_string()))?;
        let kind = Some(RingsMessage::Answer(answer));
        messages.send(RingsFromAgent { kind }).await.map_err(closed)?;
        answered += 1;
    }
    Ok(answered)
}

/// Reads what a question is about.
fn answer_to(question: &RingQuestion, ring_dir: &Path) -> RingAnswer {
    let kind = match question.subject {
        Some(RingSubject::List(ListRings {})) => list(ring_dir),
        Some(RingSubject::Ring(asked)) => ring(asked, ring_dir),
        None => RingAnswerKind::Failed(
            "the agent does not know this question: update the agent".to_owned(),
        ),
    };
    RingAnswer { number: question.number, kind: Some(kind) }
}

fn list(ring_dir: &Path) -> RingAnswerKind {
    Packed::of_list(RingList::read(ring_dir))
        .map_or_else(|error| RingAnswerKind::Failed(error.to_string()), RingAnswerKind::List)
}

fn ring(ReadRing { process, last }: ReadRing, ring_dir: &Path) -> RingAnswerKind {
    match RingReport::find(ring_dir, ProcessId(process), last as usize) {
        Ok(Some(report)) => PackedRing::pack(report)
            .map_or_else(|error| RingAnswerKind::Failed(error.to_string()), RingAnswerKind::Ring),
        Ok(None) => RingAnswerKind::Missing(ListRings {}),
        Err(error) => RingAnswerKind::Failed(error.to_string()),
    }
}

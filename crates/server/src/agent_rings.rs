//! Questions to agents about the rings of their hosts, and the answers.
//!
//! Each agent that can answer keeps a stream open ([`crate::ring_stream`]). A question waits for its
//! answer for [`ANSWER_WITHIN`]; when the agent goes, everything that waits for it ends at once.

use chronoscope_collect::rings::{
    RingAnswer, RingAnswerKind, RingMessageError, RingQuestion, RingSubject,
};
use chronoscope_store::StreamId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{Sender, error::TrySendError};
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::time::timeout;
use tonic::Status;

/// Within which an agent has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Questions of which one agent may not have answered each.
const WAITING_MAX: usize = 16;
/// Answers that are unpacked at a time: each takes up to some 150 MB meanwhile.
const UNPACKING_MAX: usize = 2;

/// Why an agent did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    /// It has no stream open.
    #[error("the agent has no stream for questions open: it connects again within 30 s")]
    NoStream,
    /// It has not answered those before.
    #[error("{WAITING_MAX} questions to the agent have not been answered yet")]
    Busy,
    /// It has gone, or opened another stream, before it answered.
    #[error("the agent disconnected before it answered")]
    Left,
    /// It is there and did not answer.
    #[error("the agent did not answer within {} s", ANSWER_WITHIN.as_secs())]
    Silent,
    /// It answered that it cannot.
    #[error("{0}")]
    Failed(String),
    /// It answered with something else.
    #[error("the agent's answer is refused: {0}")]
    Refused(#[from] RingMessageError),
    /// It answered another question.
    #[error("the agent answered another question: use programs of one release")]
    Other,
}

/// The agents that can be asked.
#[derive(Debug)]
pub(crate) struct AgentRings {
    agents: Mutex<HashMap<StreamId, AgentStream>>,
    answer_within: Duration,
    unpacking: Semaphore,
}

/// An open stream.
#[derive(Debug)]
struct AgentStream {
    /// Number of the stream, over all agents.
    number: u64,
    questions: Sender<Result<RingQuestion, Status>>,
    /// Number of the question asked last.
    asked: u64,
    waiting: HashMap<u64, oneshot::Sender<RingAnswerKind>>,
}

impl Default for AgentRings {
    fn default() -> Self {
        let unpacking = Semaphore::new(UNPACKING_MAX);
        Self { agents: Mutex::default(), answer_within: ANSWER_WITHIN, unpacking }
    }
}

impl AgentRings {
    /// Notes that an agent has opened a stream; what waits on an older one ends. `number` differs
    /// from those of all other streams.
    pub(crate) fn opened(
        &self,
        id: StreamId,
        number: u64,
        questions: Sender<Result<RingQuestion, Status>>,
    ) {
        let stream = AgentStream { number, questions, asked: 0, waiting: HashMap::new() };
        self.lock().insert(id, stream);
    }

    /// Notes that a stream has ended.
    pub(crate) fn closed(&self, id: StreamId, number: u64) {
        let mut agents = self.lock();
        if agents.get(&id).is_some_and(|stream| stream.number == number) {
            agents.remove(&id);
        }
    }

    /// Hands an answer to whoever asked. One that came too late is dropped.
    ///
    /// # Errors
    /// [`Status`] with which the stream ends: the agent answered what was never asked, or has a
    /// newer stream.
    pub(crate) fn answered(
        &self,
        id: StreamId,
        number: u64,
        answer: RingAnswer,
    ) -> Result<(), Status> {
        let mut agents = self.lock();
        let stream = agents.get_mut(&id).filter(|stream| stream.number == number);
        let stream = stream.ok_or_else(|| Status::aborted("this agent has a newer stream"))?;
        if answer.number == 0 || answer.number > stream.asked {
            return Err(Status::invalid_argument("an answer to a question that was not asked"));
        }
        let kind = answer.kind.unwrap_or_else(|| {
            RingAnswerKind::Failed("this server does not know the answer: update it".to_owned())
        });
        if let Some(waiting) = stream.waiting.remove(&answer.number) {
            let _ = waiting.send(kind); // whoever asked may have gone
        }
        Ok(())
    }

    /// Asks an agent, and waits for the answer.
    ///
    /// # Errors
    /// [`AskError`], at the latest after [`ANSWER_WITHIN`].
    pub(crate) async fn ask(
        self: &Arc<Self>,
        id: StreamId,
        subject: RingSubject,
    ) -> Result<RingAnswerKind, AskError> {
        let (answer, _asked) = self.send(id, subject)?;
        let answer = timeout(self.answer_within, answer).await.map_err(|_| AskError::Silent)?;
        match answer.map_err(|_| AskError::Left)? {
            RingAnswerKind::Failed(words) => Err(AskError::Failed(words)),
            kind => Ok(kind),
        }
    }

    /// A turn at unpacking an answer.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.unpacking.acquire().await.ok()
    }

    fn send(
        self: &Arc<Self>,
        id: StreamId,
        subject: RingSubject,
    ) -> Result<(oneshot::Receiver<RingAnswerKind>, Asked), AskError> {
        let mut agents = self.lock();
        let stream = agents.get_mut(&id).ok_or(AskError::NoStream)?;
        if stream.waiting.len() >= WAITING_MAX {
            return Err(AskError::Busy);
        }
        let number = stream.asked + 1;
        let question = RingQuestion { number, subject: Some(subject) };
        stream.questions.try_send(Ok(question)).map_err(|error| match error {
            TrySendError::Full(_) => AskError::Busy,
            TrySendError::Closed(_) => AskError::NoStream,
        })?;
        stream.asked = number;
        let (sender, receiver) = oneshot::channel();
        stream.waiting.insert(number, sender);
        let (agents, stream) = (self.clone(), stream.number);
        Ok((receiver, Asked { agents, id, stream, number }))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<StreamId, AgentStream>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that somebody waits for; dropped, nobody does any more.
struct Asked {
    agents: Arc<AgentRings>,
    id: StreamId,
    stream: u64,
    number: u64,
}

impl Drop for Asked {
    fn drop(&mut self) {
        let mut agents = self.agents.lock();
        let stream = agents.get_mut(&self.id).filter(|stream| stream.number == self.stream);
        if let Some(stream) = stream {
            stream.waiting.remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_collect::rings::ListRings;
    use tokio::sync::mpsc;

    const ID: StreamId = StreamId(1);
    const LIST: RingSubject = RingSubject::List(ListRings {});

    fn answer(number: u64) -> RingAnswer {
        RingAnswer { number, kind: Some(RingAnswerKind::Missing(ListRings {})) }
    }

    fn run<T>(test: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test)
    }

    #[test]
    fn an_answer_finds_its_question() {
        run(async {
            let agents = Arc::<AgentRings>::default();
            assert!(matches!(agents.ask(ID, LIST).await, Err(AskError::NoStream)));
            let (sender, mut questions) = mpsc::channel(4);
            agents.opened(ID, 7, sender);
            let asked = tokio::spawn({
                let agents = agents.clone();
                async move { agents.ask(ID, LIST).await }
            });
            let question = questions.recv().await.unwrap().unwrap();
            assert_eq!(question, RingQuestion { number: 1, subject: Some(LIST) });
            assert!(agents.answered(ID, 7, answer(2)).is_err(), "never asked");
            assert!(agents.answered(ID, 6, answer(1)).is_err(), "an older stream");
            agents.answered(ID, 7, answer(1)).unwrap();
            assert!(matches!(asked.await.unwrap(), Ok(RingAnswerKind::Missing(_))));
            agents.answered(ID, 7, answer(1)).unwrap(); // late, or twice: nobody waits
        });
    }

    #[test]
    fn a_silent_agent_is_given_up_and_a_flood_of_questions_is_refused() {
        run(async {
            let answer_within = Duration::from_millis(10);
            let agents = Arc::new(AgentRings { answer_within, ..AgentRings::default() });
            let (sender, _questions) = mpsc::channel(64);
            agents.opened(ID, 1, sender);
            assert!(matches!(agents.ask(ID, LIST).await, Err(AskError::Silent)));
            assert!(agents.lock()[&ID].waiting.is_empty(), "it is forgotten");
            let held: Vec<_> = (0..WAITING_MAX).map(|_| agents.send(ID, LIST).unwrap()).collect();
            assert!(matches!(agents.send(ID, LIST), Err(AskError::Busy)));
            drop(held);
            let (waits, _asked) = agents.send(ID, LIST).unwrap();
            agents.closed(ID, 1);
            assert!(waits.await.is_err(), "an agent that goes ends what waits for it");
        });
    }
}

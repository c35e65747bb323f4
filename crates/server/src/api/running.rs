//! Questions that are being answered: how many at a time, how far they are, and how they end early.

use super::error::ApiError;
use chronoscope_query::Progress;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;
use utoipa::ToSchema;

/// Questions answered at a time. Each reads with all processors: more would only take turns.
const AT_A_TIME: usize = 2;
/// Questions that may wait for their turn; further ones are refused.
const WAITING_MAX: usize = 64;
/// Letters of a question's name.
const ID_MAX: usize = 64;
/// Questions with a name that are remembered when they have ended.
const ENDED_MAX: usize = 256;

/// The questions of one server.
#[derive(Debug)]
pub(crate) struct Running {
    turns: Arc<Semaphore>,
    asked: Mutex<BTreeMap<u64, Arc<Asked>>>,
    /// Named questions that ended last, the latest at the back.
    ended: Mutex<VecDeque<QuestionProgress>>,
    numbers: std::sync::atomic::AtomicU64,
}

/// One question in progress.
#[derive(Debug)]
struct Asked {
    /// The caller's name for the question.
    id: Option<String>,
    unit: &'static str,
    began_ns: u64,
    runs: AtomicBool,
    progress: Progress,
}

/// Progress of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct QuestionProgress {
    /// The question's name, as given by the caller.
    pub id: String,
    /// State of the question.
    pub state: QuestionState,
    /// Units that are done.
    pub done: u64,
    /// Units in all; 0 while that is not known.
    pub total: u64,
    /// Unit of `done` and `total`: `segments` (files of at most a minute). Empty where it is not
    /// known.
    pub unit: String,
    /// Time since the question came, in milliseconds; for an ended question, until its end.
    pub elapsed_ms: u64,
}

/// State of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QuestionState {
    /// Others are answered first.
    Waiting,
    /// The question is being answered.
    Running,
    /// The question has been answered.
    Answered,
    /// The question was cancelled, or its client disconnected.
    Cancelled,
    /// The question failed, and the client got an error.
    Failed,
    /// No question of this name is waiting, running, or among the last 256 that have ended: it has
    /// not arrived yet, ended long ago, or never existed.
    Unknown,
}

impl Default for Running {
    fn default() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(AT_A_TIME)),
            asked: Mutex::default(),
            ended: Mutex::default(),
            numbers: std::sync::atomic::AtomicU64::default(),
        }
    }
}

impl Running {
    fn asked(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Asked>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a question outside the server's threads, in its turn. When the future is dropped
    /// (the connection was closed), when the question is cancelled by its name or when the server
    /// ends, `work` learns it from its [`Progress`].
    pub(crate) async fn run<T: Send + 'static>(
        self: Arc<Self>,
        id: Option<String>,
        unit: &'static str,
        work: impl FnOnce(&Progress) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let mut entry = self.enter(id, unit)?;
        let asked = entry.asked.clone();
        let Ok(turn) = self.turns.clone().acquire_owned().await else {
            return Err(ApiError::busy("the server ends"));
        };
        if asked.progress.cancel.load(Ordering::Relaxed) {
            return Err(ApiError::cancelled());
        }
        asked.runs.store(true, Ordering::Relaxed);
        let answered = tokio::task::spawn_blocking(move || {
            let answer = work(&asked.progress);
            drop(turn); // the next may begin, whether or not somebody still listens
            // Whatever an ended question came out with, nobody wants it.
            if asked.progress.cancel.load(Ordering::Relaxed) {
                return Err(ApiError::cancelled());
            }
            answer
        });
        let answer = answered.await.unwrap_or_else(|panic| Err(ApiError::failed(panic)));
        entry.end = match &answer {
            Ok(_) => QuestionState::Answered,
            Err(error) if *error == ApiError::cancelled() => QuestionState::Cancelled,
            Err(_) => QuestionState::Failed,
        };
        answer
    }

    fn enter(self: &Arc<Self>, id: Option<String>, unit: &'static str) -> Result<Entry, ApiError> {
        if let Some(id) = &id {
            check(id)?;
        }
        let mut all = self.asked();
        if all.len() >= AT_A_TIME + WAITING_MAX {
            return Err(ApiError::busy(format!("{} questions wait already", all.len()))
                .hint("cancel some of them, or try again later"));
        }
        if id.is_some() && all.values().any(|other| other.id == id) {
            return Err(ApiError::question("a question of that name is being answered")
                .hint("give each question its own name"));
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let asked = Arc::new(Asked {
            id,
            unit,
            began_ns: chronoscope_clock::monotonic_ns(),
            runs: AtomicBool::new(false),
            progress: Progress::default(),
        });
        all.insert(number, asked.clone());
        drop(all);
        // A dropped entry counts as cancelled unless the work sets another end.
        Ok(Entry { running: self.clone(), number, asked, end: QuestionState::Cancelled })
    }

    /// The question of a name that waits or is being answered.
    fn find(&self, id: &str) -> Option<Arc<Asked>> {
        let all = self.asked();
        let found = all.values().find(|asked| asked.id.as_deref() == Some(id));
        found.cloned()
    }

    /// Progress of the named question, or its end.
    pub(super) fn progress(&self, id: &str) -> QuestionProgress {
        if let Some(asked) = self.find(id) {
            return asked.progress();
        }
        let ended = self.ended();
        let last = ended.iter().rev().find(|ended| ended.id == id);
        last.cloned().unwrap_or_else(|| QuestionProgress {
            id: id.to_owned(),
            state: QuestionState::Unknown,
            done: 0,
            total: 0,
            unit: String::new(),
            elapsed_ms: 0,
        })
    }

    /// Cancels the named question; `false` where none of that name waits or is being answered.
    pub(super) fn cancel(&self, id: &str) -> bool {
        let found = self.find(id);
        if let Some(asked) = &found {
            asked.progress.cancel.store(true, Ordering::Relaxed);
        }
        found.is_some()
    }

    fn ended(&self) -> MutexGuard<'_, VecDeque<QuestionProgress>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    fn progress(&self) -> QuestionProgress {
        let elapsed_ns = chronoscope_clock::monotonic_ns().saturating_sub(self.began_ns);
        let runs = self.runs.load(Ordering::Relaxed);
        QuestionProgress {
            id: self.id.clone().unwrap_or_default(),
            state: if runs { QuestionState::Running } else { QuestionState::Waiting },
            done: self.progress.done.load(Ordering::Relaxed),
            total: self.progress.total.load(Ordering::Relaxed),
            unit: self.unit.to_owned(),
            elapsed_ms: elapsed_ns / 1_000_000,
        }
    }
}

/// A question's place in the list, for as long as somebody waits for it.
struct Entry {
    running: Arc<Running>,
    number: u64,
    asked: Arc<Asked>,
    /// State to record at the end.
    end: QuestionState,
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.asked.id.is_some() {
            let mut ended = self.running.ended();
            if ended.len() >= ENDED_MAX {
                ended.pop_front();
            }
            ended.push_back(QuestionProgress { state: self.end, ..self.asked.progress() });
        }
        // Stops the work of a dropped question. After an answer nothing reads the flag.
        self.asked.progress.cancel.store(true, Ordering::Relaxed);
        self.running.asked().remove(&self.number);
    }
}

/// Refuses a name that is none.
pub(super) fn check(id: &str) -> Result<(), ApiError> {
    let may = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase() || byte == b'-';
    if (1..=ID_MAX).contains(&id.len()) && id.bytes().all(may) {
        return Ok(());
    }
    Err(ApiError::question("question: 1 to 64 of the letters a-z, 0-9 and -"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Work that reports its start, and ends when it is told to or is cancelled.
    fn work(
        begun: mpsc::Sender<()>,
        end: mpsc::Receiver<()>,
    ) -> impl FnOnce(&Progress) -> Result<&'static str, ApiError> {
        move |progress| {
            begun.send(()).unwrap();
            loop {
                progress.check()?;
                match end.try_recv() {
                    Ok(()) => return Ok("answered"),
                    Err(_) => std::thread::yield_now(),
                }
            }
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn two_are_answered_and_the_third_waits_for_its_turn() {
        runtime().block_on(async {
            let running = Arc::new(Running::default());
            let (begun, begins) = mpsc::channel();
            let mut ends = Vec::new();
            let mut questions = Vec::new();
            for id in ["one", "two", "three"] {
                let (end, ended) = mpsc::channel();
                ends.push(end);
                let id = Some(id.to_owned());
                let question = running.clone().run(id, "segments", work(begun.clone(), ended));
                questions.push(tokio::spawn(question));
                tokio::task::yield_now().await; // it enters, in this order
            }
            begins.recv().unwrap();
            begins.recv().unwrap();
            assert!(begins.try_recv().is_err(), "a third began");
            let runs = |id: &str| running.find(id).unwrap().runs.load(Ordering::Relaxed);
            assert_eq!(["one", "two", "three"].map(runs), [true, true, false]);
            // A name that is in use is refused; the same question would follow the wrong one.
            let (_end, ended) = mpsc::channel();
            let again = running.clone().run(Some("two".into()), "segments", work(begun, ended));
            assert_eq!(
                again.await.unwrap_err(),
                ApiError::question("a question of that name is being answered")
                    .hint("give each question its own name")
            );
            for end in ends {
                end.send(()).unwrap();
            }
            for question in questions {
                assert_eq!(question.await.unwrap(), Ok("answered"));
            }
            assert!(running.asked().is_empty());
        });
    }

    #[test]
    fn a_question_ends_when_it_is_cancelled_or_nobody_waits_for_it() {
        runtime().block_on(async {
            let running = Arc::new(Running::default());
            for by_name in [true, false] {
                let (begun, begins) = mpsc::channel();
                let (end, ended) = mpsc::channel();
                let id = Some("a-1".to_owned());
                let question = running.clone().run(id, "segments", work(begun, ended));
                let question = tokio::spawn(question);
                tokio::task::yield_now().await;
                begins.recv().unwrap();
                if by_name {
                    running.find("a-1").unwrap().progress.cancel.store(true, Ordering::Relaxed);
                    assert_eq!(question.await.unwrap(), Err(ApiError::cancelled()));
                } else {
                    question.abort();
                    assert!(question.await.unwrap_err().is_cancelled());
                }
                // The work itself has ended, or will: its end of the channel goes with it.
                while end.send(()).is_ok() {
                    std::thread::yield_now();
                }
                assert!(running.asked().is_empty());
            }
        });
    }

    #[test]
    fn names_are_letters_of_a_few_kinds() {
        for id in ["a", "0-9", &"z".repeat(64)] {
            assert_eq!(check(id), Ok(()), "{id}");
        }
        for id in ["", "A", "a b", "ä", &"z".repeat(65)] {
            assert!(check(id).is_err(), "{id}");
        }
    }
}

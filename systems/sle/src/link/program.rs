//! A program that is connected to a forward link: the answers that it gets.

use super::message::RequestedCltu;
use super::socket::LinkStream;
use crate::journal::FateWord;
use crate::recording;
use chronoscope_record::Started;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Octets of answers that wait for a program; one that reads nothing is disconnected then.
const ANSWERS_MAX: usize = 16 << 20;
/// Version of the answers. Within a version keys are only added.
const FORMAT: u32 = 1;

/// A program that is connected.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) peer: String,
    pub(super) stream: LinkStream,
    answers: Mutex<AnswerQueue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct AnswerQueue {
    waiting: VecDeque<String>,
    octets: usize,
    /// CLTUs of the program without their last fate.
    open: usize,
    /// The program sends no more.
    is_read: bool,
    ends: bool,
}

impl Program {
    /// A program whose connection this is.
    pub(super) fn new(peer: &str, stream: LinkStream) -> Self {
        let answers = Mutex::default();
        Self { peer: peer.to_owned(), stream, answers, changed: Condvar::new() }
    }

    /// It has given a CLTU.
    pub(super) fn open(&self) {
        self.lock().open += 1;
    }

    fn lock(&self) -> MutexGuard<'_, AnswerQueue> {
        // Lock poisoning is ignored: every update is a single step.
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts an answer behind the others; `is_last`: of a CLTU.
    pub(super) fn answer(&self, mut value: Value, is_last: bool) {
        value["format"] = json!(FORMAT);
        let line = format!("{value}\n");
        let mut answers = self.lock();
        answers.open -= usize::from(is_last);
        if answers.ends {
            return; // the fates are in the journal, and can be asked for
        }
        answers.octets += line.len();
        answers.waiting.push_back(line);
        answers.ends |= answers.is_read && answers.open == 0;
        if answers.octets > ANSWERS_MAX {
            answers.ends = true;
            self.stream.shutdown();
        }
        drop(answers);
        self.changed.notify_one();
    }

    pub(super) fn end(&self) {
        self.lock().ends = true;
        self.changed.notify_all();
    }

    /// The program sends no more; its connection ends with the last answer.
    pub(super) fn end_reading(&self) {
        let mut answers = self.lock();
        answers.is_read = true;
        answers.ends |= answers.open == 0;
        drop(answers);
        self.changed.notify_all();
    }

    /// Writes answers until the connection is to end, and all that wait then.
    pub(super) fn write(&self, mut to: LinkStream) -> io::Result<()> {
        loop {
            let mut answers = self.lock();
            while answers.waiting.is_empty() && !answers.ends {
                answers = self.changed.wait(answers).unwrap_or_else(PoisonError::into_inner);
            }
            let text: String = answers.waiting.drain(..).collect();
            answers.octets = 0;
            let ends = answers.ends;
            drop(answers);
            to.write_all(text.as_bytes())?;
            if ends {
                return Ok(());
            }
        }
    }
}

/// A CLTU that waits for the link, or is on its way.
#[derive(Debug)]
pub(super) struct GivenCltu {
    pub(super) request: RequestedCltu,
    /// Its index in the journal; `None`: it was not reserved yet.
    pub(super) index: Option<u64>,
    pub(super) program: Arc<Program>,
    /// When it was received, monotonic, in ns.
    pub(super) received_ns: u64,
    /// From its receipt to its last fate.
    pub(super) transaction: Option<Started>,
}

impl GivenCltu {
    /// Tells its program what became of it. After the last fate no other answer follows.
    pub(super) fn answer(
        &mut self,
        number: Option<u32>,
        fate: FateWord,
        diagnostic: Option<&str>,
        is_last: bool,
    ) {
        self.program.answer(
            json!({
                "reference": self.request.reference,
                "index": self.index,
                "cltu": number,
                "fate": fate.word(),
                "diagnostic": diagnostic,
                "final": is_last,
            }),
            is_last,
        );
        if is_last && let Some(transaction) = self.transaction.take() {
            transaction.stop(recording::status(fate == FateWord::Radiated));
        }
    }
}

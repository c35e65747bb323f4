//! Programs that give CLTUs to a link: their messages in, the CLTUs that wait.

use super::door::{DoorSeat, LinkDoor};
use super::ledger::CltuLedger;
use super::message::{LinkRequest, RequestReader, RequestedCltu};
use super::program::{GivenCltu, Program};
use super::socket::{LinkAddress, LinkStream};
use crate::journal::FateWord;
use crate::provider::ProviderLog;
use crate::recording::{self, TAKE_CLTU};
use chronoscope_clock as clock;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// At the end of the link: longest time until programs have read their answers, in ns.
const END_NS: u64 = 1_000_000_000;

#[derive(Debug, Default)]
struct IntakeState {
    waiting: VecDeque<GivenCltu>,
    octets: usize,
    received: u64,
    /// Answered `not-sent`, because the link was not up for too long.
    not_sent: u64,
    malformed: u64,
    programs: Vec<Arc<Program>>,
    is_active: bool,
    ends: bool,
}

/// The CLTUs that wait, and the programs that gave them.
#[derive(Debug)]
pub(super) struct CltuIntake {
    state: Mutex<IntakeState>,
    changed: Condvar,
    /// Octets that may wait.
    octets_max: usize,
    /// How long a CLTU waits while the link is not up, in ns.
    hold_ns: u64,
    ledger: Arc<CltuLedger>,
    log: ProviderLog,
    name: String,
}

impl CltuIntake {
    pub(super) fn new(
        name: &str,
        (octets_max, hold_s): (usize, u32),
        ledger: Arc<CltuLedger>,
        log: &ProviderLog,
    ) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            octets_max,
            hold_ns: u64::from(hold_s) * 1_000_000_000,
            ledger,
            log: log.clone(),
            name: name.to_owned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, IntakeState> {
        // Lock poisoning is ignored: every update is a single step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens for programs.
    pub(super) fn open(self: &Arc<Self>, address: &LinkAddress) -> io::Result<LinkDoor> {
        let intake = Arc::clone(self);
        LinkDoor::open(address, self.log.clone(), move |stream, peer, seat| {
            if let Err(error) = intake.enter(stream, &peer, seat) {
                intake.log.say(&format!("{}: {peer}: {error}", intake.name));
            }
        })
    }

    fn enter(self: &Arc<Self>, stream: LinkStream, peer: &str, seat: DoorSeat) -> io::Result<()> {
        let (from, to) = (stream.try_clone()?, stream.try_clone()?);
        let program = Arc::new(Program::new(peer, stream));
        let mut state = self.lock();
        if state.ends {
            return Ok(());
        }
        state.programs.push(Arc::clone(&program));
        drop(state);
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let (intake, reading) = (Arc::clone(self), Arc::clone(&program));
        let (writing, leaving) = (Arc::clone(&program), Arc::clone(self));
        thread("sle-answers").spawn(move || {
            let _seat = seat;
            // A program that has gone can ask for fates again.
            let _ = writing.write(to);
            writing.end();
            writing.stream.shutdown();
            let is_other = |one: &Arc<Program>| !Arc::ptr_eq(one, &writing);
            leaving.lock().programs.retain(is_other);
            leaving.changed.notify_all();
        })?;
        let spawned = thread("sle-program").spawn(move || intake.read(from, &reading));
        if spawned.is_err() {
            program.end();
        }
        spawned.map(drop)
    }

    /// Reads a program's messages until its end. What it has given stays.
    fn read(&self, mut from: LinkStream, program: &Arc<Program>) {
        let mut reader = RequestReader::default();
        let mut octets = vec![0; 1 << 16];
        'stream: loop {
            match from.read(&mut octets) {
                Ok(0) => break,
                Ok(count) => reader.extend(&octets[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            }
            loop {
                match reader.next_request() {
                    Ok(Some(LinkRequest::Cltu(request))) => {
                        if !self.take(request, program) {
                            break 'stream;
                        }
                    }
                    Ok(Some(LinkRequest::Fates { index })) => {
                        let fates = self.ledger.from(index);
                        fates.into_iter().for_each(|fate| program.answer(fate, false));
                        program.answer(json!({ "end": true }), false);
                    }
                    Ok(None) => break,
                    Err(fault) => {
                        self.lock().malformed += 1;
                        self.log.say(&format!("{}: {}: {fault}", self.name, program.peer));
                        program.answer(json!({ "error": fault.to_string() }), false);
                        break 'stream;
                    }
                }
            }
        }
        // It may have closed its half only: the fates of its CLTUs follow.
        program.end_reading();
    }

    /// Puts a CLTU behind the others; waits while there is no room. `false`: the link is at its end.
    fn take(&self, request: RequestedCltu, program: &Arc<Program>) -> bool {
        let transaction = recording::is_on().then(|| TAKE_CLTU.start());
        let octets = request.data.len();
        program.open();
        let mut state = self.lock();
        while state.octets > 0 && state.octets + octets > self.octets_max && !state.ends {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.received += 1;
        state.octets += octets;
        let received_ns = clock::monotonic_ns();
        let program = Arc::clone(program);
        state.waiting.push_back(GivenCltu {
            request,
            index: None,
            program,
            received_ns,
            transaction,
        });
        let goes_on = !state.ends;
        drop(state);
        self.changed.notify_all();
        goes_on
    }

    /// The link is up, or not: then CLTUs wait for `hold_s` only.
    pub(super) fn set_active(&self, is_active: bool) {
        self.lock().is_active = is_active;
    }

    /// Waits for a CLTU, at most so long.
    pub(super) fn wait(&self, at_most: Duration) {
        let state = self.lock();
        if state.waiting.is_empty() {
            drop(self.changed.wait_timeout(state, at_most));
        }
    }

    /// The first CLTUs that wait, at most so many.
    pub(super) fn next(&self, max: usize) -> Vec<GivenCltu> {
        let mut state = self.lock();
        let count = state.waiting.len().min(max);
        let taken: Vec<_> = state.waiting.drain(..count).collect();
        state.octets -= taken.iter().map(|cltu| cltu.request.data.len()).sum::<usize>();
        drop(state);
        if !taken.is_empty() {
            self.changed.notify_all();
        }
        taken
    }

    /// Answers the CLTUs that have waited too long for the link. Called every 50 ms by the daemon.
    pub(super) fn tick(&self) {
        let mut state = self.lock();
        if state.is_active {
            return;
        }
        let now_ns = clock::monotonic_ns();
        let is_late = |cltu: &GivenCltu| now_ns.saturating_sub(cltu.received_ns) >= self.hold_ns;
        let ends = state.ends;
        let mut late = Vec::new();
        while let Some(cltu) = state.waiting.pop_front_if(|cltu| ends || is_late(cltu)) {
            state.octets -= cltu.request.data.len();
            state.not_sent += 1;
            late.push(cltu);
        }
        drop(state);
        for mut cltu in late {
            cltu.answer(None, FateWord::NotSent, Some("the link is not up"), true);
            self.changed.notify_all();
        }
    }

    /// Takes no more CLTUs, answers those that wait, and disconnects the programs when they have read
    /// their answers.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.ends = true;
        state.is_active = false;
        drop(state);
        self.changed.notify_all();
        self.tick();
        let mut state = self.lock();
        state.programs.iter().for_each(|program| program.end());
        let until_ns = clock::monotonic_ns() + END_NS;
        while !state.programs.is_empty() && clock::monotonic_ns() < until_ns {
            let waited = self.changed.wait_timeout(state, Duration::from_millis(20));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Counters, as JSON.
    pub(super) fn status(&self) -> Value {
        let state = self.lock();
        json!({
            "programs": state.programs.len(),
            "received": state.received,
            "waiting": state.waiting.len(),
            "waiting_octets": state.octets,
            "not_sent": state.not_sent,
            "malformed": state.malformed,
        })
    }
}

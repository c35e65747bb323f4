//! The coordinator: starts processes, owns their clock, says who runs.
//!
//! [`crate::schedule`] decides; here are the sockets, the page, the processes and the bounds of
//! real time on everything that a process may do wrong.

mod outcome;
mod sockets;

pub use outcome::{Failure, Outcome, ProcessOutcome};

use crate::counters::Counters;
use crate::page::{Page, SLOTS};
use crate::process::{self, Program};
use crate::schedule::{Mode, Ordinal, Schedule, Step};
use crate::wire::{Kind, Packet, Token, Waits};
use crate::{player::Player, preload};
use chronoscope_clock as clock;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sockets::{Heard, Line, Sockets};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

/// How a replay runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// One process at a time, or all of an instant.
    pub mode: Mode,
    /// UTC at the beginning, ns since 1970.
    pub start_utc_ns: i64,
    /// Virtual time after which the replay ends; until nobody waits for a time without.
    pub duration: Option<Duration>,
    /// From which the random numbers of all processes come.
    pub seed: u64,
    /// Real time that a process may run without waiting.
    pub run_max: Duration,
    /// Real time until a process must have said hello.
    pub hello_max: Duration,
    /// Real time for which to look for answers of strangers before the clock moves.
    pub stranger_wait: Duration,
    /// Of such time no more than this in the whole replay.
    pub stranger_wait_total: Duration,
    /// Virtual time that processes have to end after the end, when they are asked to.
    pub stop: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Serial,
            start_utc_ns: 1_600_000_000_000_000_000,
            duration: None,
            seed: 1,
            run_max: Duration::from_secs(20),
            hello_max: Duration::from_secs(20),
            stranger_wait: Duration::from_millis(200),
            stranger_wait_total: Duration::from_secs(5),
            stop: Duration::from_secs(10),
        }
    }
}

/// The monotonic clock's first value: not 0, which programs take for "never".
pub const START_MONOTONIC_NS: i64 = 1_000_000_000_000;

#[derive(Debug, Default)]
struct Process {
    outcome: ProcessOutcome,
    /// Number of the parent, for a child whose own number is not known yet.
    parent: Option<i32>,
    line: Option<Line>,
    child: Option<Child>,
    counters: Option<Counters>,
    /// Real time (monotonic ns) since when it is announced or runs; `None` while it waits.
    since_ns: Option<u64>,
    reads_at_grant: u64,
    executes: bool,
}

/// A replay being prepared or under way.
#[derive(Debug)]
pub struct Coordinator {
    settings: Settings,
    folder: PathBuf,
    library: PathBuf,
    page: Page,
    sockets: Sockets,
    schedule: Schedule,
    processes: Vec<Process>,
    /// Hellos that nobody has announced yet.
    early: Vec<(Line, Packet)>,
    lines: BTreeMap<Line, Ordinal>,
    outcome: Outcome,
    stranger_spent: Duration,
    stopping: bool,
}

impl Coordinator {
    /// A replay whose page and socket are in `folder`, an empty one of its own.
    ///
    /// # Errors
    /// When they cannot be made there.
    pub fn new(folder: &Path, settings: Settings) -> Result<Self, Failure> {
        let page = Page::create(&folder.join("page"))?;
        page.set(settings.start_utc_ns, START_MONOTONIC_NS)?;
        Ok(Self {
            library: preload::put(folder)?,
            sockets: Sockets::new(&folder.join("socket"))?,
            schedule: Schedule::new(settings.mode, START_MONOTONIC_NS),
            page,
            settings,
            folder: folder.to_owned(),
            processes: Vec::new(),
            early: Vec::new(),
            lines: BTreeMap::new(),
            outcome: Outcome {
                failure: None,
                processes: Vec::new(),
                elapsed: Duration::ZERO,
                real: Duration::ZERO,
                grants: 0,
                moves: 0,
                inputs: 0,
                strangers: Vec::new(),
                remarks: Vec::new(),
            },
            stranger_spent: Duration::ZERO,
            stopping: false,
        })
    }

    /// Starts a program, which waits for its first turn.
    ///
    /// # Errors
    /// When it cannot be started, or there are too many.
    pub fn start(&mut self, program: &Program) -> Result<Ordinal, Failure> {
        let child = process::start(program, &self.library, &self.folder)
            .map_err(|error| Failure::Io(format!("{}: {error}", program.name)))?;
        let pid = child.id().cast_signed();
        let who = self.announce(None, pid)?;
        self.processes[who].outcome.name.clone_from(&program.name);
        self.processes[who].child = Some(child);
        Ok(who)
    }

    /// Runs until the end, or until something goes wrong that the outcome then names. Whoever is
    /// left of the processes is killed.
    #[must_use]
    pub fn run(mut self, player: &mut Player) -> Outcome {
        let start_ns = clock::monotonic_ns();
        if let Err(failure) = self.steps(player) {
            self.outcome.failure = Some(failure);
        }
        self.outcome.real = Duration::from_nanos(clock::monotonic_ns() - start_ns);
        self.finish()
    }

    fn steps(&mut self, player: &mut Player) -> Result<(), Failure> {
        player.endpoints().iter().for_each(|end| self.schedule.outside(*end));
        let end_ns = self.settings.duration.map(after_start);
        loop {
            let input_ns = if self.stopping { None } else { player.next_ns() };
            match self.schedule.next(input_ns) {
                Step::Run(granted) => {
                    for (who, tokens) in granted {
                        self.grant(who, tokens, 0)?;
                    }
                }
                Step::Await => self.hear(player)?,
                Step::Input => {
                    let tokens = player.deliver(self.schedule.now_ns(), self.settings.mode)?;
                    self.outcome.inputs += 1;
                    tokens.into_iter().for_each(|token| self.schedule.token(None, token));
                }
                Step::Advance(_) | Step::Idle if self.asks_strangers()? => {}
                Step::Advance(to) if end_ns.is_none_or(|end| to <= end) => self.move_clock(to)?,
                Step::Advance(_) | Step::Idle if self.stopping => return Ok(()),
                Step::Advance(_) | Step::Idle => self.stop(end_ns)?,
            }
        }
    }

    fn move_clock(&mut self, to_ns: i64) -> Result<(), Failure> {
        self.schedule.advance(to_ns);
        let passed = self.schedule.now_ns() - START_MONOTONIC_NS;
        self.page.set(self.settings.start_utc_ns + passed, self.schedule.now_ns())?;
        self.outcome.moves += 1;
        Ok(())
    }

    /// The end: whoever is left is asked to end, and has a little virtual time for it.
    fn stop(&mut self, end_ns: Option<i64>) -> Result<(), Failure> {
        if let Some(end_ns) = end_ns.filter(|end| *end > self.schedule.now_ns()) {
            self.move_clock(end_ns)?;
        }
        self.outcome.elapsed = self.elapsed();
        self.stopping = true;
        self.settings.duration = Some(self.outcome.elapsed + self.settings.stop);
        for who in 0..self.processes.len() {
            let process = &self.processes[who];
            if process.child.is_some() && process.line.is_some() {
                self.signal(who, Signal::SIGTERM);
                self.schedule.wake(who);
            }
        }
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos((self.schedule.now_ns() - START_MONOTONIC_NS).cast_unsigned())
    }

    fn signal(&mut self, who: Ordinal, signal: Signal) {
        let ProcessOutcome { pid, name, .. } = &self.processes[who].outcome;
        if let Err(error) = kill(Pid::from_raw(*pid), signal) {
            self.outcome.remarks.push(format!("{signal} to {name} (pid {pid}): {error}"));
        }
    }

    /// Grants the run with real time to those that wait, when somebody spoke to a stranger who
    /// may still answer. True when it did.
    fn asks_strangers(&mut self) -> Result<bool, Failure> {
        if self.schedule.strangers().is_empty()
            || self.stopping
            || self.stranger_spent >= self.settings.stranger_wait_total
        {
            return Ok(false);
        }
        let Some(who) = self.schedule.grant_stranger_caller() else { return Ok(false) };
        let wait = self.settings.stranger_wait;
        self.stranger_spent += wait;
        self.grant(who, Vec::new(), i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX))?;
        Ok(true)
    }

    fn grant(&mut self, who: Ordinal, mut tokens: Vec<Token>, wait_ns: i64) -> Result<(), Failure> {
        if tokens.len() > 1024 {
            let left = tokens.len() - 1024;
            self.outcome.remarks.push(format!("{left} arrivals not waited for"));
            tokens.truncate(1024);
        }
        let reads = self.page.activity(who)?.clock_reads;
        let process = &mut self.processes[who];
        process.since_ns = Some(clock::monotonic_ns());
        process.reads_at_grant = reads;
        process.outcome.grants += 1;
        self.outcome.grants += 1;
        if let Some(line) = process.line {
            self.sockets.say(line, &Packet { tokens, ..Packet::new(Kind::Go, wait_ns, 0) })?;
        }
        Ok(())
    }

    /// Hears what processes say; after a while without a word looks whether something is wrong.
    fn hear(&mut self, player: &mut Player) -> Result<(), Failure> {
        let heard = self.sockets.hear(50)?;
        if heard.is_empty() {
            player.drain()?;
            return self.look();
        }
        for (line, what) in heard {
            match what {
                Heard::Packet(packet) => self.packet(line, packet)?,
                Heard::Closed => self.closed(line)?,
                Heard::Bad(error) => {
                    let outcome = self.lines.get(&line).map(|who| &self.processes[*who].outcome);
                    let (name, pid) =
                        outcome.map_or(("?".to_owned(), 0), |o| (o.name.clone(), o.pid));
                    return Err(Failure::Wire { name, pid, error });
                }
            }
        }
        player.drain()?;
        Ok(())
    }

    fn packet(&mut self, line: Line, packet: Packet) -> Result<(), Failure> {
        let Some(&who) = self.lines.get(&line) else {
            if packet.kind == Kind::Hello {
                self.hello(line, packet)?;
            }
            return Ok(());
        };
        for token in &packet.tokens {
            self.schedule.token(Some(who), *token);
        }
        match packet.kind {
            Kind::Quiescent => {
                self.processes[who].since_ns = None;
                self.schedule.quiescent(who, packet.a, Waits(packet.flags));
            }
            Kind::Fork => self.forked(who, packet.a)?,
            Kind::Exec => self.executes(who, true),
            Kind::ExecFailed => self.executes(who, false),
            Kind::Signal => self.schedule.wake(who),
            Kind::Refused => {
                let name = &self.processes[who].outcome.name;
                self.outcome.remarks.push(format!("{name}: {} is not possible", packet.text));
            }
            Kind::Tokens | Kind::Hello | Kind::Welcome | Kind::Go => {}
        }
        Ok(())
    }

    fn announce(&mut self, parent: Option<Ordinal>, pid: i32) -> Result<Ordinal, Failure> {
        if self.processes.len() == SLOTS {
            return Err(Failure::TooMany);
        }
        let who = self.schedule.announce(parent);
        let parent = parent.map(|parent| self.processes[parent].outcome.pid);
        let outcome = ProcessOutcome { pid, ..ProcessOutcome::default() };
        let since_ns = Some(clock::monotonic_ns());
        self.processes.push(Process { outcome, parent, since_ns, ..Process::default() });
        Ok(who)
    }

    /// `pid` 0: a child whose number its parent does not know.
    fn forked(&mut self, parent: Ordinal, pid: i64) -> Result<(), Failure> {
        let who = self.announce(Some(parent), i32::try_from(pid).unwrap_or(0))?;
        self.processes[who].outcome.name =
            format!("child of {}", self.processes[parent].outcome.name);
        let early = std::mem::take(&mut self.early);
        for (line, packet) in early {
            self.hello(line, packet)?;
        }
        Ok(())
    }

    /// Who said hello: by its number, or as the nameless child of its parent.
    fn announced(&self, pid: i64, parent: i64) -> Option<Ordinal> {
        let free = |p: &Process| p.line.is_none();
        let by_pid = self.processes.iter().position(|p| free(p) && i64::from(p.outcome.pid) == pid);
        by_pid.or_else(|| {
            let of = |p: &Process| p.parent.is_some_and(|number| i64::from(number) == parent);
            self.processes.iter().position(|p| free(p) && p.outcome.pid == 0 && of(p))
        })
    }

    fn hello(&mut self, line: Line, packet: Packet) -> Result<(), Failure> {
        let Some(who) = self.announced(packet.a, packet.b) else {
            self.early.push((line, packet));
            return Ok(());
        };
        let process = &mut self.processes[who];
        let pid = i32::try_from(packet.a).unwrap_or(0);
        process.outcome.pid = pid;
        if process.child.is_none() {
            process.outcome.name = packet.text.trim().to_owned();
        }
        process.line = Some(line);
        process.since_ns = None;
        if process.counters.is_none() {
            match Counters::attach(pid) {
                Ok(counters) => process.counters = Some(counters),
                Err(error)
                    if self.outcome.remarks.iter().all(|r| !r.starts_with("no counters")) =>
                {
                    self.outcome.remarks.push(format!("no counters: {error}"));
                }
                Err(_) => {}
            }
        }
        self.lines.insert(line, who);
        let slot = i64::try_from(who).unwrap_or(0);
        let seed = self.settings.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (who as u64);
        self.sockets.say(line, &Packet::new(Kind::Welcome, slot, seed.cast_signed()))?;
        self.schedule.hello(who);
        Ok(())
    }

    fn executes(&mut self, who: Ordinal, begins: bool) {
        self.processes[who].executes = begins;
        self.processes[who].since_ns = Some(clock::monotonic_ns());
        if begins { self.schedule.exec(who) } else { self.schedule.resume(who) }
    }

    /// A connection ended: the process executes another program, or is dead in a moment.
    fn closed(&mut self, line: Line) -> Result<(), Failure> {
        self.sockets.close(line);
        let Some(who) = self.lines.remove(&line) else { return Ok(()) };
        let process = &mut self.processes[who];
        process.line = None;
        if std::mem::take(&mut process.executes) {
            return Ok(());
        }
        process.since_ns = None;
        let pid = process.outcome.pid;
        let start_ns = clock::monotonic_ns();
        while alive(pid) && clock::monotonic_ns() - start_ns < 2_000_000_000 {
            clock::sleep(Duration::from_micros(50));
        }
        if alive(pid) {
            let name = &process.outcome.name;
            self.outcome.remarks.push(format!("{name} (pid {pid}) left the replay and lives"));
        }
        self.schedule.gone(who);
        Ok(())
    }

    /// Nobody said a word for a while: is somebody over its bound of real time?
    fn look(&mut self) -> Result<(), Failure> {
        let now_ns = clock::monotonic_ns();
        for who in 0..self.processes.len() {
            let process = &mut self.processes[who];
            let Some(since_ns) = process.since_ns else { continue };
            let (name, pid) = (process.outcome.name.clone(), process.outcome.pid);
            let real = Duration::from_nanos(now_ns.saturating_sub(since_ns));
            if process.line.is_none() {
                let exit = process.child.as_mut().map(Child::try_wait).transpose()?.flatten();
                if let Some(exit) = exit {
                    return Err(Failure::EndedEarly { name, pid, exit: exit.to_string() });
                }
                if pid != 0 && !alive(pid) {
                    process.since_ns = None;
                    self.outcome.remarks.push(format!("{name} (pid {pid}) ended at once"));
                    self.schedule.gone(who);
                } else if real > self.settings.hello_max {
                    return Err(Failure::NoHello { name, pid, real });
                }
            } else if real > self.settings.run_max {
                let reads = self.page.activity(who)?.clock_reads - process.reads_at_grant;
                return Err(if reads > 10_000 {
                    Failure::Spins { name, pid, reads, real }
                } else {
                    Failure::NeverQuiescent { name, pid, real }
                });
            }
        }
        Ok(())
    }

    /// Reads what was measured, kills who is left.
    fn finish(mut self) -> Outcome {
        if !self.stopping {
            self.outcome.elapsed = self.elapsed();
        }
        for who in 0..self.processes.len() {
            let activity = self.page.activity(who).unwrap_or_default();
            let process = &mut self.processes[who];
            process.outcome.activity = activity;
            match process.counters.as_ref().map(Counters::read).transpose() {
                Ok(counts) => process.outcome.counts = counts,
                Err(error) => {
                    let remark = format!("counters of {}: {error}", process.outcome.name);
                    self.outcome.remarks.push(remark);
                }
            }
            let over = process.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            if over.is_none() && (process.line.is_some() || process.child.is_some()) {
                self.signal(who, Signal::SIGKILL);
            }
            let process = &mut self.processes[who];
            let exit = process.child.as_mut().and_then(|child| child.wait().ok());
            process.outcome.exit = exit.map(|status| status.to_string());
        }
        self.outcome.strangers =
            self.schedule.strangers().iter().map(ToString::to_string).collect();
        self.outcome.processes =
            self.processes.into_iter().map(|process| process.outcome).collect();
        self.outcome
    }
}

fn after_start(duration: Duration) -> i64 {
    let ns = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    START_MONOTONIC_NS.saturating_add(ns)
}

/// Whether a process runs: not a zombie, not gone.
fn alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

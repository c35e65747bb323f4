//! The coordinator: starts processes, owns their clock, and decides which of them run.
//!
//! [`crate::schedule`] decides; here are the sockets, the page, the processes and the bounds of
//! real time on everything that a process may do wrong.

mod control;
mod heap_use;
mod held;
mod outcome;
mod sockets;
mod window;

pub use control::{Command, Control};
pub use heap_use::HeapUse;
pub use outcome::{Failure, LeadIn, Outcome, ProcessOutcome};

use crate::counters::Counters;
use crate::heap::NumberedHeap;
use crate::page::{Page, SLOTS};
use crate::process::{self, Program, Running};
use crate::schedule::{Ordinal, Schedule, ScheduleMode, ScheduleStep};
use crate::wire::{Packet, PacketKind, Token, Waits};
use crate::{player::Player, preload};
use chronoscope_clock as clock;
use control::{Hold, Next};
use heap_use::heap_of;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use sockets::{ConnectionId, ConnectionMessage, Sockets};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use window::Baseline;

/// Settings of a replay.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether one process runs at a time, or all of an instant.
    pub mode: ScheduleMode,
    /// UTC at the beginning, ns since 1970.
    pub start_utc_ns: i64,
    /// Virtual time after which the replay ends; without it, when no process waits for a time.
    pub duration: Option<Duration>,
    /// Without a duration: virtual time between the last input and the end.
    pub after_inputs: Option<Duration>,
    /// Seed of the random numbers of all processes.
    pub seed: u64,
    /// Real time that a process may run without waiting.
    pub run_max: Duration,
    /// Real time within which a process must have sent its hello.
    pub hello_max: Duration,
    /// Real time for which answers of strangers are awaited before the clock moves.
    pub stranger_wait: Duration,
    /// Limit of such time in the whole replay.
    pub stranger_wait_total: Duration,
    /// Virtual time that processes have to end after the end, when they are asked to.
    pub stop: Duration,
    /// Whether the processor counts what each process executes.
    pub counters: bool,
    /// Whether the thread that runs it has process numbers of its own.
    pub own_numbers: bool,
    /// Ends the replay early when it becomes true.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Real time that the whole replay may take, without pauses.
    pub limit: Option<Duration>,
    /// Virtual time after which the window begins: measurements are those of the window.
    pub window_after: Option<Duration>,
    /// Orders to pause, to step and to go on.
    pub control: Option<Control>,
    /// Whether it is paused when it begins.
    pub paused: bool,
    /// Virtual time by real time, at most; as fast as it can without.
    pub pace: Option<f64>,
    /// Folder of the pages in which processes count their heaps ([`crate::heap`]).
    pub heap_pages: Option<PathBuf>,
}

/// Progress of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Virtual time that passed.
    pub elapsed: Duration,
    /// The virtual clock's UTC, ns since 1970.
    pub utc_ns: i64,
    /// Real time that passed, without pauses.
    pub real: Duration,
    /// Times that a process was granted the run.
    pub grants: u64,
    /// Number of delivered inputs.
    pub inputs: u64,
    /// Whether it is paused, and all processes wait.
    pub paused: bool,
    /// Whether the window begins now: told once, before anything of the window happens.
    pub window_begins: bool,
}

/// Real time between two reports of progress, ns.
const PROGRESS_NS: u64 = 200_000_000;

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: ScheduleMode::Serial,
            start_utc_ns: 1_600_000_000_000_000_000,
            duration: None,
            after_inputs: None,
            seed: 1,
            run_max: Duration::from_secs(20),
            hello_max: Duration::from_secs(20),
            stranger_wait: Duration::from_millis(200),
            stranger_wait_total: Duration::from_secs(5),
            stop: Duration::from_secs(10),
            counters: true,
            own_numbers: false,
            interrupt: None,
            limit: None,
            window_after: None,
            control: None,
            paused: false,
            pace: None,
            heap_pages: None,
        }
    }
}

/// The monotonic clock's first value: not 0, which programs take for "never".
pub const START_MONOTONIC_NS: i64 = 1_000_000_000_000;

#[derive(Debug, Default)]
struct Process {
    outcome: ProcessOutcome,
    /// The kernel's number of it as this program sees it; 0 while only its parent has named it.
    /// Its own number of itself is in the outcome.
    host_pid: i32,
    parent: Option<Ordinal>,
    line: Option<ConnectionId>,
    child: Option<Running>,
    counters: Option<Counters>,
    /// Real time (monotonic ns) since when it is announced or runs; `None` while it waits.
    since_ns: Option<u64>,
    reads_at_grant: u64,
    executes: bool,
    /// Memory at the end, before it was asked to end.
    memory: Option<process::Memory>,
    /// Its program knows that the window has begun.
    is_counting: bool,
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
    /// Hellos of processes that were not announced yet.
    early: Vec<(ConnectionId, Packet)>,
    lines: BTreeMap<ConnectionId, Ordinal>,
    outcome: Outcome,
    stranger_spent: Duration,
    stopping: bool,
    hold: Hold,
    /// The window's begin is still to come.
    window_after: Option<Duration>,
    baseline: Option<Baseline>,
    /// Heaps when processes were asked to end.
    heaps_asked: Vec<NumberedHeap>,
    /// Real time and this thread's CPU time at the beginning, ns.
    start_ns: (u64, u64),
}

impl Coordinator {
    /// A replay whose page and socket are in `folder`, an empty one of its own.
    ///
    /// # Errors
    /// When they cannot be made there.
    pub fn new(folder: &Path, settings: Settings) -> Result<Self, Failure> {
        let page = Page::create(&folder.join("page"))?;
        page.set(settings.start_utc_ns, START_MONOTONIC_NS);
        Ok(Self {
            library: preload::put(folder)?,
            sockets: Sockets::new(&folder.join("socket"))?,
            schedule: Schedule::new(settings.mode, START_MONOTONIC_NS),
            page,
            hold: Hold::new(settings.control.clone(), settings.pace, settings.paused),
            window_after: settings.window_after.filter(|after| !after.is_zero()),
            baseline: None,
            heaps_asked: Vec::new(),
            start_ns: (0, 0),
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
                own_cpu: Duration::ZERO,
                grants: 0,
                moves: 0,
                strangers: Vec::new(),
                remarks: Vec::new(),
                lead_in: None,
                paused: Duration::ZERO,
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
        let own_numbers = self.settings.own_numbers;
        let child = process::start(program, &self.library, &self.folder, own_numbers)
            .map_err(|error| Failure::Io(format!("{}: {error}", program.name)))?;
        let who = self.announce(None, child.pid())?;
        self.processes[who].host_pid = child.pid();
        self.processes[who].outcome.name.clone_from(&program.name);
        self.processes[who].outcome.started.clone_from(&program.name);
        self.processes[who].child = Some(child);
        Ok(who)
    }

    /// Runs until the end, or until something goes wrong that the outcome then names. Whoever is
    /// left of the processes is killed.
    #[must_use]
    pub fn run(self, player: &mut Player) -> Outcome {
        self.run_and_tell(player, &mut |_| {})
    }

    /// As [`Self::run`], and reports its progress from time to time.
    #[must_use]
    pub fn run_and_tell(mut self, player: &mut Player, tell: &mut dyn FnMut(Progress)) -> Outcome {
        self.start_ns = (clock::monotonic_ns(), clock::thread_cpu_ns());
        self.hold.begin(START_MONOTONIC_NS);
        if let Err(failure) = self.steps(player, tell) {
            self.outcome.failure = Some(failure);
        }
        self.outcome.paused = Duration::from_nanos(self.hold.paused_ns());
        (self.outcome.real, self.outcome.own_cpu) = self.spent();
        self.finish()
    }

    fn steps(
        &mut self,
        player: &mut Player,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        let mut told_ns = self.start_ns.0;
        loop {
            self.look_up(player, &mut told_ns, tell)?;
            let end_ns = self.end_ns(player);
            let after_ns = player.next_after_start_ns().filter(|_| !self.stopping);
            let input_ns = after_ns.map(|after| START_MONOTONIC_NS.saturating_add(after));
            match self.schedule.next(input_ns) {
                ScheduleStep::Run(granted) => {
                    for (who, tokens) in granted {
                        self.grant(who, tokens, 0)?;
                    }
                }
                ScheduleStep::Await => self.hear(player)?,
                ScheduleStep::Advance(to) if self.is_window_before(to) => {
                    self.begin_window(player, tell)?;
                }
                ScheduleStep::Input => {
                    self.hold(Next::Input, player, &mut told_ns, tell)?;
                    self.deliver(player)?;
                }
                ScheduleStep::Advance(_) | ScheduleStep::Idle if self.asks_strangers()? => {}
                ScheduleStep::Advance(to) if end_ns.is_none_or(|end| to <= end) => {
                    self.hold(Next::MoveTo(to), player, &mut told_ns, tell)?;
                    self.move_clock(to)?;
                }
                ScheduleStep::Advance(_) | ScheduleStep::Idle if self.stopping => return Ok(()),
                ScheduleStep::Advance(_) | ScheduleStep::Idle => {
                    if self.window_after.is_some() {
                        self.begin_window(player, tell)?; // and it is over
                    }
                    if let Some(end_ns) = end_ns {
                        self.hold(Next::MoveTo(end_ns), player, &mut told_ns, tell)?;
                    }
                    self.stop(end_ns)?;
                }
            }
        }
    }

    fn deliver(&mut self, player: &mut Player) -> Result<(), Failure> {
        let now_ns = self.schedule.now_ns() - START_MONOTONIC_NS;
        let tokens = player.deliver(now_ns, self.settings.mode)?;
        tokens.into_iter().for_each(|token| self.schedule.token(None, token));
        player.failure().map_or(Ok(()), |error| Err(Failure::Input(error)))
    }

    /// Monotonic time at which the replay ends, once that is known.
    fn end_ns(&self, player: &Player) -> Option<i64> {
        let set = self.settings.duration;
        let after_inputs = || {
            let last = Duration::from_nanos(player.over_after_start_ns()?.cast_unsigned());
            Some(last + self.settings.after_inputs?)
        };
        set.or_else(after_inputs).map(after_start)
    }

    fn move_clock(&mut self, to_ns: i64) -> Result<(), Failure> {
        self.schedule.advance(to_ns);
        let passed = self.schedule.now_ns() - START_MONOTONIC_NS;
        self.page.set(self.settings.start_utc_ns + passed, self.schedule.now_ns());
        self.outcome.moves += 1;
        Ok(())
    }

    /// Ends the replay: remaining processes are asked to end, and get a little virtual time for it.
    fn stop(&mut self, end_ns: Option<i64>) -> Result<(), Failure> {
        if let Some(end_ns) = end_ns.filter(|end| *end > self.schedule.now_ns()) {
            self.move_clock(end_ns)?;
        }
        self.outcome.elapsed = self.elapsed();
        self.note_memory();
        self.stopping = true;
        self.settings.duration = Some(self.outcome.elapsed + self.settings.stop);
        for who in 0..self.processes.len() {
            let process = &self.processes[who];
            if process.child.is_some() && process.line.is_some() {
                let dies = dies_of(process.host_pid, Signal::SIGTERM);
                self.signal(who, Signal::SIGTERM);
                if dies {
                    // Not granted: grants must not depend on the speed of the kernel.
                    self.schedule.resume(who);
                    self.processes[who].since_ns = Some(clock::monotonic_ns());
                } else {
                    settle(self.processes[who].host_pid, Signal::SIGTERM);
                    self.schedule.wake(who);
                }
            }
        }
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_nanos((self.schedule.now_ns() - START_MONOTONIC_NS).cast_unsigned())
    }

    fn signal(&mut self, who: Ordinal, signal: Signal) {
        let Process { host_pid, outcome: ProcessOutcome { name, .. }, .. } = &self.processes[who];
        if let Err(error) = kill(Pid::from_raw(*host_pid), signal) {
            self.outcome.remarks.push(format!("{signal} to {name} (pid {host_pid}): {error}"));
        }
    }

    /// Grants the run with real time to waiting processes, when one of them spoke to a stranger
    /// that may still answer. Returns whether it did.
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
        let reads = self.page.activity(who).clock_reads;
        let process = &mut self.processes[who];
        process.since_ns = Some(clock::monotonic_ns());
        process.reads_at_grant = reads;
        process.outcome.grants += 1;
        self.outcome.grants += 1;
        let counts = self.settings.window_after.is_some() && self.window_after.is_none();
        let flags = u32::from(counts && !std::mem::replace(&mut process.is_counting, counts));
        if let Some(line) = process.line {
            let go = Packet::new(PacketKind::Go, wait_ns, 0);
            self.sockets.say(line, &Packet { tokens, flags, ..go })?;
        }
        Ok(())
    }

    /// Hears what processes say; after a while without a word looks whether something is wrong.
    fn hear(&mut self, player: &mut Player) -> Result<(), Failure> {
        let heard = self.sockets.hear(50)?;
        if heard.is_empty() {
            return self.look();
        }
        for (line, what) in heard {
            match what {
                ConnectionMessage::Packet(packet) => self.packet(line, packet, player)?,
                ConnectionMessage::Closed => self.closed(line)?,
                ConnectionMessage::Bad(error) => {
                    let outcome = self.lines.get(&line).map(|who| &self.processes[*who].outcome);
                    let (name, pid) =
                        outcome.map_or(("?".to_owned(), 0), |o| (o.name.clone(), o.pid));
                    return Err(Failure::Wire { name, pid, error });
                }
            }
        }
        Ok(())
    }

    fn packet(
        &mut self,
        line: ConnectionId,
        packet: Packet,
        player: &mut Player,
    ) -> Result<(), Failure> {
        let Some(&who) = self.lines.get(&line) else {
            if packet.kind == PacketKind::Hello {
                self.hello(line, packet)?;
            }
            return Ok(());
        };
        for token in &packet.tokens {
            self.schedule.token(Some(who), *token);
            for token in player.heard(token)? {
                self.schedule.token(None, token);
            }
        }
        match packet.kind {
            PacketKind::Quiescent => {
                self.processes[who].since_ns = None;
                self.schedule.quiescent(who, packet.a, Waits(packet.flags));
            }
            PacketKind::Fork => self.forked(who, packet.a)?,
            PacketKind::Exec => self.executes(who, true),
            PacketKind::ExecFailed => self.executes(who, false),
            PacketKind::Signal => self.schedule.signal(who),
            PacketKind::Refused => {
                let name = &self.processes[who].outcome.name;
                self.outcome.remarks.push(format!("{name}: {} is not possible", packet.text));
            }
            PacketKind::Tokens | PacketKind::Hello | PacketKind::Welcome | PacketKind::Go => {}
        }
        Ok(())
    }

    fn announce(&mut self, parent: Option<Ordinal>, pid: i32) -> Result<Ordinal, Failure> {
        if self.processes.len() == SLOTS {
            return Err(Failure::TooMany);
        }
        let who = self.schedule.announce(parent);
        let outcome = ProcessOutcome { pid, ..ProcessOutcome::default() };
        let since_ns = Some(clock::monotonic_ns());
        self.processes.push(Process { outcome, parent, since_ns, ..Process::default() });
        Ok(who)
    }

    /// `pid` 0: a child whose number its parent does not know.
    fn forked(&mut self, parent: Ordinal, pid: i64) -> Result<(), Failure> {
        let who = self.announce(Some(parent), i32::try_from(pid).unwrap_or(0))?;
        let ProcessOutcome { name, started, .. } = &self.processes[parent].outcome;
        let (name, started) = (format!("child of {name}"), started.clone());
        let outcome = &mut self.processes[who].outcome;
        (outcome.name, outcome.started) = (name, started);
        self.hear_early()
    }

    /// Processes hellos that arrived before their announcement: a child's before its parent's
    /// message, a program's before the end of the one that it replaces.
    fn hear_early(&mut self) -> Result<(), Failure> {
        for (line, packet) in std::mem::take(&mut self.early) {
            self.hello(line, packet)?;
        }
        Ok(())
    }

    /// The process that sent a hello: by the kernel's number, by the number that its parent knows,
    /// or as the nameless child of its parent.
    fn announced(&self, host_pid: i32, pid: i64, parent: i64) -> Option<Ordinal> {
        let number = |who: Ordinal| i64::from(self.processes[who].outcome.pid);
        let position = |is: &dyn Fn(&Process) -> bool| {
            self.processes.iter().position(|p| p.line.is_none() && is(p))
        };
        position(&|p| p.host_pid == host_pid)
            .or_else(|| position(&|p| p.host_pid == 0 && i64::from(p.outcome.pid) == pid))
            .or_else(|| {
                let of = |p: &Process| p.parent.is_some_and(|who| number(who) == parent);
                position(&|p| p.host_pid == 0 && p.outcome.pid == 0 && of(p))
            })
    }

    fn hello(&mut self, line: ConnectionId, packet: Packet) -> Result<(), Failure> {
        let host_pid = self.sockets.peer(line)?;
        let Some(who) = self.announced(host_pid, packet.a, packet.b) else {
            self.early.push((line, packet));
            return Ok(());
        };
        let process = &mut self.processes[who];
        process.host_pid = host_pid;
        process.outcome.pid = i32::try_from(packet.a).unwrap_or(0);
        packet.text.trim().clone_into(&mut process.outcome.program);
        if process.child.is_none() {
            process.outcome.name.clone_from(&process.outcome.program);
        }
        process.line = Some(line);
        process.is_counting = false;
        process.since_ns = None;
        if self.settings.counters && process.counters.is_none() {
            match Counters::attach(host_pid) {
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
        self.sockets.say(line, &Packet::new(PacketKind::Welcome, slot, seed.cast_signed()))?;
        self.schedule.hello(who);
        Ok(())
    }

    fn executes(&mut self, who: Ordinal, begins: bool) {
        self.processes[who].executes = begins;
        self.processes[who].since_ns = Some(clock::monotonic_ns());
        if begins { self.schedule.exec(who) } else { self.schedule.resume(who) }
    }

    /// A connection ended: the process executes another program, or is dead in a moment.
    fn closed(&mut self, line: ConnectionId) -> Result<(), Failure> {
        self.sockets.close(line);
        let Some(who) = self.lines.remove(&line) else { return Ok(()) };
        let process = &mut self.processes[who];
        process.line = None;
        if std::mem::take(&mut process.executes) {
            return self.hear_early();
        }
        process.since_ns = None;
        let pid = process.host_pid;
        let start_ns = clock::monotonic_ns();
        while alive(pid) && clock::monotonic_ns() - start_ns < 2_000_000_000 {
            clock::sleep(Duration::from_micros(50));
        }
        process.outcome.usage = process::usage_of(pid);
        if alive(pid) {
            let name = &process.outcome.name;
            self.outcome.remarks.push(format!("{name} (pid {pid}) left the replay and lives"));
        }
        self.schedule.gone(who);
        Ok(())
    }

    /// Checks, after a time without messages, whether a process exceeds its bound of real time.
    fn look(&mut self) -> Result<(), Failure> {
        let now_ns = clock::monotonic_ns();
        for who in 0..self.processes.len() {
            let process = &mut self.processes[who];
            let Some(since_ns) = process.since_ns else { continue };
            let (name, pid) = (process.outcome.name.clone(), process.outcome.pid);
            let real = Duration::from_nanos(now_ns.saturating_sub(since_ns));
            if process.line.is_none() {
                let exit = process.child.as_mut().map(Running::poll).transpose()?.flatten();
                if let Some((exit, _)) = exit {
                    return Err(Failure::EndedEarly { name, pid, exit: exit.to_string() });
                }
                if pid != 0 && !self.lives(who) {
                    let process = &mut self.processes[who];
                    process.since_ns = None;
                    self.outcome.remarks.push(format!("{name} (pid {pid}) ended at once"));
                    self.schedule.gone(who);
                } else if real > self.settings.hello_max {
                    return Err(Failure::NoHello { name, pid, real });
                }
            } else if real > self.settings.run_max {
                let reads = self.page.activity(who).clock_reads - process.reads_at_grant;
                return Err(if reads > 10_000 {
                    Failure::Spins { name, pid, reads, real }
                } else {
                    Failure::NeverQuiescent { name, pid, real }
                });
            }
        }
        Ok(())
    }

    /// Whether a process runs that may not have sent its hello yet.
    fn lives(&self, who: Ordinal) -> bool {
        let process = &self.processes[who];
        let parent = process.parent.map(|parent| self.processes[parent].host_pid);
        match (process.host_pid, parent) {
            (0, Some(parent)) => process::child_of(parent, process.outcome.pid).is_some_and(alive),
            (host_pid, _) => alive(host_pid),
        }
    }

    /// Kills the process if it is left, and its children; records how it ended.
    fn end(&mut self, who: Ordinal) {
        let process = &mut self.processes[who];
        let over = process.child.as_mut().and_then(|child| child.poll().ok().flatten());
        if over.is_none() && (process.line.is_some() || process.child.is_some()) {
            self.signal(who, Signal::SIGKILL);
        }
        let process = &mut self.processes[who];
        let Some(child) = &mut process.child else { return };
        match child.wait() {
            Ok(Some((exit, usage))) => {
                process.outcome.exit = Some(exit.to_string());
                process.outcome.usage = Some(usage);
            }
            Ok(None) => {}
            Err(error) => self.outcome.remarks.push(format!("{}: {error}", process.outcome.name)),
        }
        // Its group may be empty by now, which is as good.
        let _ = killpg(Pid::from_raw(child.pid()), Signal::SIGKILL);
    }

    /// Reads the measurements, and kills remaining processes.
    fn finish(mut self) -> Outcome {
        if !self.stopping {
            self.outcome.elapsed = self.elapsed();
            self.note_memory();
        }
        for who in 0..self.processes.len() {
            let activity = self.page.activity(who);
            let process = &mut self.processes[who];
            process.outcome.activity = activity;
            match process.counters.as_ref().map(Counters::read).transpose() {
                Ok(counts) => process.outcome.counts = counts,
                Err(error) => {
                    let remark = format!("counters of {}: {error}", process.outcome.name);
                    self.outcome.remarks.push(remark);
                }
            }
            self.end(who);
        }
        let baseline = self.baseline.take();
        let begin = baseline.as_ref().map_or(&[][..], |baseline| &baseline.heaps);
        let end = self.heaps();
        for process in &mut self.processes {
            let outcome = &mut process.outcome;
            outcome.heap = heap_of(outcome.pid, [begin, &self.heaps_asked, &end]);
            let Some(memory) = process.memory else { continue };
            outcome.rss_bytes_end = Some(memory.rss_bytes);
            outcome.usage.get_or_insert_default().rss_bytes_max = memory.rss_bytes_max;
        }
        self.outcome.strangers =
            self.schedule.strangers().iter().map(ToString::to_string).collect();
        self.outcome.processes =
            self.processes.into_iter().map(|process| process.outcome).collect();
        if let Some(baseline) = baseline {
            baseline.subtract_from(&mut self.outcome);
        }
        self.outcome
    }
}

fn after_start(duration: Duration) -> i64 {
    let ns = i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX);
    START_MONOTONIC_NS.saturating_add(ns)
}

/// Whether a signal ends the process: it neither handles, ignores nor blocks it.
fn dies_of(pid: i32, signal: Signal) -> bool {
    !in_masks(pid, signal, &["SigBlk:", "SigIgn:", "SigCgt:"])
}

/// Whether a signal is in one of these masks of the kernel's status of a process.
fn in_masks(pid: i32, signal: Signal, names: &[&str]) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    names.iter().any(|name| {
        let mask = status.lines().find_map(|line| line.strip_prefix(name));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        mask >> (signal as i32 - 1) & 1 != 0
    })
}

/// Waits until the handler of a signal that a waiting process got has run: all its threads sleep
/// again. Otherwise a process with several threads could run and wait again before the thread with
/// the signal has informed the others.
fn settle(pid: i32, signal: Signal) {
    /// Real time; a handler takes microseconds, and some hundred times as long under Callgrind.
    const AT_MOST: Duration = Duration::from_millis(500);
    const LOOK_EVERY: Duration = Duration::from_micros(200);
    if in_masks(pid, signal, &["SigBlk:", "SigIgn:"]) {
        return; // taken by asking for it, or never
    }
    let until_ns = clock::monotonic_ns() + u64::try_from(AT_MOST.as_nanos()).unwrap_or(0);
    while clock::monotonic_ns() < until_ns
        && (in_masks(pid, signal, &["ShdPnd:", "SigPnd:"]) || is_running(pid))
    {
        clock::sleep(LOOK_EVERY);
    }
}

/// Whether a thread of a process is on a processor or wants to be.
fn is_running(pid: i32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.into_iter().any(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
        matches!(state, Some('R' | 'D'))
    })
}

/// Whether a process runs: not a zombie, not gone.
fn alive(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

//! The measured programs: a provider, and a user that works in rounds and says what it did in lines
//! of JSON (`listening`; `begin`, `round`…, `unbound`).

use crate::args::{Api, Use};
use anyhow::{Context, Result, bail};
use bytes::Bytes;
use chronoscope_clock::{monotonic_ns, process_cpu_ns, sleep_until};
use chronoscope_sle::client::frames::{DataUnit, FrameError, FrameSettings, FrameUser};
use chronoscope_sle::client::{
    ClientError, ClientSettings, CltuTransfer, ConnectionCounters, User,
};
use chronoscope_sle::codec;
use chronoscope_sle::communication::{
    CommunicationServer, CommunicationSettings, Route, SessionLimits,
};
use chronoscope_sle::config::Config;
use chronoscope_sle::csts::procedure::ProcedureKind;
use chronoscope_sle::net::SocketOptions;
use chronoscope_sle::pdu::{
    BufferNotification, FrameOrNotification, RequestedFrameQuality, ReturnSelection, ReturnStart,
    ServiceType, UnbindReason,
};
use chronoscope_sle::provider::{self, ProviderLog};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Provides until standard input ends.
///
/// # Errors
/// When the configuration is wrong or a port cannot be had.
pub(crate) fn provide(config: &str, api: Api) -> Result<()> {
    switch(api)?;
    let config = Config::parse(config)?;
    // Connections come and go as the measurements do: only what is wrong is of interest.
    let running = provider::run(&config, ProviderLog::none())?;
    let csts = running.addresses_csts().first().copied();
    let address = csts.or(running.addresses().first().copied()).context("no address")?;
    say(&json!({"event": "listening", "port": address.port()}))?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Relays until standard input ends; says what was relayed when a session is over.
///
/// # Errors
/// When the port cannot be had.
pub(crate) fn communicate(route: &Route) -> Result<()> {
    let settings = CommunicationSettings {
        routes: vec![route.clone()],
        options: SocketOptions::default(),
        sessions: 4,
        limits: SessionLimits::default(),
    };
    let server = CommunicationServer::start(&settings, ProviderLog::none())?;
    let address = *server.addresses().first().context("no address")?;
    say(&json!({"event": "listening", "port": address.port()}))?;
    thread::scope(|scope| {
        let ended = scope.spawn(|| std::io::stdin().read_to_end(&mut Vec::new()));
        let mut over = 0;
        while !ended.is_finished() {
            chronoscope_clock::sleep(Duration::from_millis(5));
            let (relayed, sessions) = server.relayed();
            if sessions > over {
                over = sessions;
                say(&json!({
                    "event": "relayed",
                    "of_initiators": relayed.pdus[0],
                    "of_responders": relayed.pdus[1],
                    "calls": relayed.calls + relayed.waits,
                }))?;
            }
        }
        Ok(())
    })
}

/// Works in rounds.
///
/// # Errors
/// When the association does not come about, or ends.
pub(crate) fn work(task: &Use) -> Result<()> {
    switch(task.api)?;
    let config = Config::parse(&task.config)?;
    if !config.forward_frame.is_empty() {
        return frames(&config, task);
    }
    let mut settings = ClientSettings::of(&config, None)?;
    settings.window = task.window.or(settings.window);
    let counts = Arc::new(Counts::default());
    let user = User::connect_with(
        settings,
        Box::new({
            let counts = Arc::clone(&counts);
            move |parts| counts.add(&parts)
        }),
    )?;
    user.bind()?;
    if user.service() == ServiceType::Fcltu {
        user.start_forward(0)?;
        forward(&user, task)?;
    } else {
        let select = ReturnSelection::Frames(RequestedFrameQuality::All);
        user.start_return(ReturnStart { start: None, stop: None, select })?;
        rounds(task, || Done {
            units: counts.frames.load(Ordering::Relaxed),
            octets: counts.octets.load(Ordering::Relaxed),
            calls: calls(user.counters()),
        })?;
    }
    user.stop()?;
    user.unbind(UnbindReason::End)?;
    say(&json!({"event": "unbound"}))
}

/// Before there is a second thread: threads inherit the CPU.
fn switch(api: Api) -> Result<()> {
    codec::use_declarations_alone(api.declared);
    if let Some(cpu) = api.cpu {
        let mut one = CpuSet::new();
        one.set(cpu)?;
        sched_setaffinity(Pid::from_raw(0), &one).with_context(|| format!("CPU {cpu}"))?;
    }
    Ok(())
}

/// Frames that came.
#[derive(Default)]
struct Counts {
    frames: AtomicU64,
    octets: AtomicU64,
}

impl Counts {
    fn add(&self, parts: &[FrameOrNotification]) {
        let (mut frames, mut octets) = (0, 0);
        for part in parts {
            if let FrameOrNotification::Frame(frame) = part {
                frames += 1;
                octets += frame.data.len() as u64;
            }
        }
        self.frames.fetch_add(frames, Ordering::Relaxed);
        self.octets.fetch_add(octets, Ordering::Relaxed);
    }
}

/// Frames of which the completion of one is asked to be told: the count of what is processed is as
/// fine as that.
const TOLD_EVERY: u64 = 80;

/// Frames of the Forward Frame service, as fast as they are taken.
fn frames(config: &Config, task: &Use) -> Result<()> {
    let mut settings = FrameSettings::of(config, None)?;
    let is_confirmed = match &mut settings.kind {
        ProcedureKind::SequenceControlled { window } => {
            *window = task.window.unwrap_or(*window);
            true
        }
        ProcedureKind::Buffered { .. } => false,
    };
    settings.window = task.window.or(settings.window);
    let user = FrameUser::connect(settings)?;
    user.bind()?;
    user.start(0)?;
    let (stop, octets) = (AtomicBool::new(false), u64::from(task.octets));
    thread::scope(|scope| {
        let sender = scope.spawn(|| -> Result<()> {
            let data: Bytes = (0..=255u8).cycle().take(task.octets as usize).collect();
            let mut sent = 0;
            while !stop.load(Ordering::Relaxed) {
                sent += 1;
                let report = !is_confirmed && sent % TOLD_EVERY == 0;
                let unit = DataUnit { data: data.clone(), report, ..DataUnit::default() };
                match user.process_unit(&unit) {
                    // The provider's queue is full: only what it takes counts.
                    Ok(_) | Err(FrameError::FrameRefused { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(())
        });
        let measured = rounds(task, || {
            let counts = user.statistics();
            let units = if is_confirmed { counts.acknowledged } else { counts.processed };
            Done { units, octets: units * octets, calls: calls(user.counters()) }
        });
        stop.store(true, Ordering::Relaxed);
        sender.join().map_err(|_| anyhow::anyhow!("the sender panicked"))??;
        measured
    })?;
    match user.drain(Duration::from_secs(60)) {
        Ok(()) | Err(FrameError::FrameRefused { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    user.stop()?;
    user.unbind()?;
    say(&json!({"event": "unbound"}))
}

/// CLTUs as fast as the window lets them go, in a thread of their own; this one takes the rounds.
fn forward(user: &User, task: &Use) -> Result<()> {
    let stop = AtomicBool::new(false);
    let octets = u64::from(task.octets);
    thread::scope(|scope| {
        let sender = scope.spawn(|| send(user, task, &stop));
        let measured = rounds(task, || {
            let units = user.statistics().acknowledged;
            Done { units, octets: units * octets, calls: calls(user.counters()) }
        });
        stop.store(true, Ordering::Relaxed);
        sender.join().map_err(|_| anyhow::anyhow!("the sender panicked"))??;
        measured
    })?;
    match user.drain() {
        Ok(()) | Err(ClientError::CltuRefused { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn send(user: &User, task: &Use, stop: &AtomicBool) -> Result<()> {
    let made = || -> Bytes { (0..=255u8).cycle().take(task.octets as usize).collect() };
    let once = made();
    let cltu = || if task.fresh { made() } else { once.clone() };
    let notify = match task.reports.as_str() {
        "none" => BufferNotification::None,
        "last" => BufferNotification::Last,
        "every" => BufferNotification::Every,
        other => bail!("reports: {other}"),
    };
    while !stop.load(Ordering::Relaxed) {
        let sent = if task.together == 1 {
            let notify_radiated = notify == BufferNotification::Every;
            let cltu = CltuTransfer { data: cltu(), notify_radiated, ..CltuTransfer::default() };
            user.transfer(cltu).map(drop)
        } else {
            user.transfer_buffer((0..task.together).map(|_| cltu()).collect(), notify).map(drop)
        };
        match sent {
            // The provider's buffer is full: only what it takes counts.
            Ok(()) | Err(ClientError::CltuRefused { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What was done so far.
#[derive(Clone, Copy)]
struct Done {
    units: u64,
    octets: u64,
    /// System calls of the connection.
    calls: u64,
}

/// System calls of a connection.
fn calls(counters: ConnectionCounters) -> u64 {
    counters.reads + counters.writes + counters.waits
}

/// Says `begin` after the warm-up, and each round's work; `done` gives what was done so far.
fn rounds(task: &Use, done: impl Fn() -> Done) -> Result<()> {
    let mut at_ns = monotonic_ns() + task.warm_ms * 1_000_000;
    sleep_until(at_ns);
    let mut last = Sample::take(&done);
    say(&json!({"event": "begin"}))?;
    for _ in 0..task.rounds {
        // A round in which nothing was done would say nothing: it goes on. Who started this
        // program has no patience without end.
        let now = loop {
            at_ns += task.round_ms * 1_000_000;
            sleep_until(at_ns);
            let now = Sample::take(&done);
            if now.done.units > last.done.units {
                break now;
            }
        };
        say(&json!({
            "event": "round",
            "units": now.done.units - last.done.units,
            "octets": now.done.octets - last.done.octets,
            "calls": now.done.calls - last.done.calls,
            "elapsed_ns": now.at_ns - last.at_ns,
            "cpu_ns": now.cpu_ns - last.cpu_ns,
        }))?;
        last = now;
    }
    Ok(())
}

struct Sample {
    at_ns: u64,
    cpu_ns: u64,
    done: Done,
}

impl Sample {
    fn take(done: &impl Fn() -> Done) -> Self {
        let done = done();
        Self { at_ns: monotonic_ns(), cpu_ns: process_cpu_ns(), done }
    }
}

fn say(event: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{event}")?;
    Ok(out.flush()?)
}

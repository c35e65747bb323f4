//! A user and a provider, each ours or the Java peer, that do one piece of work.

use crate::chains::{Chains, Recorded};
use crate::child::{Cpu, Process};
use crate::delay::End;
use crate::measure::{Measured, Round};
use crate::ours;
use crate::test_path::TestPath;
use crate::utl::Utl;
use crate::work::{Reports, Service, Timing, Work};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::time::Duration;

/// Origin of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose<'a> {
    Ours,
    Utl(&'a Utl),
}

const PATIENCE: Duration = Duration::from_secs(60);

/// Most measurements until the CPU time of every round was read.
const TRIES: u32 = 3;

/// The CPU time of a round was not read: where the machine is busy, two rounds are told at once, and
/// the second one has none.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "a round of {units} units with a CPU time of 0 (user {user_ns} ns, provider {provider_ns} ns): it \
     was not measured"
)]
struct CpuNotRead {
    units: u64,
    user_ns: u64,
    provider_ns: u64,
}

/// Measures, again with rounds twice as long where a CPU time was not read: in a short round on a
/// busy machine a program may not have run at all.
fn until_cpu_is_read<T>(mut timing: Timing, measure: impl Fn(Timing) -> Result<T>) -> Result<T> {
    for _ in 1..TRIES {
        match measure(timing) {
            Err(error) if error.is::<CpuNotRead>() => timing.round *= 2,
            other => return other,
        }
    }
    measure(timing)
}

/// Runs the work between two programs at the ends of `place`; again where a CPU time was not read.
///
/// # Errors
/// When either program fails or falls silent, or the CPU time is not read three times.
pub(crate) fn measure(
    place: &TestPath,
    pair: [Whose<'_>; 2],
    work: &Work,
    timing: Timing,
) -> Result<Measured> {
    until_cpu_is_read(timing, |timing| {
        let measured = measure_during(place, pair, work, timing, |_| Ok(()), || Ok(()))?;
        Ok(measured.0)
    })
}

/// As [`measure`], ours with ours, for one round, recorded: with the chains of what was under way
/// at its end.
///
/// # Errors
/// As [`measure`]; when there is no folder for rings, or they cannot be read.
pub(crate) fn record(place: &TestPath, work: &Work, timing: Timing) -> Result<Recorded> {
    until_cpu_is_read(Timing { rounds: 1, ..timing }, |timing| {
        let folder = rings()?;
        let work = Work { record: Some(folder.path().to_owned()), ..work.clone() };
        let pair = [Whose::Ours, Whose::Ours];
        let read = || Chains::read(folder.path(), work.service);
        let (measured, (), chains) = measure_during(place, pair, &work, timing, |_| Ok(()), read)?;
        Ok(Recorded { measured, chains })
    })
}

/// A folder in memory, where there is one.
fn rings() -> Result<tempfile::TempDir> {
    let mut named = tempfile::Builder::new();
    named.prefix("sle-series-");
    named.tempdir_in("/dev/shm").or_else(|_| named.tempdir()).context("a folder for rings")
}

/// As [`measure`]; `look` is called when the rounds begin, with the process ids of user and
/// provider, and `after` when they are over and both still work.
///
/// # Errors
/// As [`measure`], and what `look` and `after` say.
pub(crate) fn measure_during<T, U>(
    place: &TestPath,
    [user, provider]: [Whose<'_>; 2],
    work: &Work,
    timing: Timing,
    look: impl FnOnce([u32; 2]) -> Result<T>,
    after: impl FnOnce() -> Result<U>,
) -> Result<(Measured, T, U)> {
    let (providing, port) = start_provider(place, provider, work)?;
    let mut serving = Server::start(place, port, work)?;
    let (to, _relay) = place.reach(serving.as_ref().map_or(port, |server| server.port))?;
    let mut using = match user {
        Whose::Ours => {
            let mut command = ours::user(to, work, timing)?;
            place.start(End::Near, "user", &mut command)?
        }
        Whose::Utl(utl) => {
            // It counts units: as many as the time should take.
            let per_s = expected(work);
            let units =
                |time: Duration| per_s * u64::try_from(time.as_millis()).unwrap_or(0) / 1000;
            let round = units(timing.round).max(1);
            let settings = [
                ("host", to.ip().to_string()),
                ("port", to.port().to_string()),
                ("length", work.octets.to_string()),
                ("window", work.window.to_string()),
                ("radiated", (work.reports == Reports::Every).to_string()),
                ("warm", units(timing.warm).to_string()),
                ("round", round.to_string()),
                ("count", (round * u64::from(timing.rounds)).to_string()),
                ("instance", ours::instance(work.service).to_owned()),
            ];
            place.start(End::Near, "UTL user", &mut utl.command("user", name(work), &settings))?
        }
    };
    let patience = PATIENCE + timing.warm + timing.round * 4;
    using.expect("begin", patience)?;
    let cpu = |server: &Option<Server>| server.as_ref().map_or(Cpu::default(), Server::cpu);
    let mut before = [using.cpu(), providing.cpu(), cpu(&serving)];
    let seen = look([using.id(), providing.id()])?;
    let mut rounds = Vec::new();
    for _ in 0..timing.rounds {
        let event = using.expect("round", patience)?;
        let now = [using.cpu(), providing.cpu(), cpu(&serving)];
        rounds.push(round(&event, [0, 1, 2].map(|one| now[one].since(before[one])))?);
        before = now;
    }
    let left = after()?;
    using.expect("unbound", patience)?;
    if let Some(server) = &mut serving {
        server.calls_of(work, patience, &mut rounds)?;
    }
    Ok((Measured(rounds), seen, left))
}

/// A communication server in front of the provider.
struct Server {
    process: Process,
    port: u16,
}

impl Server {
    /// Starts it, where the work is to go through one.
    fn start(place: &TestPath, provider: u16, work: &Work) -> Result<Option<Self>> {
        let Some(through) = &work.through else { return Ok(None) };
        let mut command = ours::server(place.far_address(), provider, through)?;
        let mut process = place.start(End::Far, "communication server", &mut command)?;
        let port = listening(&mut process)?;
        Ok(Some(Self { process, port }))
    }

    fn cpu(&self) -> Cpu {
        self.process.cpu()
    }

    /// Its system calls for a unit, over the whole session, as those of each round: it counts them
    /// when the session is over.
    fn calls_of(&mut self, work: &Work, within: Duration, rounds: &mut [Round]) -> Result<()> {
        let event = self.process.expect("relayed", within)?;
        let number = |key: &str| event[key].as_u64().with_context(|| format!("relayed: no {key}"));
        let pdus = match work.service {
            Service::Raf => number("of_responders")?,
            Service::Fcltu | Service::Frames | Service::Sequence => number("of_initiators")?,
        };
        let units = pdus.max(1) as f64 * f64::from(work.together);
        let calls_per_unit = number("calls")? as f64 / units;
        for round in rounds {
            round.server_calls = calls_per_unit * round.units as f64;
        }
        Ok(())
    }
}

fn start_provider(place: &TestPath, provider: Whose<'_>, work: &Work) -> Result<(Process, u16)> {
    let mut process = match provider {
        Whose::Ours => {
            place.start(End::Far, "provider", &mut ours::provider(place.far_address(), work)?)?
        }
        Whose::Utl(utl) => {
            let settings = [
                ("port", place.free_port()?.to_string()),
                ("length", work.octets.to_string()),
                ("frames", work.together.to_string()),
                ("radiated", (work.reports == Reports::Every).to_string()),
                ("instance", ours::instance(work.service).to_owned()),
            ];
            let mut command = utl.command("provider", name(work), &settings);
            place.start(End::Far, "UTL provider", &mut command)?
        }
    };
    let port = listening(&mut process)?;
    Ok((process, port))
}

/// The port that a program has said to listen at.
fn listening(process: &mut Process) -> Result<u16> {
    let listening = process.expect("listening", PATIENCE)?;
    let port = listening["port"].as_u64().and_then(|port| u16::try_from(port).ok());
    port.context("a program without a port")
}

fn name(work: &Work) -> &'static str {
    match work.service {
        Service::Fcltu => "fcltu",
        Service::Raf => "raf",
        // The Java peer has no CSTS, and nobody asks it.
        Service::Frames | Service::Sequence => "none",
    }
}

/// Units a second that the Java peer should come to, roughly.
fn expected(work: &Work) -> u64 {
    match work.service {
        Service::Fcltu if work.window == 1 => 2_000,
        Service::Fcltu => 6_000,
        Service::Frames | Service::Sequence => 0,
        Service::Raf => 15_000 * u64::from(work.together.isqrt()),
    }
}

fn round(event: &Value, [user, provider, server]: [Cpu; 3]) -> Result<Round> {
    let number = |key: &str| event[key].as_u64().with_context(|| format!("a round without {key}"));
    let round = Round {
        units: number("units")?,
        octets: number("octets")?,
        elapsed_ns: number("elapsed_ns")?.max(1),
        user_cpu_ns: number("cpu_ns")?,
        provider_cpu_ns: provider.used_ns,
        user_waited_ns: user.waited_ns,
        provider_waited_ns: provider.waited_ns,
        user_switches: user.switches,
        provider_switches: provider.switches,
        server_cpu_ns: server.used_ns,
        server_switches: server.switches,
        server_calls: 0.0, // told at the session's end
        user_calls: event["calls"].as_u64().unwrap_or(0), // the Java peer does not count them
    };
    // Work without CPU time does not exist. The Java user's clock goes in steps of 10 ms.
    let is_user_read = round.user_cpu_ns > 0 || event["calls"].is_null();
    if round.units > 0 && (!is_user_read || round.provider_cpu_ns == 0) {
        bail!(CpuNotRead {
            units: round.units,
            user_ns: round.user_cpu_ns,
            provider_ns: round.provider_cpu_ns,
        });
    }
    Ok(round)
}

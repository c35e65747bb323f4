//! `chronoscope record`: records the input of a system into files, until stopped.

mod output;

use crate::args::record::Record;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use anyhow::{Context, Error, Result};
use chronoscope_clock as clock;
use chronoscope_formats::json;
use chronoscope_replay::recorder::{
    Imported, InputSource, Limits, Log, Recorded, Relay, RelayCounts, Sniffed, Sniffer,
    SourceCounts, allow_connections, import,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which the parts are checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Counts of each part, so far.
#[derive(Clone, Debug, Default)]
struct Parts {
    relay: Option<RelayCounts>,
    captures: BTreeMap<String, Sniffed>,
    sources: BTreeMap<String, SourceCounts>,
    imports: BTreeMap<String, Imported>,
}

/// State that the threads share.
struct Shared {
    log: Log,
    stop: AtomicBool,
    parts: Mutex<Parts>,
}

impl Shared {
    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that is at work.
struct Worker {
    name: String,
    /// Whether the source notices a stop request at once; one that reads from a silent pipe does
    /// not.
    heeds: bool,
}

struct Workers {
    shared: Arc<Shared>,
    ended: Sender<(usize, Result<()>)>,
    ends: Receiver<(usize, Result<()>)>,
    at_work: BTreeMap<usize, Worker>,
}

/// Runs the command.
pub(crate) fn record(args: &Record) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let limits = Limits {
        file_bytes_max: args.file_size,
        file_age_max: args.file_age,
        keep_age: args.keep_age,
        keep_bytes: args.keep_size,
        sync_every: args.sync_every,
        queue_bytes_max: usize::try_from(args.queue).unwrap_or(usize::MAX),
        ..Limits::default()
    };
    // Everything that can be refused is refused before any input is accepted.
    let relay = relay(args)?;
    let sniffers = args.capture.iter().map(|interface| Sniffer::open(interface, &args.port));
    let sniffers = sniffers.collect::<Result<Vec<_>, _>>()?;
    let log = Log::start(&args.into, limits)?;
    if let Some(repair) = &log.repair {
        say!(
            "{}: an earlier recorder died within a packet; {} octets of it are cut off",
            repair.path.display(),
            repair.cut_bytes
        );
    }
    let shared = Shared { log, stop: AtomicBool::new(false), parts: Mutex::default() };
    let mut workers = Workers::new(shared);
    start(args, relay, sniffers, &mut workers)?;
    let failed = watch(args, &interrupt, &mut workers);
    let recorded = workers.shared.log.end();
    let parts = workers.shared.parts().clone();
    progress("");
    if !args.quiet {
        say!("{}", output::line(&recorded, &parts));
    }
    output::troubles(&recorded, &parts).iter().for_each(|trouble| say!("{trouble}"));
    if args.json {
        let part = output::json(&args.into, &recorded, &parts);
        show(&format!("{:#}\n", json::document("record", part)))?;
    }
    failed?;
    Ok(if output::is_incomplete(&recorded, &parts) { Exit::Error } else { Exit::Done })
}

fn relay(args: &Record) -> Result<Option<Relay>> {
    if args.udp.is_empty() && args.tcp.is_empty() {
        return Ok(None);
    }
    if let Err(error) = allow_connections() {
        say!("connections: the limit of descriptors stays as it is: {error}");
    }
    let mut relay = Relay::new()?;
    for (listen, to) in &args.udp {
        let listens = relay.udp(*listen, *to)?;
        say!("udp {listens} is passed on to {to}");
    }
    for (listen, to) in &args.tcp {
        let listens = relay.tcp(*listen, *to)?;
        say!("tcp {listens} is passed on to {to}");
    }
    Ok(Some(relay))
}

impl Workers {
    fn new(shared: Shared) -> Self {
        let (ended, ends) = channel();
        Self { shared: Arc::new(shared), ended, ends, at_work: BTreeMap::new() }
    }

    fn start(
        &mut self,
        name: &str,
        heeds: bool,
        work: impl FnOnce(&Shared) -> Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let number = self.at_work.keys().last().map_or(0, |last| last + 1);
        let (shared, ended) = (self.shared.clone(), self.ended.clone());
        std::thread::Builder::new().name(name.chars().take(15).collect()).spawn(move || {
            // A failed send means that the program is ending.
            let _ = ended.send((number, work(&shared)));
        })?;
        self.at_work.insert(number, Worker { name: name.to_owned(), heeds });
        Ok(())
    }

    /// Waits a moment; what went wrong with a part that ended.
    fn look(&mut self) -> Result<()> {
        match self.ends.recv_timeout(LOOK_EVERY) {
            Ok((number, result)) => {
                let name = self.at_work.remove(&number).map(|worker| worker.name);
                result.with_context(|| name.unwrap_or_default())
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(()),
        }
    }
}

/// Starts a thread for each part.
fn start(
    args: &Record,
    relay: Option<Relay>,
    sniffers: Vec<Sniffer>,
    workers: &mut Workers,
) -> io::Result<()> {
    if let Some(mut relay) = relay {
        workers.start("relay", true, move |shared| {
            let mut told_ns = 0;
            let run = relay.run(&shared.log, &shared.stop, |passed| {
                let now_ns = clock::monotonic_ns();
                if now_ns.saturating_sub(told_ns) >= 50_000_000 {
                    told_ns = now_ns;
                    shared.parts().relay = Some(passed.clone());
                }
            });
            shared.parts().relay = Some(relay.passed);
            run.map_err(Error::from)
        })?;
    }
    for (name, mut sniffer) in args.capture.iter().cloned().zip(sniffers) {
        workers.start(&name.clone(), true, move |shared| {
            let tell = |sniffed| {
                shared.parts().captures.insert(name.clone(), sniffed);
            };
            sniffer.run(&shared.log, &shared.stop, tell).map_err(Error::from)
        })?;
    }
    for path in args.import.clone() {
        let name = path.display().to_string();
        workers.start(&name.clone(), true, move |shared| {
            let tell = |imported| {
                shared.parts().imports.insert(name.clone(), imported);
            };
            let imported = open(&path, |input| import(input, &shared.log, &shared.stop, tell))?;
            shared.parts().imports.insert(name.clone(), imported);
            Ok(())
        })?;
    }
    let pipes = args.pipe.iter().cloned().map(|(from, to)| InputSource::Pipe { from, to });
    let files = args.follow.iter().cloned().map(InputSource::Growing);
    for source in args.stdin.then_some(InputSource::Standard).into_iter().chain(pipes).chain(files)
    {
        let name = source.name();
        let heeds = matches!(source, InputSource::Growing(_));
        workers.start(&name.clone(), heeds, move |shared| {
            let tell = |read| {
                shared.parts().sources.insert(name.clone(), read);
            };
            source.run(&shared.log, &shared.stop, tell).map_err(Error::from)
        })?;
    }
    Ok(())
}

/// Opens a file, or standard input for `-`.
fn open<T, E>(path: &Path, read: impl FnOnce(Box<dyn io::Read>) -> Result<T, E>) -> Result<T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let input: Box<dyn io::Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::with_capacity(1 << 18, File::open(path).context("cannot be opened")?))
    };
    Ok(read(input)?)
}

/// Prints progress until the work is done, a signal arrives, or a part fails.
fn watch(args: &Record, interrupt: &Interrupt, workers: &mut Workers) -> Result<()> {
    let begin_ns = clock::monotonic_ns();
    let every_ns = u64::try_from(args.every.as_nanos()).unwrap_or(u64::MAX);
    let (mut told_ns, mut trouble) = (begin_ns, None);
    let mut failed = Ok(());
    while !workers.at_work.is_empty() {
        if let Err(error) = workers.look() {
            failed = failed.and(Err(error));
            workers.shared.stop.store(true, Ordering::Relaxed);
        }
        let now_ns = clock::monotonic_ns();
        let over =
            args.duration.is_some_and(|time| u128::from(now_ns - begin_ns) >= time.as_nanos());
        if interrupt.is_set() || over {
            workers.shared.stop.store(true, Ordering::Relaxed);
        }
        let stops = workers.shared.stop.load(Ordering::Relaxed);
        if stops && workers.at_work.values().all(|worker| !worker.heeds) {
            break; // who waits in a read of a silent pipe ends with the program
        }
        let recorded = workers.shared.log.recorded();
        say_trouble(&recorded, &mut trouble);
        let terminal = environment::stderr_is_terminal();
        if !args.quiet && (terminal || now_ns - told_ns >= every_ns) {
            told_ns = now_ns;
            let line = output::line(&recorded, &workers.shared.parts());
            if terminal { progress(&line) } else { say!("{line}") }
        }
    }
    failed
}

/// Reports when the disk begins to fail, and when it recovers.
fn say_trouble(recorded: &Recorded, said: &mut Option<i64>) {
    match (recorded.trouble(), *said) {
        (Some(trouble), None) => {
            progress("");
            say!("NOT RECORDING: {} (inputs are still passed on; retrying)", trouble.reason);
            *said = Some(trouble.since_ns);
        }
        (None, Some(_)) => {
            progress("");
            let lost = recorded.troubles.last().map_or(0, |trouble| trouble.lost_count);
            say!("recording again; {} inputs are missing", crate::text::count(lost));
            *said = None;
        }
        _ => {}
    }
}

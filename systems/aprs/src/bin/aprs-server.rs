//! The program `aprs-server`: an APRS-IS core server.

use anyhow::{Context, anyhow};
use chronoscope_aprs::args::{Args, Command};
use chronoscope_aprs::config::{self, Config, Listener};
use chronoscope_aprs::daemon::{self, Ready, Signal, Signals, Started};
use chronoscope_aprs::engine::journal::{self, Journal};
use chronoscope_aprs::engine::{Identity, LogLevel, Now, Server};
use chronoscope_aprs::http::{self, Http, Series};
use chronoscope_aprs::log::Log;
use chronoscope_aprs::net::{self, Bound, Legacy, Program, Running, UpgradeError};
use chronoscope_aprs::recording;
use chronoscope_clock as clock;
use clap::Parser;
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Flag that tells the executed program that it continues a live upgrade.
const LIVE_UPGRADE: &str = "-Z";

/// The fault that a reload is which did not work.
const RELOAD_FAILED: &str = "reload_failed";

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let said = format!("aprs-server: {error:#}");
            eprintln!("{}", chronoscope_escape::terminal_lines(&said));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> anyhow::Result<()> {
    if let Some(Command::Why { call, url }) = &args.command {
        return why(args, call, url.as_deref());
    }
    if let Some(journal) = &args.replay {
        return replay(args, journal);
    }
    let program = Program::current(LIVE_UPGRADE).within(args.chroot.as_deref());
    // Before there is any other thread.
    let Started { config, log, ready, pid_file, files_max: _ } = daemon::start(args)?;
    if args.check {
        for warning in &config.warnings {
            eprintln!("{warning}");
        }
        return net::check_tls(&config).map_err(|errors| lines_of(&errors));
    }
    let kept = recording::init();
    if kept.rings > 0 {
        let recording::Removed { rings, bytes } = kept;
        let text = format_args!("rings of earlier runs removed: {rings}, {bytes} octets");
        log.write(LogLevel::Info, text);
    }
    let served = serve(args, config, &program, &log, ready);
    drop(pid_file);
    if let Err(error) = &served {
        // `main` prints it: on standard error it stands once.
        log.set_stderr(false);
        log.write(LogLevel::Critical, format_args!("{error:#}"));
    }
    served
}

/// Sends the question to the running server and prints the answer.
fn why(args: &Args, call: &str, url: Option<&str>) -> anyhow::Result<()> {
    let url = match url {
        Some(url) => url.to_owned(),
        None => {
            let config = config::read(&args.config_path()).context("no --url, and")?;
            let first = config.http_status.first();
            first
                .context(
                    "the server's address is missing: give --url, or HTTPStatus in the \
                     configuration",
                )?
                .to_string()
        }
    };
    let answer = http::why(&url, call)?;
    print!("{}", http::words(&answer, clock::utc_now_ns() / 1_000_000_000));
    Ok(())
}

fn now() -> Now {
    Now { monotonic_ns: clock::monotonic_ns(), utc_ns: clock::utc_now_ns() }
}

/// Serves until asked to end.
fn serve(
    args: &Args,
    config: Config,
    program: &Program,
    log: &Log,
    ready: Ready,
) -> anyhow::Result<()> {
    // All threads but this one are to leave signals to it.
    Signals::hold().context("signals cannot be held back")?;
    let Begun { running, bound, series, journal } = begin(args, Arc::new(config), log)?;
    let mut http = serve_http(&running, series)?;
    let mut signals = Signals::register().context("signals cannot be handled")?;
    announce(&bound.addresses(), log, args.ports.as_deref())?;
    drop(bound);
    ready.tell().context("standard error cannot be redirected")?;
    loop {
        for signal in signals.wait(None).context("cannot wait for signals")? {
            match signal {
                Signal::Shutdown => {
                    log.write(LogLevel::Info, format_args!("ending: asked to by a signal"));
                    http.stop();
                    running.stop();
                    if let Some(journal) = journal {
                        journal.finish(now()).context("the recording does not end")?;
                    }
                    return Ok(());
                }
                Signal::Reload => {
                    reload(args, &running, &mut http, log);
                }
                Signal::ReopenLog => match log.reopen() {
                    Ok(()) => log.write(LogLevel::Info, format_args!("the log is opened anew")),
                    Err(error) => log.write(LogLevel::Error, format_args!("{error}")),
                },
                Signal::Upgrade => {
                    upgrade(args, &running, program, &http, log);
                    // They were held back for the next program, which there is not.
                    signals = Signals::register().context("signals cannot be handled")?;
                }
            }
        }
    }
}

/// Replays a recorded input and prints the output.
fn replay(args: &Args, recorded: &Path) -> anyhow::Result<()> {
    let mut config = config::read(&args.config_path())?;
    config.workers = 1;
    let name = || format!("{} cannot be replayed", recorded.display());
    let file = std::fs::File::open(recorded).with_context(name)?;
    let file = std::io::BufReader::new(file);
    let replayed = journal::print(file, Arc::new(config), &mut std::io::stdout().lock());
    let replayed = replayed.with_context(name)?;
    eprintln!("{}", replayed.summary());
    match replayed.difference {
        None => Ok(()),
        Some(difference) => Err(anyhow!("the output of the replay differs: {}", difference.what)),
    }
}

/// State at the beginning of service: running threads, bound ports, series and journal.
struct Begun {
    running: Running,
    bound: Bound,
    /// The last 48 hours.
    series: Series,
    journal: Option<Journal>,
}

/// Starts the threads, or goes on where the program before this one stopped.
fn begin(args: &Args, config: Arc<Config>, log: &Log) -> anyhow::Result<Begun> {
    let to_log = log.clone();
    let to_log: net::Log = Arc::new(move |level, line| to_log.write(level, line));
    if args.live_upgrade {
        let legacy = Legacy::read(&config).context("live upgrade")?;
        let series = serde_json::from_value(legacy.extra().clone()).unwrap_or_else(|error| {
            let line = format_args!("the graphs begin anew: {error}");
            log.write(LogLevel::Warning, line);
            Series::default()
        });
        let resumed = legacy.resume(&config, seed(), identity(), to_log);
        let (running, bound) = resumed.context("live upgrade")?;
        log.write(LogLevel::Info, format_args!("live upgrade: done"));
        if args.record.is_some() {
            let line = format_args!("input is not recorded any more: a recording has one program");
            log.write(LogLevel::Warning, line);
        }
        return Ok(Begun { running, bound, series, journal: None });
    }
    let bound = Bound::new(Arc::clone(&config)).map_err(|errors| lines_of(&errors))?;
    let started = now();
    let server = Server::new(config, seed(), identity(), started);
    let journal = args.record.as_deref().map(|file| Journal::of(&server, file, started));
    let journal = journal.transpose().context("input cannot be recorded")?;
    let running =
        Running::start(server, bound.clone(), to_log).context("threads cannot be started")?;
    Ok(Begun { running, bound, series: Series::default(), journal })
}

/// Several errors as one, a line each.
fn lines_of(errors: &[net::PortError]) -> anyhow::Error {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    anyhow!("{}", lines.join("\n"))
}

fn serve_http(running: &Running, series: Series) -> anyhow::Result<Http> {
    let handle = running.handle();
    let ports = running.http_ports().context("no descriptors left")?;
    let server = Arc::clone(handle.server());
    let adopt = Box::new(move |stream, listener: &Listener, remote, local| {
        handle.adopt(stream, listener, remote, local)
    });
    Http::start(ports, server, adopt, series).context("the web side cannot be started")
}

/// Hands over to the program on disk; comes back when that failed.
fn upgrade(args: &Args, running: &Running, program: &Program, http: &Http, log: &Log) {
    log.write(LogLevel::Info, format_args!("live upgrade: asked for by a signal"));
    let failed = |error: &dyn std::fmt::Display| {
        log.write(LogLevel::Error, format_args!("live upgrade: {error}; going on as before"));
        let text = format!("The last live upgrade failed: {error}");
        running.handle().server().fault("live_upgrade_failed", &text, now());
    };
    // The next program would refuse it when it is too late.
    let next = match config::read(&args.config_path()) {
        Ok(next) => Arc::new(next),
        Err(errors) => return failed(&errors),
    };
    let series = match serde_json::to_value(http.series()) {
        Ok(series) => series,
        Err(error) => return failed(&error),
    };
    if let Err(error) = Signals::hold() {
        return failed(&error);
    }
    http.pause(true);
    let error: UpgradeError = running.upgrade(program, &next, series);
    http.pause(false);
    failed(&error);
}

/// The seed of hash tables, unpredictable from outside. A replay uses the seed of its recording.
fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish()
}

fn identity() -> Identity {
    Identity { software: "aprs-server".into(), version: env!("CARGO_PKG_VERSION").into() }
}

/// Reads the configuration again. What does not work is logged, and a fault until a reload works.
fn reload(args: &Args, running: &Running, http: &mut Http, log: &Log) {
    let handle = running.handle();
    let server = handle.server();
    let before = server.config();
    let config = match daemon::reread(args, &before, log) {
        Ok(config) => Arc::new(config),
        Err(errors) => {
            let text = format!("The new configuration is not in force: {errors}");
            return server.fault(RELOAD_FAILED, &text, now());
        }
    };
    let changes = config::changes(&before, &config);
    for change in &changes {
        log.write(LogLevel::Info, format_args!("reload: {change}"));
    }
    if changes.is_empty() {
        log.write(LogLevel::Info, format_args!("reload: no directive has another value"));
    }
    server.reload(Arc::clone(&config));
    // `reload` reports ports that cannot be opened.
    let _told = running.reload(config);
    match running.http_ports().and_then(|ports| http.serve(ports)) {
        Ok(()) => server.fault_over(RELOAD_FAILED),
        Err(error) => {
            let text = format!("The web side goes on with its ports of before: {error}");
            log.write(LogLevel::Error, format_args!("{text}"));
            server.fault(RELOAD_FAILED, &text, now());
        }
    }
}

/// Says where the ports are: in the log, and in the file that was asked for, which is there whole
/// or not at all.
fn announce(
    addresses: &[(String, &str, SocketAddr)],
    log: &Log,
    file: Option<&Path>,
) -> anyhow::Result<()> {
    let mut lines = String::new();
    for (name, protocol, address) in addresses {
        log.write(LogLevel::Info, format_args!("listening \"{name}\" {protocol} {address}"));
        let quote = if name.contains(' ') { "\"" } else { "" };
        writeln!(lines, "{quote}{name}{quote} {protocol} {address}")?;
    }
    let Some(file) = file else { return Ok(()) };
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    std::fs::write(&part, lines)
        .and_then(|()| std::fs::rename(&part, file))
        .with_context(|| format!("{} cannot be written", file.display()))
}

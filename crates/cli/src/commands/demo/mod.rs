//! `chronoscope demo`: four programs that pass messages, measured, to a verdict and the page.
//!
//! All are processes of this program: a shop sends 200 orders a second to a warehouse, which reserves
//! the items and sends each order to two mailers. Mailer B sorts its archive every two seconds, and
//! orders wait meanwhile. Everything that is shown is measured on this host, at this moment.

mod programs;
mod scratch;

use super::serve::serve;
use crate::args::demo::{Demo, Program};
use crate::args::{Cli, Command as Chosen};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use rustix::process::{Pid, Signal};
use scratch::Scratch;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Time in which a program has to start, and to end.
const WAIT: Duration = Duration::from_secs(20);
/// Programs in the order in which they have to be ready: each sends to those before it.
const PROGRAMS: [Program; 4] = [Program::MailA, Program::MailB, Program::Warehouse, Program::Shop];

/// Runs the command.
pub(crate) fn demo(args: &Demo) -> Result<Exit> {
    if let (Some(program), Some(sockets)) = (args.program, &args.sockets) {
        programs::run(program, sockets, args.duration, args.rate)?;
        return Ok(Exit::Done);
    }
    let interrupt = Interrupt::install()?;
    if let Some(data) = &args.data {
        ensure!(!data.exists(), "{} exists: --data makes a new folder", data.display());
    }
    let scratch = Scratch::new()?;
    let data = args.data.clone().unwrap_or_else(|| scratch.path().join("data"));
    let mut collector = Collector::start(&scratch, &data, args)?;
    say!(
        "demo: a shop, a warehouse and two mailers; {} orders a second for {:?}",
        args.rate,
        args.duration
    );
    say!("demo: the page is at {} already: Now, and Live rings", collector.url);
    let measured = measure(&scratch, args, &interrupt);
    collector.stop()?;
    measured?;
    if interrupt.is_set() {
        return Ok(Exit::Done);
    }
    let exit = answers(&data, args)?;
    if args.once || args.json || exit != Exit::Done {
        return Ok(exit);
    }
    show_page(&scratch, &data, &collector.url)
}

/// Runs the four programs until all orders are confirmed.
fn measure(scratch: &Scratch, args: &Demo, interrupt: &Interrupt) -> Result<()> {
    let sockets = scratch.path().join("sockets");
    std::fs::create_dir(&sockets).with_context(|| sockets.display().to_string())?;
    let mut running = Running::default();
    for program in PROGRAMS {
        let name = programs::name(program);
        let mut command = itself(scratch)?;
        command.args(["demo", "--program", name, "--sockets"]).arg(&sockets);
        command.arg("--duration").arg(format!("{}ns", args.duration.as_nanos()));
        command.arg("--rate").arg(args.rate.to_string());
        let child = command
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {name}"))?;
        running.0.push((name, child));
        running.wait_until_ready(&programs::socket(&sockets, program), interrupt)?;
    }
    // The shop ends by itself, and the others with it.
    running.wait(args.duration + WAIT, interrupt)
}

/// Programs that run; ended when this is dropped.
#[derive(Default)]
struct Running(Vec<(&'static str, Child)>);

impl Running {
    /// Waits until the last program has its socket.
    fn wait_until_ready(&mut self, socket: &Path, interrupt: &Interrupt) -> Result<()> {
        let begin_ns = chronoscope_clock::monotonic_ns();
        let Some((name, child)) = self.0.last_mut() else { return Ok(()) };
        while !socket.exists() && !interrupt.is_set() {
            if let Some(status) = child.try_wait()? {
                bail!("{name} ended at its start: {status}");
            }
            ensure!(passed(begin_ns) < WAIT, "{name} did not start within {WAIT:?}");
            interrupt.sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// Waits until all have ended.
    fn wait(&mut self, at_most: Duration, interrupt: &Interrupt) -> Result<()> {
        let begin_ns = chronoscope_clock::monotonic_ns();
        for (name, child) in &mut self.0 {
            let status = loop {
                if interrupt.is_set() {
                    return Ok(());
                }
                if let Some(status) = child.try_wait()? {
                    break status;
                }
                ensure!(passed(begin_ns) < at_most, "{name} did not end within {at_most:?}");
                interrupt.sleep(Duration::from_millis(10));
            };
            ensure!(status.success(), "{name} failed: {status}");
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for (_, child) in &mut self.0 {
            let _ = child.kill(); // one that has ended needs no end
            let _ = child.wait();
        }
    }
}

/// `chronoscope serve` while the programs run.
struct Collector {
    child: Child,
    /// Address of its page.
    url: String,
}

impl Collector {
    fn start(scratch: &Scratch, data: &Path, args: &Demo) -> Result<Self> {
        let mut command = itself(scratch)?;
        command.args(serve_arguments(scratch, data, &args.listen.to_string()));
        // Ends by itself even where this process is killed.
        command.arg("--duration").arg(format!("{}s", (args.duration + 3 * WAIT).as_secs()));
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        let talk = child.stderr.take().context("no talk of the collector")?;
        let (found, url) = mpsc::channel();
        // Reads to the end: a pipe that is full would stop the collector.
        std::thread::spawn(move || {
            for line in BufReader::new(talk).lines().map_while(Result::ok) {
                if let Some(url) = line.strip_prefix("the page is at ") {
                    let _ = found.send(url.to_owned()); // nobody waits any more
                } else if line.contains("error") || line.contains(" warn ") {
                    say!("demo: {line}");
                }
            }
        });
        let Ok(url) = url.recv_timeout(WAIT) else {
            let _ = child.kill();
            bail!("chronoscope serve did not start: {}", child.wait()?);
        };
        Ok(Self { child, url })
    }

    /// Ends it, with everything stored.
    fn stop(&mut self) -> Result<()> {
        let pid = Pid::from_child(&self.child);
        rustix::process::kill_process(pid, Signal::TERM).context("cannot stop the collector")?;
        let status = self.child.wait()?;
        ensure!(status.success(), "chronoscope serve failed: {status}");
        Ok(())
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill(); // one that has ended needs no end
        let _ = self.child.wait();
    }
}

/// Prints the durations with their verdict, and what the slow orders have in common.
fn answers(data: &Path, args: &Demo) -> Result<Exit> {
    let limit = format!("{}us", args.limit.as_micros());
    let measured = ["--root", programs::ROOT, "--leaf", programs::LEAF];
    let mut chains = vec!["chains"];
    chains.extend(measured);
    chains.extend(["--leaves", "2..", "--distinct", "process", "--limit", &limit]);
    if args.json {
        chains.push("--json");
        return ask(data, &chains);
    }
    let exit = ask(data, &chains)?;
    if exit == Exit::Done {
        say!("");
        let mut contrast = vec!["contrast"];
        contrast.extend(measured);
        contrast.extend(["--above", &limit]);
        ask(data, &contrast)?;
    }
    Ok(exit)
}

/// Asks the store by a command of this program, which is printed first.
fn ask(data: &Path, words: &[&str]) -> Result<Exit> {
    say!("$ chronoscope {} --data {}", words.join(" "), data.display());
    let program = std::env::current_exe().context("this program cannot be found")?;
    let status = Command::new(program).args(words).arg("--data").arg(data).status()?;
    Ok(match status.code() {
        Some(0) => Exit::Done,
        Some(3) => Exit::Nothing,
        _ => Exit::Error,
    })
}

/// Serves the page at the address that it had, until the user ends it.
fn show_page(scratch: &Scratch, data: &Path, url: &str) -> Result<Exit> {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let arguments = serve_arguments(scratch, data, address);
    let words = std::iter::once(OsString::from("chronoscope")).chain(arguments);
    let Chosen::Serve(mut args) = Cli::try_parse_from(words)?.command else {
        bail!("serve is not serve")
    };
    args.quiet = true;
    say!("");
    say!("the page on all of this, until Ctrl-C: {url}");
    serve(&args)
}

/// The words of `chronoscope serve`.
fn serve_arguments(scratch: &Scratch, data: &Path, listen: &str) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["serve".into(), "--data".into(), data.into()];
    words.push("--rings".into());
    words.push(scratch.rings().into());
    words.extend(["--listen", listen, "--wait-late", "2s"].map(OsString::from));
    words
}

/// This program again, with the rings in the scratch folder.
fn itself(scratch: &Scratch) -> Result<Command> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut command = Command::new(program);
    command.env("CHRONOSCOPE_DIR", scratch.rings()).env_remove("CHRONOSCOPE_RECORD");
    command.env_remove("CHRONOSCOPE_TOKEN").stdin(Stdio::null());
    Ok(command)
}

fn passed(begin_ns: u64) -> Duration {
    Duration::from_nanos(chronoscope_clock::monotonic_ns().saturating_sub(begin_ns))
}

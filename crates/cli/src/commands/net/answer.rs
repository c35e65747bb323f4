//! `chronoscope net answer`: the permanent server, or one that is started on demand.

use crate::args::net::Answer;
use crate::environment;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::show;
use crate::text;
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use chronoscope_formats::json;
use chronoscope_net::answer::{Counts, Options, Server, Sockets, Token, demand};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval at which the end is checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Runs the command.
pub(crate) fn answer(args: &Answer) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let token = environment::token(args.token_file.as_deref())?;
    let token = token.as_ref().map(|token| Token::new(token.secret()));
    let options = Options { work: args.work, token, ..Options::new(args.listen) };
    if args.activated {
        return activated(args, options, &interrupt);
    }
    let sockets = Sockets::bind(args.listen)?;
    let address = sockets.tcp.local_addr()?;
    say!("answering on {address}, UDP and TCP");
    if args.json {
        line("answer", json!({ "listen": address }))?;
    }
    if args.on_demand {
        return on_demand(args, &sockets, &interrupt);
    }
    let server = Server::on(sockets, options)?;
    let is_over = over(args);
    while !interrupt.is_set() && !is_over() {
        interrupt.sleep(LOOK_EVERY);
    }
    let counts = server.stop();
    say!("{}", words(&counts));
    if args.json {
        line("answered", serde_json::to_value(counts)?)?;
    }
    Ok(Exit::Done)
}

/// Starts replies within another command; prints the address.
pub(crate) fn start(listen: SocketAddr, token: Option<&str>) -> Result<Server> {
    let token = token.map(Token::new);
    let server = Server::start(Options { token, ..Options::new(listen) })?;
    say!("answering on {}, UDP and TCP", server.address());
    Ok(server)
}

fn over(args: &Answer) -> impl Fn() -> bool {
    let (begin_ns, duration) = (clock::monotonic_ns(), args.duration);
    move || {
        let passed = Duration::from_nanos(clock::monotonic_ns().saturating_sub(begin_ns));
        duration.is_some_and(|time| passed >= time)
    }
}

/// Holds the port for an on-demand process.
fn on_demand(args: &Answer, sockets: &Sockets, interrupt: &Interrupt) -> Result<Exit> {
    let itself =
        std::env::current_exe().context("the program for the next start cannot be found")?;
    let mut program = || {
        let mut command = Command::new(&itself);
        command.args(["net", "answer", "--activated"]);
        for (flag, time) in [("--idle", args.idle), ("--work", args.work)] {
            command.args([flag, &format!("{}ns", time.as_nanos())]);
        }
        if let Some(file) = &args.token_file {
            command.arg("--token-file").arg(file);
        }
        command
    };
    let mut told = |starts| say!("a request has come: started for the {starts}. time");
    let starts = std::thread::scope(|scope| {
        let is_over = over(args);
        let kept =
            scope.spawn(|| demand::on_demand(sockets, &mut program, interrupt.flag(), &mut told));
        while !interrupt.is_set() && !kept.is_finished() {
            interrupt.sleep(LOOK_EVERY);
            if is_over() {
                interrupt.flag().store(true, Ordering::Relaxed);
            }
        }
        kept.join().map_err(|_| anyhow::anyhow!("the thread that holds the port panicked"))
    })??;
    if args.json {
        line("answered", json!({ "starts": starts }))?;
    }
    Ok(Exit::Done)
}

/// Answers on the port that another process holds, until it has been idle for long enough.
fn activated(args: &Answer, options: Options, interrupt: &Interrupt) -> Result<Exit> {
    let sockets = demand::given().context("--activated is internal: use --on-demand")?;
    let server = Server::on(sockets, options)?;
    while !interrupt.is_set() && server.idle() < args.idle {
        interrupt.sleep(LOOK_EVERY.min(args.idle - server.idle().min(args.idle)));
    }
    say!("{}", words(&server.stop()));
    Ok(Exit::Done)
}

/// Prints a JSON document in one line, so that the next can follow.
fn line(name: &str, part: Value) -> std::io::Result<()> {
    show(&format!("{}\n", json::document(name, part)))
}

fn words(counts: &Counts) -> String {
    let mut words = format!(
        "{} replies over UDP, {} over TCP",
        text::count(counts.datagrams),
        text::count(counts.frames)
    );
    let others = [
        (counts.asks, "transfers and series"),
        (counts.refused_datagrams, "datagrams refused"),
        (counts.refused_frames, "connections refused"),
        (counts.refused_asks, "questions refused"),
        (counts.turned_away, "connections turned away"),
        (counts.cut, "connections cut"),
    ];
    for (count, what) in others.into_iter().filter(|(count, _)| *count > 0) {
        words += &format!(", {} {what}", text::count(count));
    }
    words
}

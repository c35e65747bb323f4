//! `chronoscope net answer`: the permanent server.

use crate::args::net::Answer;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::show;
use crate::text;
use anyhow::Result;
use chronoscope_clock as clock;
use chronoscope_formats::json;
use chronoscope_net::answer::{Counts, Options, Server};
use serde_json::{Value, json};
use std::time::Duration;

/// How often it is looked whether it is over.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Runs the command.
pub(crate) fn answer(args: &Answer) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let server = Server::start(Options { work: args.work, ..Options::new(args.listen) })?;
    let address = server.address();
    eprintln!("answering on {address}, UDP and TCP");
    if args.json {
        line("answer", json!({ "listen": address }))?;
    }
    let begin_ns = clock::monotonic_ns();
    let is_over = || {
        let passed = Duration::from_nanos(clock::monotonic_ns().saturating_sub(begin_ns));
        args.duration.is_some_and(|time| passed >= time)
    };
    while !interrupt.is_set() && !is_over() {
        interrupt.sleep(LOOK_EVERY);
    }
    let counts = server.stop();
    eprintln!("{}", words(&counts));
    if args.json {
        line("answered", serde_json::to_value(counts)?)?;
    }
    Ok(Exit::Done)
}

/// A document in one line, so that the next can follow.
fn line(name: &str, part: Value) -> std::io::Result<()> {
    show(&format!("{}\n", json::document(name, part)))
}

fn words(counts: &Counts) -> String {
    let mut words = format!(
        "{} replies over UDP, {} over TCP",
        text::count(counts.datagrams),
        text::count(counts.frames)
    );
    let troubles = [
        (counts.refused_datagrams, "datagrams refused"),
        (counts.refused_frames, "connections refused"),
        (counts.turned_away, "connections turned away"),
        (counts.cut, "connections cut"),
    ];
    for (count, what) in troubles.into_iter().filter(|(count, _)| *count > 0) {
        words += &format!(", {} {what}", text::count(count));
    }
    words
}

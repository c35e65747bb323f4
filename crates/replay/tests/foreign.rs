//! Programs that nobody here wrote take part in a virtual day.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_replay::coordinator::{Outcome, Settings};
use std::time::Duration;
use support::{Replay, assert_same_counts, compiled};

const DAY: Duration = Duration::from_secs(86_400);

fn complete(outcome: &Outcome) {
    assert_eq!(outcome.failure, None, "{outcome:#?}");
    eprintln!(
        "{:?} in {:?}: {} grants, {} moves of the clock",
        outcome.elapsed, outcome.real, outcome.grants, outcome.moves
    );
}

#[test]
fn a_day_of_sleep_takes_a_moment_and_ends_on_time() {
    let replay = Replay::new();
    let command = "date +%s.%N; sleep 86400; date +%s.%N";
    let outcome = replay.run(&[("sleeper", &["/bin/sh", "-c", command])], Settings::default());
    complete(&outcome);
    assert_eq!(outcome.elapsed, DAY);
    assert_eq!(replay.output("sleeper"), "1600000000.000000000\n1600086400.000000000\n");
}

/// Condition variables, semaphores, joins, timers, alarms, random numbers: on time, and the same
/// every time.
#[test]
fn threads_wait_on_the_virtual_clock_and_repeat_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let threads = compiled("threads", folder.path());
    let runs: Vec<_> = (0..3)
        .map(|_| {
            let replay = Replay::new();
            let outcome = replay.run(&[("threads", &[&threads])], Settings::default());
            complete(&outcome);
            (replay.output("threads"), outcome)
        })
        .collect();
    let output = &runs[0].0;
    assert!(output.contains("5.150000 produced\n"), "{output}");
    assert!(output.contains(" joined, 200 taken\n"), "{output}");
    assert!(output.contains(" alarm 1, 55 left\n"), "{output}");
    assert!(runs.iter().all(|(other, _)| other == output), "{runs:#?}");
    let outcomes: Vec<_> = runs.into_iter().map(|(_, outcome)| outcome).collect();
    assert_same_counts(&outcomes);
}

/// What glibc reads out of /proc/self/maps the library knows without: the same answer.
#[test]
fn the_main_threads_stack_is_where_the_c_library_says() {
    let folder = tempfile::tempdir().unwrap();
    let stack = compiled("stack", folder.path());
    let replay = Replay::new();
    complete(&replay.run(&[("stack", &[&stack])], Settings::default()));
    let said = replay.output("stack");
    assert!(
        said.lines().count() == 6 && said.lines().all(|line| line.ends_with(": same")),
        "{said}"
    );
}

/// A server with a selector and a thread, two clients with timers of minutes and random numbers.
#[test]
fn python_server_and_clients_live_a_day_and_repeat_exactly() {
    let talk = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/talk.py");
    let python = "/usr/bin/python3";
    if !std::path::Path::new(python).exists() {
        return eprintln!("SKIPPED: no {python}");
    }
    let runs: Vec<_> = (0..2)
        .map(|_| {
            let replay = Replay::new();
            let port = "../port";
            let outcome = replay.run(
                &[
                    ("server", &[python, talk, "serve", port]),
                    ("first", &[python, talk, "ask", port, "first"]),
                    ("second", &[python, talk, "ask", port, "second"]),
                ],
                Settings::default(),
            );
            complete(&outcome);
            assert!(outcome.elapsed > DAY / 2, "{:?}", outcome.elapsed);
            (["server", "first", "second"].map(|name| replay.output(name)), outcome)
        })
        .collect();
    assert_eq!(runs[0].0[1].lines().count(), 200, "{}", runs[0].0[1]);
    assert_eq!(runs[0].0, runs[1].0);
    let outcomes: Vec<_> = runs.into_iter().map(|(_, outcome)| outcome).collect();
    assert_same_counts(&outcomes);
}

/// Redis: an event loop, threads of its own, a child that saves. Keys expire to the millisecond.
#[test]
fn redis_expires_keys_on_the_virtual_clock_and_repeats_exactly() {
    let (redis, python) = ("/usr/bin/redis-server", "/usr/bin/python3");
    if ![redis, python].iter().all(|path| std::path::Path::new(path).exists()) {
        return eprintln!(
            "SKIPPED: no {redis} or no {python} (Debian packages redis-server, python3)"
        );
    }
    let ask = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/ask_redis.py");
    let port = free_port().to_string();
    let runs: Vec<_> = (0..2)
        .map(|_| {
            let replay = Replay::new();
            let server = [redis, "--port", &port, "--bind", "127.0.0.1", "--daemonize", "no"];
            let client = [python, ask, &port];
            let programs: [(&str, &[&str]); 2] = [("redis", &server), ("client", &client)];
            let outcome = replay.run(&programs, Settings::default());
            complete(&outcome);
            (["redis", "client"].map(|name| replay.output(name)), outcome)
        })
        .collect();
    let client = &runs[0].0[1];
    assert!(client.lines().next().unwrap().ends_with(" :1 :100"), "{client}");
    assert!(client.lines().nth(1).unwrap().contains(" :0 :1 "), "{client}");
    assert!(client.contains("Background saving started"), "{client}");
    assert_eq!(client, &runs[1].0[1]);
    // Its own log tells its number in the kernel in every line.
    let log =
        |run: &([String; 2], Outcome)| run.0[0].replace(&run.1.processes[0].pid.to_string(), "PID");
    assert_eq!(log(&runs[0]).lines().count(), log(&runs[1]).lines().count());
    let outcomes: Vec<_> = runs.into_iter().map(|(_, outcome)| outcome).collect();
    assert_same_counts(&outcomes);
}

/// The programs of a replay want to be told a port.
fn free_port() -> u16 {
    let ip = std::net::Ipv4Addr::LOCALHOST.into();
    chronoscope_lab::reserve_port(ip).unwrap().port()
}

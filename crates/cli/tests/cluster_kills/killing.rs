//! Kills one after the other: three of a server, then one of the `serve` that links, in the middle of
//! a turn.
//!
//! Two `serve` work before the cluster. When the one that links is killed it is started again at once,
//! and the other one takes over: some 10 s after the kill, while the next servers are killed.

use crate::cluster::Servers;
use crate::happened::{Happened, add, count};
use crate::programs::{Program, wait_until};
use chronoscope_clock as clock;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Every so many kills are of the `serve` that links.
const COLLECTOR_EVERY: u64 = 4;
/// Of the kills of a `serve`, every so many leave it a turn in which a server was killed before.
const WITH_SERVER_EVERY: u64 = 3;
/// What `serve` says when it begins to link, and when it has ended to.
const TAKEN_OVER: &str = "info linking_taken_over";
const LEFT: &str = "info linking_left_to_another";
/// What it says after a turn that had something to do.
const TURN_ENDED: [&str; 2] = ["info minutes_linked", "warn minutes_not_linked"];
/// Tables in the order in which a turn writes into them, with the version of a row in SQL. A later
/// version is the greater one.
const STAGES: [(&str, &str); 4] = [
    ("durations", "toUInt64(splitByChar('.', CAST(cell, 'String'))[2])"),
    ("sealed_minutes", "version"),
    ("sketches", "version"),
    ("linked_rows", "version"),
];

/// Who kills.
pub(crate) struct Killing<'a> {
    servers: &'a mut Servers,
    database: &'a str,
    /// Of the cluster.
    url: String,
    happened: &'a Happened,
    /// Held by whoever links of the test; where it is held here, only a `serve` links.
    linking: &'a Mutex<()>,
    /// All rows, which come in before, between and during the kills.
    rows: u64,
    kills: u64,
    collectors: [Program; 2],
}

impl<'a> Killing<'a> {
    pub(crate) fn new(
        (servers, database): (&'a mut Servers, &'a str),
        (happened, linking): (&'a Happened, &'a Mutex<()>),
        (rows, kills): (u64, u64),
    ) -> Self {
        let url = servers.url(database);
        let collectors = [serve(&url), serve(&url)];
        Self { servers, database, url, happened, linking, rows, kills, collectors }
    }

    /// Kills as often as planned; at the end nothing but the servers runs.
    pub(crate) fn kill_all(mut self) {
        for kill in 0..self.kills {
            // So that every kill falls into the rows.
            self.happened.wait_for_rows(self.rows_until(2 * kill.saturating_sub(2)));
            if kill % COLLECTOR_EVERY == COLLECTOR_EVERY - 1 {
                self.kill_collector(kill);
            } else {
                self.happened.due.store(self.rows_until(2 * kill + 2), Ordering::SeqCst);
                // Somewhere in the rows, another place every time.
                clock::sleep(Duration::from_millis(30 + kill * 37 % 170));
                self.restart_ended();
                let index = self.kill_server();
                self.servers.restart(index);
            }
            let promised = count(&self.happened.acknowledged);
            let there = self.servers.different_rows(self.database).1;
            assert!(there >= promised, "kill {kill}: {there} of {promised}");
            if kill % 20 == 19 {
                let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
                eprintln!("{} kills, load {}", kill + 1, load.trim());
            }
        }
    }

    /// Rows that come in until half a kill.
    const fn rows_until(&self, half_kill: u64) -> u64 {
        self.rows * half_kill / (2 * self.kills)
    }

    /// Kills one server after the other; which one it is now.
    fn kill_server(&mut self) -> usize {
        let index = usize::from(count(&self.happened.servers) % 2 > 0);
        self.servers.kill(index);
        add(&self.happened.servers, 1);
        index
    }

    /// Kills the `serve` that links, in its first turn with new rows, at another stage every time.
    fn kill_collector(&mut self, kill: u64) {
        // The test itself would link the rows and prune what a turn is about to publish.
        let _by_serve = self.linking.lock().unwrap_or_else(PoisonError::into_inner);
        let number = count(&self.happened.collectors);
        let stage = STAGES[usize::try_from(number % 4).unwrap()];
        let shard = usize::from(number / 4 % 2 > 0);
        let before = self.newest(stage, shard);
        let ended = [0, 1].map(|index: usize| turns_ended(&self.collectors[index]));
        // Half of the rows come before the turn, the others in it.
        let rows = self.rows_until(2 * kill + 1);
        self.happened.due.store(rows, Ordering::SeqCst);
        self.happened.wait_for_rows(rows);
        let index = self.wait_for_turn(stage, shard, before);
        self.happened.due.store(self.rows_until(2 * kill + 2), Ordering::SeqCst);
        clock::sleep(Duration::from_millis(kill * 91 % 60));
        let down =
            (number % WITH_SERVER_EVERY == WITH_SERVER_EVERY - 1).then(|| self.kill_server());
        self.collectors[index].kill();
        add(&self.happened.collectors, 1);
        if turns_ended(&self.collectors[index]) <= ended[index] {
            add(&self.happened.in_a_turn, 1);
        }
        if let Some(down) = down {
            self.servers.restart(down);
        }
        self.collectors[index] = serve(&self.url);
    }

    /// Waits until a turn has written a version into a table that is greater than one before; the
    /// `serve` that links.
    fn wait_for_turn(&mut self, stage: (&str, &str), shard: usize, before: u64) -> usize {
        let mut linking = None;
        wait_until("a collector has taken over", || {
            self.restart_ended();
            linking = self.collectors.iter().position(links);
            linking.is_some()
        });
        wait_until("it is in a turn", || {
            linking = self.collectors.iter().position(links);
            linking.is_some() && self.newest(stage, shard) > before
        });
        linking.unwrap()
    }

    /// The greatest version in a table of a shard.
    fn newest(&self, (table, version): (&str, &str), shard: usize) -> u64 {
        let sql = format!("SELECT max({version}) FROM {}.{table}", self.database);
        self.servers.sql(shard, &sql).parse().unwrap()
    }

    /// Starts those again that found a server away when they started.
    fn restart_ended(&mut self) {
        for collector in &mut self.collectors {
            if collector.has_ended() {
                *collector = serve(&self.url);
            }
        }
    }
}

/// A `serve` before the cluster.
fn serve(url: &str) -> Program {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
    command.env_remove("CHRONOSCOPE_TOKEN").env_remove("CHRONOSCOPE_DATA");
    command.args(["serve", "--store", url, "--listen", "127.0.0.1:0", "--wait-late", "1s"]);
    Program::start(&mut command)
}

/// Whether it is the one that links, as far as it has said.
fn links(collector: &Program) -> bool {
    let said = collector.said();
    said.rfind(TAKEN_OVER) > said.rfind(LEFT)
}

/// How many turns that had something to do it has ended.
fn turns_ended(collector: &Program) -> usize {
    let said = collector.said();
    TURN_ENDED.iter().map(|end| said.matches(end).count()).sum()
}

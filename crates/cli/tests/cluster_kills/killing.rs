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
/// Every so many kills of a `serve` are followed by that of a server.
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
        let begun_ns = clock::monotonic_ns();
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
                let seconds = (clock::monotonic_ns() - begun_ns) / 1_000_000_000;
                eprintln!("{} kills in {seconds} s, load {}", kill + 1, load.trim());
            }
        }
    }

    /// Rows that come in until half a kill.
    const fn rows_until(&self, half_kill: u64) -> u64 {
        self.rows * half_kill / (2 * self.kills)
    }

    /// Kills one server after the other; which one it is now.
    fn kill_server(&mut self) -> usize {
        let index = usize::from(!count(&self.happened.servers).is_multiple_of(2));
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
        let shard = usize::from(!(number / 4).is_multiple_of(2));
        let before = self.newest(stage, shard);
        let ended = self.turns_ended();
        // Half of the rows come before the turn, the others in it.
        let rows = self.rows_until(2 * kill + 1);
        self.happened.due.store(rows, Ordering::SeqCst);
        self.happened.wait_for_rows(rows);
        let (index, ended) = self.wait_for_turn((stage, shard, before), ended);
        self.happened.due.store(self.rows_until(2 * kill + 2), Ordering::SeqCst);
        if number % 4 < 2 {
            // Most of the turn is yet to come.
            clock::sleep(Duration::from_millis(kill * 91 % 60));
        }
        self.collectors[index].kill();
        // At once: servers go on with what a `serve` asked for that is gone. A `serve` that lives to see
        // the server killed says that it gives the turn up.
        let down =
            (number % WITH_SERVER_EVERY == WITH_SERVER_EVERY - 1).then(|| self.kill_server());
        add(&self.happened.collectors, 1);
        let in_a_turn = self.turns_ended()[index] <= ended[index];
        add(&self.happened.in_a_turn, u64::from(in_a_turn));
        let when = if in_a_turn { "in a turn" } else { "after a turn" };
        eprintln!(
            "kill {kill}: serve {when} that wrote {} of shard {shard}; server {down:?}",
            stage.0
        );
        if let Some(down) = down {
            self.servers.restart(down);
        }
        self.collectors[index] = serve(&self.url);
    }

    /// Waits until a turn has written a version into a table of a shard that is greater than one before;
    /// the `serve` that links, and how many turns each had ended when there was none yet.
    fn wait_for_turn(
        &mut self,
        (stage, shard, before): ((&str, &str), usize, u64),
        mut ended: [usize; 2],
    ) -> (usize, [usize; 2]) {
        let mut linking = None;
        let mut is_in_a_turn = |killing: &mut Self| {
            linking = killing.collectors.iter().position(links);
            let now = killing.turns_ended();
            let is_written = killing.newest(stage, shard) > before;
            if !is_written {
                ended = now;
            }
            linking.is_some() && is_written
        };
        let mut is_in = false;
        wait_until("a collector has taken over", || {
            self.restart_ended();
            is_in = is_in_a_turn(self);
            is_in || self.collectors.iter().any(links)
        });
        if !is_in {
            wait_until("it is in a turn", || is_in_a_turn(self));
        }
        (linking.unwrap(), ended)
    }

    /// How many turns that had something to do each `serve` has ended.
    fn turns_ended(&self) -> [usize; 2] {
        [0, 1].map(|index: usize| {
            let said = self.collectors[index].said();
            TURN_ENDED.iter().map(|end| said.matches(end).count()).sum()
        })
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

//! How long updates wait around a change of the mode, by rule: a display in virtual time, whose drawing
//! takes as long as the test says.
//!
//! The loop is that of [`server`](super::server) with its numbers; only time is not real, so that no other
//! program has a part in the waits.

use super::load::{FLUSH_NS, LoadControl, Policy, UpdateMode};
use super::server::{READS_A_TURN, TICK_NS};
use std::collections::VecDeque;

const SECOND: u64 = 1_000_000_000;
/// Around a change of the mode.
const NEAR_NS: u64 = 2 * SECOND;
/// Updates in one read of the socket.
const UPDATES_A_READ: usize = 64;
/// Updates that are drawn and measured before averaging may end.
const PROBED: usize = 32;

/// A display that draws an update in `cost_ns`, and collected ones in a twentieth of it each.
struct Display {
    control: LoadControl,
    cost_ns: u64,
    now_ns: u64,
    tick_ns: u64,
    flush_ns: u64,
    undrained_ns: Option<u64>,
    /// Arrivals of those that are collected.
    collected: Vec<u64>,
    /// Arrival of each drawn update, and how long it waited.
    drawn: Vec<(u64, u64)>,
    changes_ns: Vec<u64>,
}

/// Longest waits, ms.
#[derive(Debug, PartialEq)]
struct Waits {
    near_a_change: u64,
    elsewhere: u64,
    changes: usize,
}

impl Display {
    fn draw(&mut self, arrived_ns: u64) {
        self.drawn.push((arrived_ns, self.now_ns - arrived_ns));
    }

    fn flush(&mut self) {
        let collected = std::mem::take(&mut self.collected);
        if self.control.wants_probe(self.now_ns) {
            let updates = PROBED.min(collected.len()) as u64;
            self.now_ns += updates * self.cost_ns;
            self.control.probed(updates, updates * self.cost_ns);
        }
        self.now_ns += collected.len() as u64 * self.cost_ns / 20;
        collected.into_iter().for_each(|arrived_ns| self.draw(arrived_ns));
    }

    fn draw_pending(&mut self) {
        if self.now_ns >= self.flush_ns {
            self.flush_ns = self.now_ns + FLUSH_NS;
            self.flush();
        }
    }

    fn read(&mut self, arrivals: &mut VecDeque<u64>) {
        for _ in 0..UPDATES_A_READ {
            let Some(arrived_ns) = arrivals.front().copied().filter(|at| *at <= self.now_ns) else {
                break;
            };
            arrivals.pop_front();
            self.control.arrived(1);
            match self.control.mode() {
                UpdateMode::Standard => {
                    self.now_ns += self.cost_ns;
                    self.draw(arrived_ns);
                }
                UpdateMode::Averaging => {
                    self.now_ns += self.cost_ns / 100;
                    self.collected.push(arrived_ns);
                }
            }
        }
    }

    /// Processes what is there and what is due, and waits for more.
    fn turn(&mut self, arrivals: &mut VecDeque<u64>) {
        let awake_ns = self.now_ns;
        for _ in 0..READS_A_TURN {
            if arrivals.front().is_none_or(|at| *at > self.now_ns) {
                break;
            }
            self.undrained_ns.get_or_insert(awake_ns);
            self.read(arrivals);
            self.draw_pending();
            if self.control.behind(self.backlog_ns(), self.now_ns) {
                self.flush_ns = self.now_ns + self.control.first_flush_ns();
                self.changes_ns.push(self.now_ns);
            }
        }
        self.draw_pending();
        let worked_ns = self.now_ns - awake_ns;
        self.control.worked(worked_ns, worked_ns, self.backlog_ns());
        if arrivals.front().is_none_or(|at| *at > self.now_ns) {
            self.undrained_ns = None;
        }
        if self.now_ns >= self.tick_ns {
            self.tick_ns = self.now_ns + TICK_NS;
            if let Some(mode) = self.control.evaluate(self.now_ns) {
                self.changes_ns.push(self.now_ns);
                match mode {
                    UpdateMode::Standard => self.flush(),
                    UpdateMode::Averaging => {
                        self.flush_ns = self.now_ns + self.control.first_flush_ns();
                    }
                }
            }
        }
        let next_ns = arrivals.front().copied().unwrap_or(self.tick_ns);
        let due_ns = if self.collected.is_empty() { self.tick_ns } else { self.flush_ns };
        self.now_ns = self.now_ns.max(next_ns.min(due_ns).min(self.tick_ns));
    }

    fn backlog_ns(&self) -> u64 {
        self.undrained_ns.map_or(0, |since_ns| self.now_ns - since_ns)
    }
}

/// Runs a display for `seconds` whose drawing takes `share` of the time at 2,000 updates a second, after
/// ten seconds with a third of that.
fn waits(policy: Policy, share: f64, seconds: u64) -> Waits {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundred µs")]
    let cost_ns = (share * 500_000.0) as u64;
    let calm = (0..6_666).map(|update| update * 1_500_000);
    let busy = (0..2000 * seconds).map(|update| 10 * SECOND + update * 500_000);
    let mut arrivals: VecDeque<u64> = calm.chain(busy).collect();
    let mut display = Display {
        control: LoadControl::new(policy, 0),
        cost_ns,
        now_ns: 0,
        tick_ns: TICK_NS,
        flush_ns: FLUSH_NS,
        undrained_ns: None,
        collected: Vec::new(),
        drawn: Vec::new(),
        changes_ns: Vec::new(),
    };
    while !arrivals.is_empty() || !display.collected.is_empty() {
        display.turn(&mut arrivals);
    }
    let is_near = |at_ns: u64| {
        display.changes_ns.iter().any(|change_ns| at_ns.abs_diff(*change_ns) < NEAR_NS)
    };
    let longest_ms = |near: bool| {
        let those = display.drawn.iter().filter(|(arrived_ns, _)| is_near(*arrived_ns) == near);
        those.map(|(_, waited_ns)| waited_ns / 1_000_000).max().unwrap_or(0)
    };
    Waits {
        near_a_change: longest_ms(true),
        elsewhere: longest_ms(false),
        changes: display.changes_ns.len(),
    }
}

/// From what just overloads the display to four times what it can draw.
fn shares() -> impl Iterator<Item = f64> {
    (21..=80_u8).map(|part| f64::from(part) / 20.0)
}

#[test]
fn our_rule_has_no_peak_at_its_change() {
    for share in shares() {
        let ours = waits(Policy::Auto, share, 15);
        assert_eq!(ours.changes, 1, "{share}: {ours:?}");
        // What is collected waits for half a second and its drawing.
        assert!(ours.near_a_change < ours.elsewhere + 50, "{share}: {ours:?}");
        assert!(ours.elsewhere < 700, "{share}: {ours:?}");
    }
}

#[test]
fn the_documents_rule_has_one_at_every_recheck() {
    for share in shares().step_by(10) {
        let theirs = waits(Policy::Document, share, 60);
        assert!(theirs.changes >= 5, "{share}: {theirs:?}");
        let ours = waits(Policy::Auto, share, 60);
        assert_eq!(ours.changes, 1, "{share}: {ours:?}");
        assert!(theirs.near_a_change > ours.near_a_change, "{share}: {theirs:?}, {ours:?}");
    }
    let theirs = waits(Policy::Document, 3.0, 60);
    assert!(theirs.near_a_change > 1000 && theirs.elsewhere < 700, "{theirs:?}");
}

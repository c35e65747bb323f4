//! Questions to the store while a scenario runs, and after it.

use crate::shop::Shop;
use crate::truth::Truth;
use crate::world::text;
use chronoscope_statistics::Random;
use jiff::Timestamp;
use serde_json::Value;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Statement of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VerdictState {
    Holds,
    DoesNotHold,
    Undetermined,
    /// There is no chain to judge.
    Nothing,
}

/// About which orders, and how.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// They were placed within: UTC, nanoseconds.
    pub(crate) range_ns: Range<i64>,
    /// Until when one without its leaf is open; it changes no verdict.
    pub(crate) timeout: Option<&'static str>,
}

impl Question {
    /// About all orders.
    pub(crate) const ALL: Self = Self { range_ns: ANY_TIME, timeout: None };
}

const ANY_TIME: Range<i64> = i64::MIN..i64::MAX;

/// A question that was asked, and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) question: Question,
    /// When it was asked, and when it was answered.
    pub(crate) at_ns: Range<i64>,
    pub(crate) state: VerdictState,
    /// Arrivals of the roots.
    pub(crate) arrivals: Value,
    /// The verdict, as JSON has it.
    pub(crate) verdict: Value,
}

impl Asked {
    pub(crate) fn count(&self, name: &str) -> usize {
        let count = self.arrivals[name].as_u64();
        usize::try_from(count.unwrap_or_else(|| panic!("no {name}: {self:#?}"))).unwrap()
    }
}

/// Asks whether orders reach a class in time.
pub(crate) struct Asker<'a> {
    pub(crate) shop: &'a Shop,
    pub(crate) leaf: &'a str,
    /// In how many processes.
    pub(crate) leaves: usize,
}

impl Asker<'_> {
    /// What the programs have really done until now.
    pub(crate) fn truth(&self) -> Truth {
        Truth::read(&self.shop.truth_folder(), self.leaves)
    }

    pub(crate) fn ask(&self, question: Question) -> Asked {
        let root = ["chains", "--root", "place order", "--leaf", self.leaf, "--limit", "1s"];
        let mut command = self.shop.world.command(&root);
        command.args(["--check", "--json"]);
        if let Some(timeout) = question.timeout {
            command.args(["--timeout", timeout]);
        }
        match self.leaves {
            1 => command.arg("--each-root"),
            count => command.args(["--leaves", &format!("{count}.."), "--distinct", "process"]),
        };
        let range_ns = &question.range_ns;
        let instant = |ns: i64| Timestamp::from_nanosecond(i128::from(ns)).unwrap().to_string();
        if range_ns.start != ANY_TIME.start {
            command.args(["--from", &instant(range_ns.start)]);
        }
        if range_ns.end != ANY_TIME.end {
            command.args(["--until", &instant(range_ns.end)]);
        }
        let begun_ns = chronoscope_clock::utc_now_ns();
        let output = command.output().unwrap();
        let at_ns = begun_ns..chronoscope_clock::utc_now_ns();
        let state = match output.status.code() {
            Some(0) => VerdictState::Holds,
            Some(1) => VerdictState::DoesNotHold,
            Some(5) => VerdictState::Undetermined,
            Some(3) => VerdictState::Nothing,
            _ => panic!("{command:?}: {}", text(&output.stderr)),
        };
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let [arrivals, verdict] =
            ["arrivals", "verdict"].map(|part| answer["chains"][part].clone());
        Asked { question, at_ns, state, arrivals, verdict }
    }

    /// Asks again and again until an answer about all orders says that; at most 60 s.
    pub(crate) fn wait_for(&self, state: VerdictState) -> Asked {
        let begun_ns = chronoscope_clock::utc_now_ns();
        let mut asked = self.ask(Question::ALL);
        while asked.state != state {
            let waited_ns = chronoscope_clock::utc_now_ns() - begun_ns;
            assert!(waited_ns < 60_000_000_000, "still not {state:?}: {asked:#?}");
            chronoscope_clock::sleep(Duration::from_millis(500));
            asked = self.ask(Question::ALL);
        }
        asked
    }

    /// Runs a scenario and asks meanwhile, in turn about all orders and about a cut of time.
    pub(crate) fn watch(&self, dice: &mut Dice, scenario: impl FnOnce()) -> Vec<Asked> {
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let mut asked = Vec::new();
                while !ended.load(Ordering::Relaxed) {
                    asked.push(self.ask(Question::ALL));
                    asked.push(self.ask(dice.question(&self.truth())));
                }
                asked
            });
            let end = SetOnDrop(&ended);
            scenario();
            drop(end);
            asking.join().unwrap()
        })
    }
}

/// Ends the asking when a scenario fails, too.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Chooses cuts of time. Its first state is printed: with it they are chosen again.
pub(crate) struct Dice(Random);

impl Dice {
    pub(crate) fn new() -> Self {
        let seed = chronoscope_clock::utc_now_ns().unsigned_abs();
        println!("seed {seed}");
        Self(Random(seed))
    }

    /// About orders from one until another; now and then open at one end.
    pub(crate) fn question(&mut self, truth: &Truth) -> Question {
        let timeout = [None, Some("1s"), Some("5s")][self.0.place(3)];
        Question { range_ns: self.cut(truth), timeout }
    }

    fn cut(&mut self, truth: &Truth) -> Range<i64> {
        let placed: Vec<i64> = truth.0.values().map(|order| order.placed_ns.start).collect();
        if placed.len() < 2 {
            return ANY_TIME;
        }
        // Two of them: a range that is empty is refused.
        let one = self.0.place(placed.len());
        let other = (one + 1 + self.0.place(placed.len() - 1)) % placed.len();
        let (from, until) = (placed[one.min(other)], placed[one.max(other)]);
        match self.0.place(8) {
            0 => ANY_TIME.start..until,
            1 => from..ANY_TIME.end,
            _ => from..until,
        }
    }
}

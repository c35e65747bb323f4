//! Report of all attacks.

use crate::attacks::Attack;
use crate::outcome::{CannotTry, Outcome};
use crate::world::World;
use anyhow::Result;
use chronoscope_clock as clock;
use serde::Serialize;

/// One line of the report.
#[derive(Debug, Serialize)]
pub(crate) struct ReportLine {
    /// The attack's name.
    pub(crate) name: &'static str,
    /// Description of the attack.
    pub(crate) what: &'static str,
    /// Duration of the attack, in seconds.
    pub(crate) seconds: f64,
    /// Outcome of the attack, or the reason why it could not be tried.
    #[serde(flatten)]
    pub(crate) result: Tried,
}

/// Whether an attack could be tried.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tried {
    /// The attack was tried.
    Outcome(Outcome),
    /// The attack could not be tried: the reason.
    Skipped(String),
    /// The attack itself went wrong: how.
    Failed(String),
}

/// All lines of the report.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Name and version of the program under attack.
    pub(crate) program: String,
    /// Seed of the random numbers.
    pub(crate) seed: u64,
    /// Whether it was the short form.
    pub(crate) short: bool,
    /// Number of processors.
    pub(crate) processors: usize,
    /// Load of the machine before it began, over a minute.
    pub(crate) load: String,
    /// Duration of all attacks, in seconds.
    pub(crate) seconds: f64,
    /// Lines of the attacks.
    pub(crate) attacks: Vec<ReportLine>,
    #[serde(skip)]
    begin_ns: u64,
    #[serde(skip)]
    attack_begin_ns: u64,
}

impl Report {
    /// An empty one.
    ///
    /// # Errors
    /// When the program under attack does not say its version.
    pub(crate) fn begin(world: &World) -> Result<Self> {
        let begin_ns = clock::monotonic_ns();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Ok(Self {
            program: world.version()?,
            seed: world.seed,
            short: world.short,
            processors: std::thread::available_parallelism().map_or(0, usize::from),
            load: load.split(' ').next().unwrap_or_default().to_owned(),
            seconds: 0.0,
            attacks: Vec::new(),
            begin_ns,
            attack_begin_ns: begin_ns,
        })
    }

    /// Adds the outcome of an attack that ended now.
    pub(crate) fn add(&mut self, attack: &Attack, result: Result<Outcome>) {
        let now_ns = clock::monotonic_ns();
        let result = match result {
            Ok(outcome) => Tried::Outcome(outcome),
            Err(error) if error.is::<CannotTry>() => Tried::Skipped(format!("{error:#}")),
            Err(error) => Tried::Failed(format!("{error:#}")),
        };
        let seconds = (now_ns - self.attack_begin_ns) as f64 * 1e-9;
        self.attacks.push(ReportLine { name: attack.name, what: attack.what, seconds, result });
        self.attack_begin_ns = now_ns;
    }

    /// The last line, in words.
    pub(crate) fn last(&self) -> String {
        let Some(line) = self.attacks.last() else { return String::new() };
        let verdict = match &line.result {
            Tried::Outcome(outcome) => format!(
                "{}: tried {}, lost {}, doubled {}, silently wrong {}, hung {}: {}",
                if outcome.holds() { "held" } else { "DID NOT HOLD" },
                outcome.tried,
                outcome.lost,
                outcome.doubled,
                outcome.silent,
                outcome.hung,
                outcome.note
            ),
            Tried::Skipped(why) => format!("SKIPPED: {why}"),
            Tried::Failed(why) => format!("FAILED: {why}"),
        };
        format!("{}: {verdict} ({:.1} s)", line.name, line.seconds)
    }

    /// Notes how long all took.
    pub(crate) fn end(&mut self) {
        self.seconds = (clock::monotonic_ns() - self.begin_ns) as f64 * 1e-9;
    }

    /// The report as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        json["version"] = 1.into();
        json
    }

    /// 0 where all held, 1 where one did not, 4 where one could not be carried out.
    pub(crate) fn exit_code(&self) -> u8 {
        let failed = |line: &ReportLine| matches!(line.result, Tried::Failed(_));
        let fell =
            |line: &ReportLine| matches!(&line.result, Tried::Outcome(outcome) if !outcome.holds());
        if self.attacks.iter().any(fell) {
            return 1;
        }
        if self.attacks.iter().any(failed) { 4 } else { 0 }
    }
}

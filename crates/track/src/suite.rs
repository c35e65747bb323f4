//! A project's performance suite: the programs that are run to measure a version's cost.
//!
//! A TOML file, by convention `performance.toml`; `docs/track.md` shows one. Units are programs,
//! replays are scenarios of `docs/replay.md`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chronoscope_figures::numbers::parse_duration;
use chronoscope_replay::moment::Moment;
use chronoscope_replay::scenario::Window;
use serde::{Deserialize, Serialize};

use crate::compare::Exactness;

/// Items of a suite, in order.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Name of the suite; by default that of its folder.
    pub name: String,
    /// The folder that its file is in, absolute.
    pub folder: PathBuf,
    /// Items to run.
    pub items: Vec<SuiteItem>,
}

/// One unit or replay.
#[derive(Clone, Debug)]
pub struct SuiteItem {
    /// Name of the item: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// Repeatability of its counts.
    pub exactness: Exactness,
    /// Time limit, for a replay as a whole; fifty times as long under Callgrind.
    pub limit: Duration,
    /// Work of the item.
    pub work: ItemWork,
}

/// Work of an item.
#[derive(Clone, Debug)]
pub enum ItemWork {
    /// Runs one program to its end.
    Unit {
        /// Program and arguments; `{bin}` and `{suite}` in them stand for folders.
        command: Vec<String>,
        /// Variables beside those that every measured program gets.
        environment: BTreeMap<String, String>,
        /// The folder that it runs in, with the same words; an empty one when it does not say.
        folder: Option<String>,
    },
    /// Replays recorded input through a whole system.
    Replay {
        /// The scenario's file, from the suite's folder.
        scenario: PathBuf,
        /// Mode of the replay.
        mode: ReplayMode,
        /// Part of the recordings that is measured.
        part: ReplayPart,
    },
}

/// Part of a scenario's recordings that a replay measures; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplayPart {
    /// The window, and what is replayed before it.
    pub window: Option<Window>,
    /// Of inputs by their names or kinds, one of so many is delivered.
    pub thin: Vec<(String, u64)>,
}

/// Order in which a replay processes inputs of one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// One process at a time: counts repeat exactly.
    #[default]
    Serial,
    /// Processes that have something to do at one instant run together.
    Parallel,
}

/// Reason why there is no suite.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is larger than any suite.
    #[error("{path} has more than {SIZE_BYTES_MAX} octets: it is not a suite")]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not TOML, or lacks the fields of a suite.
    #[error("{path}: {source}")]
    Toml {
        /// The file.
        path: PathBuf,
        /// The parser's error, with its position.
        source: Box<toml::de::Error>,
    },
    /// The file has another version.
    #[error("{path}: the suite has format version {found}, this program reads version 1")]
    Version {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
    },
    /// An item cannot be run.
    #[error("{path}: {name:?}: {what}")]
    Item {
        /// The file.
        path: PathBuf,
        /// The item's name.
        name: String,
        /// The error in words.
        what: &'static str,
    },
    /// The suite has no items.
    #[error("{path} has neither a [[unit]] nor a [[replay]]")]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// The largest file that is read, octets.
const SIZE_BYTES_MAX: u64 = 1 << 20;
/// Default time limit of a unit, seconds.
const LIMIT_S: u64 = 600;
/// Default time limit of a replay, seconds: one of a whole day takes minutes.
const REPLAY_LIMIT_S: u64 = 3600;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    version: u32,
    name: Option<String>,
    #[serde(default)]
    unit: Vec<UnitText>,
    #[serde(default)]
    replay: Vec<ReplayText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitText {
    name: String,
    command: Vec<String>,
    exactness: Option<Exactness>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    folder: Option<String>,
    limit_s: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplayText {
    name: String,
    scenario: PathBuf,
    #[serde(default)]
    mode: ReplayMode,
    limit_s: Option<u64>,
    from: Option<Moment>,
    until: Option<Moment>,
    lead_in: Option<Span>,
    #[serde(default)]
    thin: BTreeMap<String, u64>,
}

/// A duration as people write it: `30m`.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Span(Duration);

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_duration(&text).map(Span)
    }
}

impl Suite {
    /// Reads a suite's file.
    ///
    /// # Errors
    /// [`SuiteError`], with the file's name and the position where there is one.
    pub fn read(path: &Path) -> Result<Suite, SuiteError> {
        let io = |source| SuiteError::Io { path: path.to_owned(), source };
        let mut text = String::new();
        let mut file = File::open(path).map_err(io)?.take(SIZE_BYTES_MAX + 1);
        file.read_to_string(&mut text).map_err(io)?;
        if text.len() as u64 > SIZE_BYTES_MAX {
            return Err(SuiteError::TooLarge { path: path.to_owned() });
        }
        let whole = path.canonicalize().map_err(io)?;
        let folder = whole.parent().unwrap_or(Path::new("/"));
        Suite::parse(&text, path, folder)
    }

    /// A suite of one program that runs in the suite's folder, with `{bin}` and `{suite}` in its
    /// command as in a file.
    pub fn of_command(folder: &Path, command: Vec<String>, exactness: Exactness) -> Suite {
        let program = command.first().map(Path::new).and_then(Path::file_name);
        let name = program.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder_in = Some("{suite}".to_owned());
        let work = ItemWork::Unit { command, environment: BTreeMap::new(), folder: folder_in };
        let limit = Duration::from_secs(LIMIT_S);
        let item = SuiteItem { name: tame(&name), exactness, limit, work };
        Suite { name: name_of(folder), folder: folder.to_owned(), items: vec![item] }
    }

    fn parse(text: &str, path: &Path, folder: &Path) -> Result<Suite, SuiteError> {
        let text: Text = toml::from_str(text).map_err(|source| SuiteError::Toml {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        if text.version != 1 {
            return Err(SuiteError::Version { path: path.to_owned(), found: text.version });
        }
        let units = text.unit.into_iter().map(UnitText::item);
        let replays = text.replay.into_iter().map(ReplayText::item);
        let items: Vec<SuiteItem> = units.chain(replays).collect();
        if items.is_empty() {
            return Err(SuiteError::Empty { path: path.to_owned() });
        }
        for (index, item) in items.iter().enumerate() {
            let twice = items[..index].iter().any(|other| other.name == item.name);
            let what = if twice { Some("two entries have this name") } else { item.wrong() };
            if let Some(what) = what {
                let (path, name) = (path.to_owned(), item.name.clone());
                return Err(SuiteError::Item { path, name, what });
            }
        }
        let name = text.name.unwrap_or_else(|| name_of(folder));
        Ok(Suite { name: tame(&name), folder: folder.to_owned(), items })
    }
}

impl UnitText {
    fn item(self) -> SuiteItem {
        SuiteItem {
            name: self.name,
            exactness: self.exactness.unwrap_or(Exactness::Threaded),
            limit: Duration::from_secs(self.limit_s.unwrap_or(LIMIT_S)),
            work: ItemWork::Unit {
                command: self.command,
                environment: self.environment,
                folder: self.folder,
            },
        }
    }
}

impl ReplayText {
    fn item(self) -> SuiteItem {
        let lead_in = self.lead_in.map(|Span(span)| span);
        let is_window = self.from.is_some() || self.until.is_some();
        let window = Window { from: self.from, to: self.until, lead_in };
        let part = ReplayPart {
            window: is_window.then_some(window),
            thin: self.thin.into_iter().collect(),
        };
        let exactness = match self.mode {
            ReplayMode::Serial => Exactness::Serialised,
            ReplayMode::Parallel => Exactness::Threaded,
        };
        SuiteItem {
            name: self.name,
            exactness,
            limit: Duration::from_secs(self.limit_s.unwrap_or(REPLAY_LIMIT_S)),
            work: ItemWork::Replay { scenario: self.scenario, mode: self.mode, part },
        }
    }
}

impl SuiteItem {
    fn wrong(&self) -> Option<&'static str> {
        if self.name.is_empty() || tame(&self.name) != self.name {
            return Some("a name is of letters, digits, '-', '_' and '.', and begins with neither");
        }
        if self.limit.is_zero() {
            return Some("limit_s is 0");
        }
        match &self.work {
            ItemWork::Unit { command, .. } if command.first().is_none_or(String::is_empty) => {
                Some("there is no command")
            }
            ItemWork::Unit { environment, .. }
                if environment.keys().any(|name| name.is_empty() || name.contains('=')) =>
            {
                Some("a variable's name is empty or has a '='")
            }
            ItemWork::Unit { .. } | ItemWork::Replay { .. } => None,
        }
    }
}

fn name_of(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    tame(&name)
}

/// The name with characters that are safe in a file name.
fn tame(name: &str) -> String {
    let tame = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().map(tame).collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() { "suite".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Suite, String> {
        let (path, folder) = (Path::new("performance.toml"), Path::new("/home/me/thing"));
        Suite::parse(text, path, folder).map_err(|error| error.to_string())
    }

    #[test]
    fn a_suite_has_units_and_replays() {
        let suite = parse(
            "version = 1\n[[unit]]\nname = \"sort\"\ncommand = [\"{bin}/sort\", \"7\"]\n\
             exactness = \"serialised\"\nenvironment = { SIZE = \"9\" }\n\
             [[replay]]\nname = \"day\"\nscenario = \"days/peak.toml\"\nmode = \"parallel\"\n\
             [[replay]]\nname = \"hour\"\nscenario = \"hour.toml\"\nlimit_s = 90\n\
             from = \"05:30\"\nuntil = \"06:30\"\nlead_in = \"30m\"\nthin = { query = 10 }\n",
        )
        .unwrap();
        assert_eq!(suite.name, "thing");
        let [sort, day, hour] = &suite.items[..] else { panic!("{suite:?}") };
        assert_eq!((&*sort.name, sort.exactness), ("sort", Exactness::Serialised));
        assert!(matches!(&sort.work, ItemWork::Unit { command, environment, folder: None }
            if command[1] == "7" && environment["SIZE"] == "9"));
        assert_eq!(day.exactness, Exactness::Threaded);
        assert!(matches!(&day.work, ItemWork::Replay { scenario, mode: ReplayMode::Parallel, .. }
            if scenario == Path::new("days/peak.toml")));
        let ItemWork::Replay { part, .. } = &hour.work else { panic!("{hour:?}") };
        assert_eq!(part.thin, [("query".to_owned(), 10)]);
        assert_eq!(part.window.unwrap().from, "05:30".parse().ok());
        assert_eq!(part.window.unwrap().lead_in, Some(Duration::from_secs(1800)));
        assert_eq!([sort, day, hour].map(|item| item.limit.as_secs()), [600, 3600, 90]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]a-z=\"0-9\n{}.,# ]{0,200}") {
            drop(parse(&text));
            drop(parse(&format!("version = 1\n[[unit]]\n{text}")));
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let unit = |more: &str| format!("version = 1\n[[unit]]\nname = \"a\"\n{more}\n");
        let twice =
            format!("{0}[[unit]]\nname = \"a\"\ncommand = [\"x\"]", unit("command = [\"x\"]"));
        for (text, said) in [
            ("version = 2", "the suite has format version 2"),
            ("version = 1", "has neither a [[unit]] nor a [[replay]]"),
            (&*unit("command = []"), "\"a\": there is no command"),
            (&*unit("command = [\"x\"]\ncolour = 3"), "unknown field `colour`"),
            (&*unit("command = [\"x\"]\nlimit_s = 0"), "limit_s is 0"),
            (
                "version = 1\n[[replay]]\nname = \"a\"\nscenario = \"s\"\nfrom = \"noon\"",
                "\"noon\" is not a time: write 05:30",
            ),
            (&*unit("command = [\"x\"]\nexactness = \"so\""), "unknown variant `so`"),
            (&*unit("command = [\"x\"]").replace("\"a\"", "\"../a\""), "a name is of letters"),
            (&*twice, "two entries have this name"),
            ("version = ", "performance.toml: TOML parse error at line 1"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}

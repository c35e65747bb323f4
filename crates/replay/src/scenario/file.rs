//! The file of a scenario.

use super::Report;
use super::description::{Scenario, VERSION};
use super::error::ScenarioError;
use super::item::{Input, Process};
use crate::moment::parse_time;
use crate::player::{FeedKind, Lines, Transport};
use chronoscope_figures::numbers::parse_duration;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[allow(dead_code)] // looked at before the rest is
    version: u32,
    name: String,
    start: Option<String>,
    duration: Option<String>,
    seed: Option<u64>,
    step: Option<String>,
    #[serde(default)]
    ports: BTreeMap<String, Transport>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default, rename = "process")]
    processes: Vec<Process>,
    #[serde(default, rename = "input")]
    inputs: Vec<InputText>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputText {
    name: String,
    journal: Recorded,
    select: Option<String>,
    to: String,
    #[serde(default)]
    kind: FeedKind,
    thin: Option<u64>,
    login_lines: Option<u32>,
}

/// One recording, or several in their order.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Recorded {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl File {
    pub(super) fn parse(text: &str, path: &Path) -> Result<Scenario, ScenarioError> {
        let syntax = |error: toml::de::Error| ScenarioError::Syntax {
            path: path.to_owned(),
            what: error.to_string().trim_end().to_owned(),
        };
        let table: toml::Table = text.parse().map_err(syntax)?;
        let version = table.get("version").and_then(toml::Value::as_integer).unwrap_or(0);
        if version > i64::from(VERSION) {
            return Err(ScenarioError::Version { path: path.to_owned(), version });
        }
        let file: Self = toml::from_str(text).map_err(syntax)?;
        let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
        let sense = |what| ScenarioError::Sense { path: path.to_owned(), what };
        file.scenario(folder).map_err(sense)
    }

    fn scenario(self, folder: PathBuf) -> Result<Scenario, String> {
        let duration = |text: &Option<String>| text.as_deref().map(parse_duration).transpose();
        if self.version != VERSION {
            return Err(format!("version {} is not known: write version = 1", self.version));
        }
        if self.processes.is_empty() {
            return Err("there is no [[process]]".to_owned());
        }
        names(self.processes.iter().map(|process| process.name.as_str()), "process")?;
        names(self.inputs.iter().map(|input| input.name.as_str()), "input")?;
        if let Some(process) = self.processes.iter().find(|process| process.command.is_empty()) {
            return Err(format!("process {}: its command is empty", process.name));
        }
        for process in &self.processes {
            let outside = |path: &&PathBuf| {
                path.components().any(|part| !matches!(part, std::path::Component::Normal(_)))
            };
            if let Some(path) = process.fill.iter().find(outside) {
                let (name, path) = (&process.name, path.display());
                return Err(format!("process {name}: fill: {path} is not in its working folder"));
            }
        }
        let step = duration(&self.step)?.unwrap_or(Duration::from_secs(1));
        if step.is_zero() {
            return Err("step has to be longer than nothing".to_owned());
        }
        let inputs = self.inputs.into_iter().map(|input| input.sense(&self.ports, &folder));
        Ok(Scenario {
            name: self.name,
            start_utc_ns: self.start.as_deref().map(parse_time).transpose()?,
            duration: duration(&self.duration)?,
            seed: self.seed.unwrap_or(1),
            step,
            inputs: inputs.collect::<Result<_, _>>()?,
            folder,
            ports: self.ports,
            environment: self.environment,
            processes: self.processes,
        })
    }
}

/// Names become files and folders; those that the replay uses itself are taken.
fn names<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Result<(), String> {
    let mut seen = BTreeSet::from(["answers", "callgrind", Report::RINGS, "bin", "report"]);
    for name in names {
        let fine = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if name.is_empty() || name.len() > 64 || !name.chars().all(fine) {
            return Err(format!(
                "{what} \"{name}\": a name has 1 to 64 characters of a-z, A-Z, 0-9, - and _"
            ));
        }
        if !seen.insert(name) {
            return Err(format!("{what} \"{name}\": the name is taken"));
        }
    }
    Ok(())
}

impl InputText {
    fn sense(self, ports: &BTreeMap<String, Transport>, folder: &Path) -> Result<Input, String> {
        let Self { name, journal, select, to, kind, thin, login_lines } = self;
        if !ports.contains_key(&to) {
            return Err(format!("input {name}: there is no port \"{to}\" in [ports]"));
        }
        let select = select.unwrap_or_default().parse();
        let select = select.map_err(|error| format!("input {name}: {error}"))?;
        let journals = match journal {
            Recorded::One(path) => vec![path],
            Recorded::Several(paths) => paths,
        };
        if journals.is_empty() {
            return Err(format!("input {name}: the list of its recordings is empty"));
        }
        let journals = journals.iter().map(|path| folder.join(path)).collect();
        if thin == Some(0) {
            return Err(format!("input {name}: thin = 0: write thin = 10 for one of ten"));
        }
        let lines = login_lines.map(|login| Lines { login });
        Ok(Input { journals, name, select, to, kind, thin: thin.unwrap_or(1), lines })
    }
}

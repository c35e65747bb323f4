//! `--print-config`: all flags of a command as a configuration file.

use super::{flags, is_switch};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Letters of a comment's line.
const COLUMNS: usize = 96;

/// Flags whose default is a variable that is not theirs alone.
const GENERAL: [(&str, &str); 6] = [
    ("data", "CHRONOSCOPE_DATA"),
    ("store", "CHRONOSCOPE_STORE"),
    ("rings", "CHRONOSCOPE_DIR"),
    ("runs", "CHRONOSCOPE_DATA"),
    ("spool", "CHRONOSCOPE_DATA"),
    ("token_file", "CHRONOSCOPE_TOKEN"),
];
/// The variable whose value is nobody's to see.
const SECRET: &str = "CHRONOSCOPE_TOKEN";

/// Where values are from that the command line does not have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origins<'a> {
    /// Flag to the file's line or the variable.
    pub(super) places: &'a BTreeMap<String, String>,
    /// Variables of the environment, with their values.
    pub(super) variables: &'a BTreeMap<String, String>,
}

/// Every flag with its description; those without a value, or with their default, as a comment.
pub(super) fn as_file(
    name: &str,
    command: &Command,
    matches: &ArgMatches,
    origins: Origins<'_>,
) -> String {
    let mut text = format!(
        "# Configuration of chronoscope {name}: chronoscope {name} --config FILE. The command line and\n\
         # variables CHRONOSCOPE_{}_… come first. Check it with --check.\n",
        name.to_uppercase()
    );
    for arg in flags(command) {
        let id = arg.get_id().as_str();
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        text += "\n";
        for line in lines(&help) {
            let _ = writeln!(text, "# {line}");
        }
        if let Some(place) = origins.places.get(id) {
            let _ = writeln!(text, "# From {place}.");
        }
        let is_set = matches.value_source(id) == Some(ValueSource::CommandLine);
        if let Some(line) = general(id, origins.variables).filter(|_| !is_set) {
            let _ = writeln!(text, "# {line}");
        }
        let value = value(arg, matches, is_set);
        let _ = writeln!(text, "{}{id} = {value}", if is_set { "" } else { "# " });
    }
    text
}

/// What a general variable says of a flag that is not set.
fn general(id: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    let (_, variable) = GENERAL.iter().find(|(flag, _)| *flag == id)?;
    let value = variables.get(*variable).filter(|value| !value.is_empty())?;
    Some(match *variable {
        SECRET => format!("{variable} is set."),
        _ => format!("{variable} is {value}."),
    })
}

/// The value as TOML; without one an example of its form.
fn value(arg: &Arg, matches: &ArgMatches, is_set: bool) -> String {
    if is_switch(arg) {
        return is_set.to_string();
    }
    let given = matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
    let mut values: Vec<_> = given.map(|value| quoted(&value.to_string_lossy())).collect();
    if values.is_empty() {
        let names = arg.get_value_names().unwrap_or_default();
        values = names.iter().map(|name| quoted(name)).collect();
    }
    match arg.get_action() {
        ArgAction::Append => format!("[{}]", values.join(", ")),
        _ => values.join(" "),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Text in lines of at most [`COLUMNS`] letters, where its words allow.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a first line");
        if last.is_empty() {
            *last = word.to_owned();
        } else if last.chars().count() + 1 + word.chars().count() <= COLUMNS {
            *last += " ";
            *last += word;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

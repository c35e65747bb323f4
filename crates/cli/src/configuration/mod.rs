//! The command line of `serve` and `agent`, completed from the environment and a file.
//!
//! A flag's value is taken from the first of these that has it: the command line; the variable
//! `CHRONOSCOPE_SERVE_…` or `CHRONOSCOPE_AGENT_…`; the file of `--config`; the default. A flag with
//! several values has all of them from one place. The values become flags of one command line,
//! which clap then parses: the rules about flags are in `args` only.

mod file;
mod print;
#[cfg(test)]
mod tests;

use crate::args::Cli;
use crate::environment;
use crate::usage::Usage;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Commands that are completed.
const COMMANDS: [&str; 2] = ["serve", "agent"];
/// Flags that are about the configuration, and are not in it.
const ABOUT: [&str; 6] = ["config", "print_config", "check", "probe", "help", "version"];
/// Flags with one meaning: a value of one hides those of the other from a later place.
const EITHER: [&str; 2] = ["data", "store"];

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// A command to run.
    Run(Box<Cli>),
    /// `--print-config`: the text to print.
    Print(String),
}

/// Why a command line is not followed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// What clap says, help and version too, and where the flag that it names was found.
    Arguments(clap::Error, Option<String>),
    /// An error in the file or in a variable.
    Configuration(Usage),
}

/// Values of a flag from one place.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    /// Name of the field in `args`.
    id: String,
    /// One for most flags; `true` or `false` for a switch.
    values: Vec<String>,
    /// The place as people find it: `/etc/chronoscope/serve.toml:7`, or the variable's name.
    place: String,
}

/// Parses a command line: that of this process.
///
/// # Errors
/// [`Refused`], with the place of a value that is wrong.
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Parsed, Refused> {
    let variables = environment::with_prefix("CHRONOSCOPE_");
    parse_with(arguments, &variables)
}

fn parse_with(
    arguments: Vec<OsString>,
    variables: &BTreeMap<String, String>,
) -> Result<Parsed, Refused> {
    let mut root = Cli::command();
    root.build();
    let lenient = root.clone().ignore_errors(true);
    let first = root.clone().try_get_matches_from(&arguments);
    let given = match &first {
        Ok(matches) => Some(matches.clone()),
        // What is missing may be in the file or in a variable. Any other error is the user's, and
        // matches after it would lack even the defaults.
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            lenient.clone().try_get_matches_from(&arguments).ok()
        }
        Err(_) => None,
    };
    let given = given.as_ref().and_then(ArgMatches::subcommand);
    let Some((name, given)) = given.filter(|(name, _)| COMMANDS.contains(name)) else {
        return run(first, &BTreeMap::new());
    };
    let command = root.find_subcommand(name).expect("clap found it above");
    let settings = settings(command, given, variables).map_err(Refused::Configuration)?;
    let arguments = completed(arguments, name, command, &settings);
    let places = settings.into_iter().map(|found| (found.id, found.place)).collect();
    let asks_to_print = given.get_flag("print_config");
    let matches = match Cli::command().try_get_matches_from(&arguments) {
        // What is to be printed may be the beginning of a file.
        Err(error) if asks_to_print && error.kind() == ErrorKind::MissingRequiredArgument => {
            lenient.try_get_matches_from(&arguments)
        }
        matches => matches,
    };
    match matches {
        Ok(matches) if asks_to_print => {
            let (_, found) = matches.subcommand().expect("clap found it above");
            let origins = print::Origins { places: &places, variables };
            Ok(Parsed::Print(print::as_file(name, command, found, origins)))
        }
        matches => run(matches, &places),
    }
}

fn run(
    matches: Result<ArgMatches, clap::Error>,
    places: &BTreeMap<String, String>,
) -> Result<Parsed, Refused> {
    let cli = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    cli.map(|cli| Parsed::Run(Box::new(cli))).map_err(|error| {
        let note = place_of(&error, places);
        Refused::Arguments(error, note)
    })
}

/// Where the flags that an error names were found, unless on the command line.
fn place_of(error: &clap::Error, places: &BTreeMap<String, String>) -> Option<String> {
    let mut named = Vec::new();
    for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
        match error.get(kind) {
            Some(ContextValue::String(one)) => named.push(one.clone()),
            Some(ContextValue::Strings(all)) => named.extend(all.iter().cloned()),
            _ => {}
        }
    }
    let is_named = |id: &str| {
        let flag = format!("--{}", id.replace('_', "-"));
        named.iter().any(|text| text.split([' ', '=']).any(|word| word == flag))
    };
    let found: Vec<_> = places.iter().filter(|(id, _)| is_named(id)).collect();
    (!found.is_empty()).then(|| {
        let notes = found.iter().map(|(id, place)| format!("{id} is set in {place}"));
        notes.collect::<Vec<_>>().join("; ")
    })
}

/// The settings that the command line leaves to the environment and to the file.
fn settings(
    command: &Command,
    given: &ArgMatches,
    variables: &BTreeMap<String, String>,
) -> Result<Vec<Setting>, Usage> {
    let prefix = format!("CHRONOSCOPE_{}_", command.get_name().to_uppercase());
    let file = given.get_one::<std::path::PathBuf>("config").cloned();
    let file = file.or_else(|| Some(variables.get(&format!("{prefix}CONFIG"))?.into()));
    let of_file = file.map(|path| file::read(&path, command)).transpose()?.unwrap_or_default();
    let is_given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    let mut decided: Vec<String> = Vec::new();
    for id in flags(command).map(|arg| arg.get_id().as_str()).filter(|id| is_given(id)) {
        decided.push(id.to_owned());
    }
    let mut found = Vec::new();
    for place in [of_variables(command, &prefix, variables)?, of_file] {
        let hidden = |setting: &Setting| {
            let either = EITHER.contains(&setting.id.as_str());
            let same = |id: &String| *id == setting.id || either && EITHER.contains(&id.as_str());
            decided.iter().any(same)
        };
        let new: Vec<_> = place.into_iter().filter(|setting| !hidden(setting)).collect();
        decided.extend(new.iter().map(|setting| setting.id.clone()));
        found.extend(new);
    }
    Ok(found)
}

/// Settings in variables: `CHRONOSCOPE_SERVE_WAIT_LATE=5min`. Several values are separated by
/// commas.
///
/// # Errors
/// When a switch is neither `true` nor `false`.
fn of_variables(
    command: &Command,
    prefix: &str,
    variables: &BTreeMap<String, String>,
) -> Result<Vec<Setting>, Usage> {
    let mut found = Vec::new();
    for arg in flags(command) {
        let id = arg.get_id().to_string();
        let name = format!("{prefix}{}", id.to_uppercase());
        let Some(text) = variables.get(&name).filter(|text| !text.is_empty()) else { continue };
        if is_switch(arg) && !["true", "false"].contains(&text.as_str()) {
            return Err(Usage::new(format!("{name}={text}: expected true or false")));
        }
        let values = match arg.get_action() {
            ArgAction::Append => text.split(',').map(str::to_owned).collect(),
            _ => vec![text.clone()],
        };
        found.push(Setting { id, values, place: name });
    }
    Ok(found)
}

/// The command line with these settings as flags behind the command's name.
fn completed(
    mut arguments: Vec<OsString>,
    name: &str,
    command: &Command,
    settings: &[Setting],
) -> Vec<OsString> {
    let after = arguments.iter().position(|argument| argument == name).map_or(0, |at| at + 1);
    let mut added = Vec::new();
    for setting in settings {
        let arg = flags(command).find(|arg| arg.get_id() == setting.id.as_str());
        let Some((arg, long)) = arg.and_then(|arg| Some((arg, arg.get_long()?))) else { continue };
        for value in &setting.values {
            match (is_switch(arg), value.as_str()) {
                (true, "true") => added.push(format!("--{long}").into()),
                (true, _) => {}
                (false, value) => added.push(format!("--{long}={value}").into()),
            }
        }
    }
    arguments.splice(after..after, added);
    arguments
}

/// The flags of a command that may be in a configuration.
fn flags(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| !ABOUT.contains(&arg.get_id().as_str()))
}

/// Whether a flag has no value.
fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

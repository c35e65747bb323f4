//! The configuration file: TOML whose keys are the flags' names, with `_` for `-`.

use super::{Setting, flags, is_switch};
use crate::suggest::nearest;
use crate::usage::Usage;
use clap::{Arg, ArgAction, Command};
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Spanned, Value};

/// Reads the settings in a file.
///
/// # Errors
/// When it cannot be read, is not TOML, or has a key that is no flag or a value that a flag cannot
/// have; with the line.
pub(super) fn read(path: &Path, command: &Command) -> Result<Vec<Setting>, Usage> {
    let place = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| Usage::new(format!("{place}: {error}")))?;
    let line = |at: usize| text[..at].matches('\n').count() + 1;
    let table: BTreeMap<String, Spanned<Value>> = toml::from_str(&text).map_err(|error| {
        let line = line(error.span().map_or(0, |span| span.start));
        Usage::new(format!("{place}:{line}: {}", error.message()))
    })?;
    let mut settings = Vec::new();
    for (key, value) in table {
        let at = format!("{place}:{}", line(value.span().start));
        let wrong = |reason: String| Usage::new(format!("{at}: {reason}"));
        let names = || flags(command).map(|arg| arg.get_id().as_str());
        let Some(arg) = flags(command).find(|arg| arg.get_id() == key.as_str()) else {
            let near = nearest(&key, names())
                .map_or(String::new(), |name| format!(" Did you mean {name}?"));
            let all = names().collect::<Vec<_>>().join(", ");
            let command = command.get_name();
            return Err(wrong(format!("{key}: no flag of {command}.{near} There are: {all}")));
        };
        let values =
            values(arg, value.get_ref()).map_err(|reason| wrong(format!("{key}: {reason}")))?;
        settings.push(Setting { id: key, values, place: at });
    }
    Ok(settings)
}

/// The values of a flag as words of a command line.
fn values(arg: &Arg, value: &Value) -> Result<Vec<String>, String> {
    match (arg.get_action(), value) {
        (_, Value::Boolean(set)) if is_switch(arg) => Ok(vec![set.to_string()]),
        (_, _) if is_switch(arg) => Err("expected true or false".to_owned()),
        (ArgAction::Append, Value::Array(all)) => all.iter().map(word).collect(),
        (_, value) => word(value).map(|word| vec![word]),
    }
}

fn word(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        other => Err(format!("expected a text or a number, found {}", other.type_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    fn refused(text: &str) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut root = Cli::command();
        root.build();
        let error = read(file.path(), root.find_subcommand("serve").unwrap()).unwrap_err();
        error.to_string().replace(&file.path().display().to_string(), "FILE")
    }

    #[test]
    fn errors_have_their_line() {
        assert_eq!(refused("quiet = 1\n"), "FILE:1: quiet: expected true or false");
        assert_eq!(
            refused("\ndata = true\n"),
            "FILE:2: data: expected a text or a number, found boolean"
        );
        assert!(refused("a = \"b\nc = 1").starts_with("FILE:1: "));
        let unknown = refused("wait_lat = \"1s\"");
        assert!(
            unknown
                .starts_with("FILE:1: wait_lat: no flag of serve. Did you mean wait_late? There"),
            "{unknown}"
        );
        for own in ["config", "check", "print_config", "help"] {
            assert!(refused(&format!("{own} = \"x\"")).contains("no flag of serve"), "{own}");
        }
    }
}

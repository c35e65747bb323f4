//! `chronoscope completions` and `chronoscope man`, made from the definitions of the flags.

use crate::args::Cli;
use crate::args::pages::{Completions, Man, Shell};
use crate::environment;
use crate::exit::{self, Exit};
use crate::screen::show_as_is;
use crate::usage::Usage;
use anyhow::{Context, Result};
use clap::{Command, CommandFactory};
use std::fmt::Write;
use std::path::Path;

/// The program's name.
const PROGRAM: &str = "chronoscope";

/// Runs `chronoscope completions`.
pub(crate) fn completions(args: &Completions) -> Result<Exit> {
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), PROGRAM, &mut script);
    show_as_is(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

/// Runs `chronoscope man`.
pub(crate) fn man(args: &Man) -> Result<Exit> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        write_all(&root, folder)?;
        return Ok(Exit::Done);
    }
    let mut command = &root;
    for name in &args.command {
        command = command.find_subcommand(name).ok_or_else(|| {
            let known = command.get_subcommands().map(Command::get_name).collect::<Vec<_>>();
            Usage::new(format!("{name}: no such command; there are: {}", known.join(", ")))
        })?;
    }
    show_as_is(&page(command)?)?;
    Ok(Exit::Done)
}

/// Writes the page of a command and of those below it.
fn write_all(command: &Command, folder: &Path) -> Result<()> {
    let name = command.get_display_name().unwrap_or(PROGRAM);
    let path = folder.join(format!("{name}.1"));
    std::fs::write(&path, page(command)?).with_context(|| path.display().to_string())?;
    let mut below = command.get_subcommands().filter(|command| !command.is_hide_set());
    below.try_for_each(|command| write_all(command, folder))
}

/// The page of a command. That of the program also has the exit codes and the variables.
fn page(command: &Command) -> Result<String> {
    let man = clap_mangen::Man::new(command.clone()).manual("Chronoscope");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    let mut text = String::from_utf8(out).context("a flag's description is not text")?;
    if command.get_name() == PROGRAM {
        let codes = exit::CODES.map(|(code, _, meaning)| (code.to_string(), meaning));
        text += &list("EXIT STATUS", codes.iter().map(|(code, meaning)| (code.as_str(), *meaning)));
        text += &list("ENVIRONMENT", environment::VARIABLES.into_iter());
        text += &list("FILES", FILES.into_iter());
    } else {
        text += ".SH SEE ALSO\n\\fBchronoscope\\fR(1): the exit status of all commands, and the \
                 environment.\n";
    }
    Ok(text)
}

/// Files of the packages.
const FILES: [(&str, &str); 3] = [
    ("/etc/chronoscope/serve.toml", "Configuration of the service chronoscope."),
    ("/etc/chronoscope/agent.toml", "Configuration of the service chronoscope-agent."),
    (
        "/dev/shm/chronoscope",
        "Rings of measured programs whose users are in the group chronoscope.",
    ),
];

/// A section of terms with their meaning.
fn list<'a>(title: &str, items: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = format!(".SH {title:?}\n");
    for (term, meaning) in items {
        let _ = writeln!(text, ".TP\n\\fB{}\\fR\n{}", escaped(term), escaped(meaning));
    }
    text
}

/// Text as roff shows it unchanged.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

//! `sle config`.

use super::args::{ConfigCommand, ExportArgs, FormatArg, ImportArgs, RoleArg};
use anyhow::Context;
use chronoscope_sle::config::{Config, Severity};
use chronoscope_sle::exchange::{ExchangeNote, ExchangeRole, esa, utl};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

impl From<RoleArg> for ExchangeRole {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::User => Self::User,
            RoleArg::Provider => Self::Provider,
        }
    }
}

pub(crate) fn run(command: &ConfigCommand) -> anyhow::Result<ExitCode> {
    let notes = match command {
        ConfigCommand::Import(args) => import(args)?,
        ConfigCommand::Export(args) => export(args)?,
    };
    for note in &notes {
        eprintln!("{}", chronoscope_escape::terminal(&note.to_string()));
    }
    let is_loss = notes.iter().any(|note| note.is_loss);
    Ok(if is_loss { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn import(args: &ImportArgs) -> anyhow::Result<Vec<ExchangeNote>> {
    let texts = args.files.iter().map(|file| read(file)).collect::<anyhow::Result<Vec<_>>>()?;
    let names: Vec<String> = args.files.iter().map(|file| file.display().to_string()).collect();
    let imported = match (args.from, &texts[..]) {
        (FormatArg::Utl, [text]) => utl::import(text, args.role.map(Into::into)),
        (FormatArg::Utl, _) => anyhow::bail!("utl: name one file"),
        (FormatArg::Esa, _) if args.role.is_some() => {
            anyhow::bail!("esa: the proxy's file says the role; leave --role out")
        }
        (FormatArg::Esa, texts) => {
            esa::import(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        }
    };
    let imported = imported.with_context(|| names.join(", "))?;
    let text = imported.text();
    match &args.output {
        Some(path) => write(path, &text)?,
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
    }
    // The same findings as of --check, of what is there now.
    let config = Config::parse(&text).context("the converted configuration")?;
    for finding in config.check().iter().filter(|finding| finding.severity != Severity::Right) {
        eprintln!("{}", chronoscope_escape::terminal(&finding.to_string()));
    }
    Ok(imported.notes)
}

fn export(args: &ExportArgs) -> anyhow::Result<Vec<ExchangeNote>> {
    let config = Config::load(&args.file)
        .with_context(|| format!("configuration {}", args.file.display()))?;
    let role = args.role.map(Into::into);
    let exported = match args.to {
        FormatArg::Utl => utl::export(&config, role),
        FormatArg::Esa => esa::export(&config, role),
    };
    let exported = exported.with_context(|| args.file.display().to_string())?;
    match (&exported.files[..], &args.output) {
        ([(_, text)], Some(path)) => write(path, text)?,
        ([(_, text)], None) => std::io::stdout().lock().write_all(text.as_bytes())?,
        (files, Some(folder)) => {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            for (name, text) in files {
                write(&folder.join(name), text)?;
            }
        }
        (_, None) => anyhow::bail!("the format has two files: name a folder with -o"),
    }
    Ok(exported.notes)
}

/// Writes a new file that its owner alone can read: it has passwords.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| format!("{}: name a file that does not exist", path.display()))
}

//! `attack`: does to the release programs what strangers, neighbours and accidents do, and prints
//! what it cost: rows that were lost or came twice, answers that were wrong without a word, hangs,
//! and memory.
//!
//! Everything goes through the programs' command lines, ports and files. Each attack has a folder
//! and servers of its own, on loopback and ports that the kernel chose.
//!
//! # Where to look
//!
//! * one attack, or a new one: `attacks/mod.rs`; the table: `docs/reliability.md`; parsers:
//!   `fuzz/`, `tools/fuzz`

mod attacks;
mod http;
mod outcome;
mod recorder;
mod report;
mod rows;
mod server;
mod spans;
mod table;
mod world;

use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use clap::{Parser, Subcommand};
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use world::World;

/// Attacks the release programs and prints the results.
///
/// Exit codes: 0 every attack held; 1 an attack did not hold; 2 wrong arguments; 4 an attack could
/// not be tried.
#[derive(Debug, Parser)]
#[command(name = "attack", version, max_term_width = 100)]
struct Arguments {
    /// Only these attacks; --list names them
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Print the name and a description of each attack
    #[arg(long)]
    list: bool,
    /// Folder of the programs under attack [default: that of this program]
    #[arg(long, value_name = "DIR")]
    bin: Option<PathBuf>,
    /// Do a tenth of the kills, flips, cuts and connections
    #[arg(long)]
    short: bool,
    /// Seed of the random numbers; each run prints its seed
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Print the result as JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Write the table into this Markdown file, between its markers
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    #[command(subcommand)]
    role: Option<Role>,
}

/// Role of this program within an attack.
#[derive(Debug, Subcommand)]
enum Role {
    /// Record rows until standard input ends, then print their number
    #[command(hide = true)]
    Record(recorder::Record),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(Role::Record(record)) = &arguments.role {
        recorder::record(record);
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("attack: {error:#}");
            ExitCode::from(4)
        }
    }
}

fn run(arguments: &Arguments) -> Result<u8> {
    if arguments.list {
        for attack in attacks::ALL {
            println!("{:<16} {}", attack.name, attack.what);
        }
        return Ok(0);
    }
    let unknown = |name: &&String| !attacks::ALL.iter().any(|attack| attack.name == **name);
    if let Some(name) = arguments.names.iter().find(unknown) {
        bail!("no attack is called {name:?}; --list shows all");
    }
    let own = std::env::current_exe().context("this program's own path")?;
    let bin = arguments.bin.clone().or_else(|| Some(own.parent()?.to_path_buf()));
    let seed = arguments.seed.unwrap_or_else(clock::monotonic_ns);
    let world = World { bin: bin.unwrap_or_default(), own, short: arguments.short, seed };
    world.check()?;
    let mut report = Report::begin(&world)?;
    for attack in attacks::ALL {
        if !arguments.names.is_empty() && !arguments.names.iter().any(|name| name == attack.name) {
            continue;
        }
        eprintln!("attack: {}: {}", attack.name, attack.what);
        report.add(attack, (attack.run)(&world));
        eprintln!("attack: {}", report.last());
    }
    report.end();
    match arguments.json {
        true => println!("{:#}", report.json()),
        false => print!("{}", table::text(&report)),
    }
    if let Some(path) = &arguments.write {
        table::write(&report, path)?;
    }
    Ok(report.exit_code())
}

//! Files that are not what they are called.

use crate::outcome::Outcome;
use crate::server::finish;
use crate::world::{Folders, World};
use anyhow::Result;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Most time that a reader may take for a small file.
const LATE: Duration = Duration::from_secs(20);
/// Exit code of a panic in Rust.
const PANIC: i32 = 101;

/// Commands that read a file, with the place of its name, and what such a file begins with.
const READERS: &[(&[&str], &str, &[u8])] = &[
    (&["replay", "FILE"], "journal", b"CHRONOJ"),
    (&["replay", "FILE", "--real-time", "--dry-run"], "pcapng", b"\x0a\x0d\x0d\x0a"),
    (
        &["import", "FILE", "--data", "DATA"],
        "csv",
        b"application,class,start,elapsed_ns,id,parent,chain_high,chain_low\n",
    ),
    (&["import", "FILE", "--data", "DATA"], "xml", b"<?xml version=\"1.0\"?><transactions>"),
    (&["import", "FILE", "--data", "DATA"], "parquet", b"PAR1"),
    (&["live", "--json", "--ring", "FILE"], "ring", b"CHRONOSR"),
    (&["live", "--json", "--core", "FILE"], "core", b"\x7fELF\x02\x01\x01"),
    (
        &[
            "serve",
            "--duration",
            "1s",
            "--data",
            "DATA",
            "--rings",
            "DATA",
            "--listen",
            "127.0.0.1:0",
            "--limits",
            "FILE",
        ],
        "toml",
        b"[[limit]]\n",
    ),
    (
        &[
            "serve",
            "--duration",
            "1s",
            "--data",
            "DATA",
            "--rings",
            "DATA",
            "--listen",
            "127.0.0.1:0",
            "--tokens",
            "FILE",
        ],
        "tokens",
        b"version = 1\n",
    ),
];

pub(super) fn files(world: &World) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut random = world.random();
    let folders = Folders::new()?;
    let data = folders.data();
    for (arguments, extension, beginning) in READERS {
        let mut contents: Vec<Vec<u8>> =
            (0..beginning.len()).map(|end| beginning[..end].to_vec()).collect();
        contents.truncate(8);
        for _ in 0..world.count(20) {
            let octets = random.place(20_000);
            contents.push([beginning, &random.octets(octets)[..]].concat());
        }
        for content in contents {
            let path: PathBuf = folders.beside(&format!("file.{extension}"));
            fs::write(&path, &content)?;
            let arguments: Vec<String> = arguments
                .iter()
                .map(|argument| match *argument {
                    "FILE" => path.display().to_string(),
                    "DATA" => data.display().to_string(),
                    other => other.to_owned(),
                })
                .collect();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let mut child = world.chronoscope(&arguments).spawn()?;
            outcome.tried += 1;
            let ended = finish(&mut child, LATE)?;
            let code = ended.and_then(|status| status.code());
            if code.is_none_or(|code| code == PANIC) {
                eprintln!("attack: {arguments:?}: {ended:?} with {} octets", content.len());
                outcome.hung += 1;
            }
        }
    }
    outcome.note = format!("an error in words from each of {} readers", READERS.len());
    Ok(outcome)
}

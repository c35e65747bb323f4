//! Files that are not what they are called.

use crate::outcome::Outcome;
use crate::server::{fell, output};
use crate::world::{Folders, World};
use anyhow::Result;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// A command line, in which FILE, DATA and OUT are places; the file's ending; and what such a file
/// begins with.
type Reader = (&'static str, &'static str, &'static [u8]);

const READERS: &[Reader] = &[
    ("replay FILE --out OUT", "scenario.toml", b"[scenario]\n"),
    ("replay FILE --real-time --to udp:127.0.0.1:9", "journal", b"CHRJNL\0\x01"),
    ("replay FILE --real-time --to udp:127.0.0.1:9", "pcapng", b"\x0a\x0d\x0d\x0a"),
    ("import FILE --data DATA", "csv", b"application,class,start,elapsed_ns,id,parent\n"),
    ("import FILE --data DATA", "xml", b"<armData xmlns=\"urn:chronoscope:arm-xml:1\">"),
    ("import FILE --data DATA", "parquet", b"PAR1"),
    ("live --json --ring FILE", "ring", b"CHRORING"),
    ("live --json --core FILE", "core", b"\x7fELF\x02\x01\x01"),
    (
        "serve --duration 1s --data DATA --rings DATA --listen 127.0.0.1:0 --limits FILE",
        "limits.toml",
        b"[[limit]]\n",
    ),
    (
        "serve --duration 1s --data DATA --rings DATA --listen 127.0.0.1:0 --tokens FILE",
        "tokens",
        b"version = 1\n",
    ),
];

/// Most beginnings of a file that are tried alone.
const CUTS_MAX: usize = 8;

pub(super) fn files(world: &World) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut random = world.random();
    let folders = Folders::new()?;
    let place = |name: &str| folders.beside(name).display().to_string();
    for (line, ending, beginning) in READERS {
        let name = format!("hostile.{ending}");
        let cuts = (0..beginning.len().min(CUTS_MAX)).map(|end| (beginning[..end].to_vec(), false));
        let mut contents: Vec<(Vec<u8>, bool)> = cuts.collect();
        for _ in 0..world.count(20) {
            let octets = 1 + random.place(20_000);
            contents.push(([beginning, &random.octets(octets)[..]].concat(), true));
        }
        for (content, is_garbage) in contents {
            fs::write(place(&name), &content)?;
            // A file of tokens that others may read is refused unread.
            fs::set_permissions(place(&name), fs::Permissions::from_mode(0o600))?;
            let arguments = line.split(' ').map(|word| match word {
                "FILE" => place(&name),
                "DATA" => folders.data().display().to_string(),
                "OUT" => place("out"),
                word => word.to_owned(),
            });
            let mut command = world.chronoscope(&[]);
            let ended = output(command.args(arguments))?;
            outcome.tried += 1;
            let Some(ended) = ended.filter(|ended| !fell(ended.status)) else {
                eprintln!("attack: {line}: it hangs or crashes on {} octets", content.len());
                outcome.hung += 1;
                continue;
            };
            // An empty or half a file may say nothing, or be taken; garbage is refused by name.
            let said = String::from_utf8_lossy(&ended.stderr);
            if is_garbage && (ended.status.success() || !said.contains(&name)) {
                eprintln!("attack: {line}: {:?} to garbage: {said}", ended.status.code());
                outcome.silent += 1;
            }
        }
    }
    outcome.note = format!("{} readers refuse garbage and say which file", READERS.len());
    Ok(outcome)
}

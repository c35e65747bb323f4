//! Attacks of other programs of the host on the rings.

use crate::outcome::{CannotTry, Outcome};
use crate::rows;
use crate::server::{Recorder, Running, Server, rings, wait_until};
use crate::world::{Folders, World};
use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Records so many rows in a program that ends.
fn record(world: &World, rings: &Path, rows: u64) -> Result<()> {
    let mut command = world.recorder(rings, &["--rows", &rows.to_string(), "--rate", "1000000"]);
    if !command.env("CHRONOSCOPE_SLOTS", "4096").status()?.success() {
        bail!("nothing was recorded");
    }
    Ok(())
}

/// Fills in what a store has in the end.
fn settle(world: &World, folders: &Folders, recorded: u64, counted: u64) -> Result<Outcome> {
    let stored = rows::export(world, &folders.data())?;
    Ok(Outcome {
        lost: recorded.saturating_sub(stored.distinct + counted),
        doubled: stored.doubled,
        ..Outcome::default()
    })
}

pub(super) fn ended(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let programs = world.count(1000);
    for _ in 0..programs {
        record(world, folders.rings(), 20)?;
    }
    let serve = Server::command(world, &folders.data(), folders.rings());
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 256 && exec \"$0\" \"$@\""]);
    command.arg(serve.get_program()).args(serve.get_args()).stdin(Stdio::null());
    let mut server = Server::start(&mut command)?;
    let (status, is_drained) = server.drained();
    let memory = server.running.memory();
    server.running.stop()?;
    let outcome = settle(world, &folders, programs * 20, 0)?;
    Ok(Outcome {
        tried: programs,
        hung: u64::from(!is_drained),
        silent: u64::from(!status["error"].is_null()),
        memory,
        note: format!("{} of {} rows", programs * 20 - outcome.lost, programs * 20),
        ..outcome
    })
}

pub(super) fn foreign(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let mut random = world.random();
    let at = |name: &str| folders.rings().join(name);
    if !Command::new("mkfifo").arg(at("fifo.1.1.ring")).status()?.success() {
        bail!(CannotTry("mkfifo is missing"));
    }
    fs::create_dir(at("folder.1.1.ring"))?;
    symlink("/dev/zero", at("link.1.1.ring"))?;
    symlink(at("nowhere"), at("dangling.1.1.ring"))?;
    let _socket = UnixListener::bind(at("socket.1.1.ring"))?;
    fs::write(at("empty.1.1.ring"), b"")?;
    let mut strange = 6;
    for number in 0..world.count(100) {
        let octets = random.place(200_000);
        fs::write(at(&format!("garbage{number}.1.1.ring")), random.octets(octets))?;
        strange += 1;
    }
    // A device needs root: tried where it may be.
    let mut device = Command::new("mknod");
    device.arg(at("device.1.1.ring")).args(["c", "1", "5"]).stderr(Stdio::null());
    let device = device.status();
    strange += u64::from(device.is_ok_and(|status| status.success()));
    record(world, folders.rings(), 500)?;
    let mut server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
    let all_there = wait_until(|| server.status().is_ok_and(|status| status["rows"] == 500));
    let status = server.status()?;
    let told = status["failed_rings"].as_array().map_or(0, Vec::len);
    // `live` reads the same folder.
    let mut live = world.chronoscope(&["live", "--json", "--rings"]);
    let mut live = live.arg(folders.rings()).spawn()?;
    let live = crate::server::finish(&mut live, Duration::from_secs(20))?;
    let memory = server.running.memory();
    server.running.stop()?;
    let outcome = settle(world, &folders, 500, 0)?;
    Ok(Outcome {
        tried: strange,
        hung: u64::from(!all_there) + u64::from(live.is_none()),
        memory,
        note: format!("{told} told by name, the program's rows read"),
        ..outcome
    })
}

pub(super) fn truncated(world: &World) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut random = world.random();
    let mut told = 0;
    for _ in 0..world.count(20) {
        let folders = Folders::new()?;
        let recorder = Recorder::start(world, folders.rings(), 100_000)?;
        let mut server =
            Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
        let is_read =
            wait_until(|| server.status().is_ok_and(|status| status["rows"].as_u64() > Some(1000)));
        let ring = rings(folders.rings()).pop().context("a ring")?;
        let size = fs::metadata(&ring)?.len();
        fs::OpenOptions::new().write(true).open(&ring)?.set_len(random.below(size))?;
        clock::sleep(Duration::from_millis(300));
        // The program itself continues and ends by itself: the ring does not end it.
        let recorded = recorder.end();
        outcome.hung += u64::from(!is_read) + u64::from(recorded.is_err());
        let known = wait_until(|| {
            server.status().is_ok_and(|status| {
                status["damaged_rings"].as_u64() > Some(0)
                    || status["failed_rings"].as_array().is_some_and(|rings| !rings.is_empty())
                    || status["stored_rows"] == recorded.as_ref().copied().unwrap_or_default()
            })
        });
        outcome.tried += 1;
        outcome.memory = outcome.memory.max(server.running.memory());
        server.running.stop()?;
        let classes = world
            .chronoscope(&["classes", "--json", "--data"])
            .arg(folders.data())
            .stdout(Stdio::piped())
            .output()?;
        let classes: serde_json::Value = serde_json::from_slice(&classes.stdout)?;
        let stored = rows::export(world, &folders.data())?;
        let missing = recorded.unwrap_or_default().saturating_sub(stored.distinct);
        let counted = classes["classes"]["lost_rows"].as_u64().unwrap_or_default();
        let is_told =
            classes["classes"]["uncounted_losses"].as_u64() > Some(0) || counted >= missing;
        outcome.silent += u64::from(missing > 0 && !(known && is_told));
        told += u64::from(missing > 0 && is_told);
        outcome.doubled += stored.doubled;
    }
    outcome.note = format!("{told} with rows missing, each told in status and `classes`");
    Ok(outcome)
}

pub(super) fn sparse(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    // A real ring without rows is the template; these have its beginning and claim a gigabyte each.
    let template = Folders::new()?;
    record(world, template.rings(), 0)?;
    let octets = fs::read(rings(template.rings()).pop().context("a ring")?)?;
    let mut random = world.random();
    for number in 0..60_u64 {
        let mut hostile = octets.clone();
        // The process's id, and most words of the header (docs/formats/ring.md), say anything.
        hostile[56..64].copy_from_slice(&(1000 + number).to_le_bytes());
        if number % 2 == 1 {
            let at = 64 + 8 * random.place(16);
            hostile[at..at + 8].copy_from_slice(&random.bits().to_le_bytes());
        }
        let path = folders.rings().join(format!("hostile.1.{number}.ring"));
        fs::write(&path, hostile)?;
        fs::OpenOptions::new().write(true).open(&path)?.set_len(1 << 30)?;
    }
    record(world, folders.rings(), 500)?;
    let mut server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
    let all_there =
        wait_until(|| server.status().is_ok_and(|status| status["rows"].as_u64() >= Some(500)));
    clock::sleep(Duration::from_secs(3));
    let memory = server.running.memory();
    let is_alive = server.status().is_ok();
    server.running.stop()?;
    Ok(Outcome {
        tried: 60,
        hung: u64::from(!all_there) + u64::from(!is_alive),
        silent: u64::from(memory > 512 << 20),
        memory,
        note: "the program's rows read beside them".to_owned(),
        ..settle(world, &folders, 500, 0)?
    })
}

pub(super) fn namespaces(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let nothing = folders.beside("no-rings");
    fs::create_dir(&nothing)?;
    let unshared = |flags: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(flags).args(["--fork", "--kill-child"]).stdin(Stdio::null());
        command
    };
    let may = |flags: &&&[&str]| {
        let mut command = unshared(flags);
        command.arg("true").stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let ways: [&[&str]; 2] = [&["--pid", "--mount-proc"], &["-Ur", "--pid", "--mount-proc"]];
    let Some(flags) = ways.iter().find(may) else {
        bail!(CannotTry("this user may not make a PID namespace (unshare)"));
    };
    let recorder = Recorder::start(world, folders.rings(), 5_000)?;
    let collector = Server::start(&mut Server::command(world, &folders.data(), &nothing))?;
    let agent = world.chronoscope(&["agent", "--quiet", "--to"]);
    let mut outcome = Outcome::default();
    let mut run = |duration: &str| -> Result<()> {
        let mut command = unshared(flags);
        command.arg(agent.get_program()).args(agent.get_args());
        command.arg(format!("http://{}", collector.address)).args(["--duration", duration]);
        command.arg("--spool").arg(folders.beside("spool")).arg("--rings").arg(folders.rings());
        let mut running = Running::start(command.stdout(Stdio::null()))?;
        let ended = wait_until(|| !running.is_alive());
        outcome.tried += 1;
        outcome.hung += u64::from(!ended);
        // A living program's ring is never removed.
        outcome.lost += u64::from(rings(folders.rings()).is_empty());
        Ok(())
    };
    for _ in 0..world.count(15) {
        run("1s")?;
    }
    let recorded = recorder.end()?;
    let mut tries = 0;
    while !rings(folders.rings()).is_empty() && tries < 5 {
        let mut command = unshared(flags);
        command.arg(agent.get_program()).args(agent.get_args());
        command.arg(format!("http://{}", collector.address)).args(["--duration", "4s"]);
        command.arg("--spool").arg(folders.beside("spool")).arg("--rings").arg(folders.rings());
        let mut running = Running::start(command.stdout(Stdio::null()))?;
        wait_until(|| !running.is_alive());
        tries += 1;
    }
    let counted = collector.status()?["lost_rows"].as_u64().context("lost_rows")?;
    drop(collector);
    let stored = settle(world, &folders, recorded, counted)?;
    outcome.lost += stored.lost;
    outcome.doubled = stored.doubled;
    outcome.note = format!("{recorded} rows recorded, {counted} counted as lost");
    Ok(outcome)
}

//! Attacks on stored data.

use crate::http;
use crate::outcome::{CannotTry, Outcome};
use crate::rows;
use crate::server::{Recorder, Running, Server, fell, finish, output, wait_until};
use crate::spans;
use crate::world::{Folders, World};
use anyhow::{Context, Result, bail};
use chronoscope_clock as clock;
use chronoscope_statistics::Random;
use nix::unistd::geteuid;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Most time for one answer about a small store.
const LATE: Duration = Duration::from_secs(20);
const RATE: u64 = 10_000;

/// Recorded rows that are neither stored nor counted as lost.
fn uncounted(recorded: u64, stored: u64, counted: u64) -> u64 {
    recorded.saturating_sub(stored + counted)
}

pub(super) fn kills(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let mut random = world.random();
    let recorders = [
        Recorder::start(world, folders.rings(), RATE / 2)?,
        Recorder::start(world, folders.rings(), RATE / 2)?,
    ];
    let kills = world.count(200);
    let mut outcome = Outcome { tried: kills, ..Outcome::default() };
    let mut command = Server::command(world, &folders.data(), folders.rings());
    for _ in 0..kills {
        // Some die while they open the store, most at work.
        let after = Duration::from_millis(random.below(1200));
        let mut server = Running::start(&mut command)?;
        clock::sleep(after);
        outcome.memory = outcome.memory.max(server.memory());
        if !server.is_alive() {
            bail!("serve ended unexpectedly: {}", server.said());
        }
        server.kill();
    }
    let server = Server::start(&mut command)?;
    let mut recorded = 0;
    for recorder in recorders {
        recorded += recorder.end()?;
    }
    let (status, is_drained) = server.drained();
    outcome.hung += u64::from(!is_drained);
    outcome.memory = outcome.memory.max(server.running.memory());
    drop(server);
    let stored = rows::export(world, &folders.data())?;
    let counted = status["lost_rows"].as_u64().context("lost_rows")?;
    outcome.lost = uncounted(recorded, stored.distinct, counted);
    outcome.doubled = stored.doubled;
    let check = world.chronoscope(&["store", "check", "--data"]).arg(folders.data()).output()?;
    outcome.silent += u64::from(!check.status.success());
    outcome.note = format!(
        "{} of {recorded} recorded rows stored, {counted} counted as lost",
        stored.distinct
    );
    Ok(outcome)
}

pub(super) fn agent_kills(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let nothing = folders.beside("no-rings");
    fs::create_dir(&nothing)?;
    let mut random = world.random();
    let recorder = Recorder::start(world, folders.rings(), RATE)?;
    // The collector comes back where it was, as agents know it.
    let first = Server::start(&mut Server::command(world, &folders.data(), &nothing))?;
    let at = first.address.to_string();
    let mut server = first.running;
    let mut collect = Server::command_at(world, &folders.data(), &nothing, &at);
    let mut agent_command =
        world.chronoscope(&["agent", "--quiet", "--to", &format!("http://{at}"), "--spool"]);
    agent_command.arg(folders.beside("spool")).arg("--rings").arg(folders.rings());
    let mut agent = Running::start(&mut agent_command)?;
    let kills = world.count(60);
    let mut outcome = Outcome { tried: kills, ..Outcome::default() };
    for kill in 0..kills {
        clock::sleep(Duration::from_millis(100 + random.below(900)));
        let (victim, command) = match kill % 2 {
            0 => (&mut agent, &mut agent_command),
            _ => (&mut server, &mut collect),
        };
        outcome.memory = outcome.memory.max(victim.memory());
        if !victim.is_alive() {
            bail!("it ended by itself: {}", victim.said());
        }
        victim.kill();
        *victim = Running::start(command)?;
    }
    let recorded = recorder.end()?;
    let spool = folders.beside("spool").join("status.json");
    let is_done = wait_until(|| {
        let status: serde_json::Value =
            serde_json::from_slice(&fs::read(&spool).unwrap_or_default()).unwrap_or_default();
        status["processes"].as_array().is_some_and(Vec::is_empty)
            && status["delivery"]["waiting_rows"] == 0
            && status["delivery"]["connected"] == true
    });
    outcome.hung += u64::from(!is_done);
    server.stop()?;
    let status: serde_json::Value =
        serde_json::from_slice(&fs::read(folders.data().join("status.json"))?)?;
    let counted = status["lost_rows"].as_u64().context("lost_rows")?;
    let stored = rows::export(world, &folders.data())?;
    outcome.lost = uncounted(recorded, stored.distinct, counted);
    outcome.doubled = stored.doubled;
    outcome.note = format!(
        "{} of {recorded} recorded rows stored, {counted} counted as lost",
        stored.distinct
    );
    Ok(outcome)
}

/// Rows of each kind and minute of the store under attack.
const ROWS: u64 = 600;
const MINUTE_NS: u64 = 60_000_000_000;

/// Makes a store without a writer, with segments and sketches of three minutes and of both kinds of
/// rows, and with rows that are in its log only. Returns the number of rows.
fn make_store(world: &World, folders: &Folders) -> Result<u64> {
    let record = |minutes_ago: u64| {
        let mut recorder = world.recorder(folders.rings(), &["--rows", "600", "--rate", "1000000"]);
        let offset_ns = -i128::from(minutes_ago * MINUTE_NS);
        recorder.env("CHRONOSCOPE_CLOCK_OFFSET_NS", offset_ns.to_string()).status()
    };
    let mut server = Server::start(&mut Server::command(world, &folders.data(), folders.rings()))?;
    let now_ns = u64::try_from(clock::utc_now_ns())?;
    for minute in [3, 4, 5] {
        record(minute)?;
        let start_ns = now_ns - minute * MINUTE_NS;
        let span = |number| spans::span(minute * ROWS + number, "work".to_owned(), start_ns);
        let body = spans::request((0..ROWS).map(span).collect());
        let answer = http::request(server.address, "POST /v1/traces", spans::CONTENT_TYPE, &body)?;
        if answer.code != 200 {
            bail!("spans are not taken: {}", answer.code);
        }
    }
    let is_sealed = wait_until(|| {
        let status = server.status();
        status.is_ok_and(|status| status["sealed_rows"].as_u64() >= Some(6 * ROWS))
    });
    if !is_sealed {
        bail!("the rows were not sealed");
    }
    // Rows that are in the log only.
    record(0)?;
    server.drained();
    server.running.kill();
    Ok(7 * ROWS)
}

/// The files that hold what a store knows.
fn files(data: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![data.join("manifest")];
    for folder in ["log", "segments", "sketches"] {
        for entry in fs::read_dir(data.join(folder))? {
            files.push(entry?.path());
        }
    }
    files.retain(|file| fs::metadata(file).is_ok_and(|of| of.is_file() && of.len() > 0));
    files.sort();
    Ok(files)
}

/// Answers of a store: its rows, and the statistics of its classes. `None` is an answer that
/// reports missing or damaged data.
#[derive(PartialEq)]
struct Said {
    rows: Option<BTreeSet<String>>,
    classes: Option<String>,
}

impl Said {
    /// Whether each answer is unchanged, or reports that it is incomplete.
    fn is_true_beside(&self, before: &Self) -> bool {
        (self.rows.is_none() || self.rows == before.rows)
            && (self.classes.is_none() || self.classes == before.classes)
    }
}

/// Asks a store; `None` where an answer hangs, panics or ends by a signal.
fn ask(world: &World, data: &Path) -> Result<Option<Said>> {
    let export = output(world.chronoscope(&["export", "--format", "csv", "--data"]).arg(data))?;
    let classes = output(world.chronoscope(&["classes", "--json", "--data"]).arg(data))?;
    let (Some(export), Some(classes)) = (export, classes) else { return Ok(None) };
    if fell(export.status) || fell(classes.status) {
        return Ok(None);
    }
    let told: serde_json::Value = serde_json::from_slice(&classes.stdout).unwrap_or_default();
    let is_whole = told["classes"]["damage"].as_array().is_some_and(Vec::is_empty);
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
    let rows = || text(&export.stdout).lines().map(str::to_owned).collect();
    Ok(Some(Said {
        rows: export.status.success().then(rows),
        classes: (classes.status.success() && is_whole).then(|| text(&classes.stdout)),
    }))
}

/// Changes one file of a store at a time and asks.
fn change_files(
    world: &World,
    tries: u64,
    mut change: impl FnMut(&mut Vec<u8>, &mut Random),
) -> Result<Outcome> {
    let folders = Folders::new()?;
    let rows = make_store(world, &folders)?;
    let data = folders.data();
    let before = ask(world, &data)?.context("the store cannot be asked")?;
    let lines = before.rows.as_ref().map_or(0, BTreeSet::len) as u64;
    if lines != rows + 1 || before.classes.is_none() {
        bail!("{} rows of {rows} before anything was changed", lines.saturating_sub(1));
    }
    let files = files(&data)?;
    let mut random = world.random();
    let mut outcome = Outcome { tried: tries, ..Outcome::default() };
    let (mut warned, mut same) = (0, 0);
    for number in 0..tries {
        // Small files are as important as large ones: every second try by file, else by octet.
        let file = match number % 2 {
            0 => &files[random.place(files.len())],
            _ => by_octet(&files, &mut random)?,
        };
        let whole = fs::read(file)?;
        let mut changed = whole.clone();
        change(&mut changed, &mut random);
        fs::write(file, &changed)?;
        let asked = ask(world, &data)?;
        fs::write(file, &whole)?;
        match asked {
            None => outcome.hung += 1,
            Some(said) if said == before => same += 1,
            Some(said) if said.is_true_beside(&before) => warned += 1,
            Some(_) => {
                eprintln!("attack: silently wrong: {} changed", file.display());
                outcome.silent += 1;
            }
        }
        if number % 100 == 99 {
            eprint!("\rattack: {} of {tries} ", number + 1);
        }
    }
    eprintln!();
    outcome.note = format!("{warned} were told, {same} changed no answer; {} files", files.len());
    Ok(outcome)
}

fn by_octet<'a>(files: &'a [PathBuf], random: &mut Random) -> Result<&'a PathBuf> {
    let mut sizes = Vec::new();
    for file in files {
        sizes.push(fs::metadata(file)?.len());
    }
    let mut at = random.below(sizes.iter().sum());
    for (file, size) in files.iter().zip(sizes) {
        match at.checked_sub(size) {
            None => return Ok(file),
            Some(rest) => at = rest,
        }
    }
    bail!("no file has that octet")
}

pub(super) fn flips(world: &World) -> Result<Outcome> {
    change_files(world, world.count(1000), |octets, random| {
        let at = random.place(octets.len());
        octets[at] ^= 1 << random.below(8);
    })
}

pub(super) fn cuts(world: &World) -> Result<Outcome> {
    change_files(world, world.count(200), |octets, random| {
        octets.truncate(random.place(octets.len()));
    })
}

/// The files of a store but its manifest.
fn listing(data: &Path) -> Result<BTreeSet<PathBuf>> {
    Ok(files(data)?.into_iter().filter(|file| !file.ends_with("manifest")).collect())
}

pub(super) fn manifest(world: &World) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut random = world.random();
    for change in ["removed", "empty", "garbage", "of another store"] {
        let folders = Folders::new()?;
        let rows = make_store(world, &folders)?;
        let data = folders.data();
        let manifest = data.join("manifest");
        let kept = listing(&data)?;
        match change {
            "removed" => fs::remove_file(&manifest)?,
            "empty" => fs::write(&manifest, b"")?,
            "garbage" => fs::write(&manifest, random.octets(4096))?,
            _ => {
                let other = Folders::new()?;
                make_store(world, &other)?;
                fs::copy(other.data().join("manifest"), &manifest)?;
            }
        }
        outcome.tried += 1;
        let mut serve = Server::command(world, &data, folders.rings());
        let mut child = serve.args(["--duration", "2s"]).spawn()?;
        let ended = finish(&mut child, LATE)?;
        outcome.hung += u64::from(ended.is_none());
        if ended.is_some_and(|status| status.success()) || listing(&data)? != kept {
            eprintln!("attack: manifest {change}: it was not refused, or files are gone");
            outcome.silent += 1;
        }
        let repair = output(world.chronoscope(&["store", "repair", "--data"]).arg(&data))?;
        outcome.hung += u64::from(repair.is_none());
        let stored = rows::export(world, &data)?;
        if stored.distinct < rows {
            eprintln!("attack: manifest {change}: {} of {rows} rows", stored.distinct);
        }
        outcome.lost += rows.saturating_sub(stored.distinct);
        outcome.doubled += stored.doubled;
    }
    outcome.note =
        "each was refused, no file was touched, and a repair gave every row back".to_owned();
    Ok(outcome)
}

/// 40 days, in nanoseconds.
const AHEAD_NS: u64 = 40 * 86_400 * 1_000_000_000;

pub(super) fn clock_ahead(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let rows = make_store(world, &folders)?;
    let mut serve = Server::command(world, &folders.data(), folders.rings());
    serve.args(["--keep-age", "30d"]).env("CHRONOSCOPE_CLOCK_OFFSET_NS", AHEAD_NS.to_string());
    let mut server = Server::start(&mut serve)?;
    clock::sleep(Duration::from_secs(8)); // files are looked at every few seconds
    let status = server.status()?;
    let memory = server.running.memory();
    server.running.stop()?;
    let stored = rows::export(world, &folders.data())?;
    let is_told = !status["error"].is_null();
    Ok(Outcome {
        tried: 1,
        lost: rows.saturating_sub(stored.distinct),
        doubled: stored.doubled,
        silent: u64::from(!is_told),
        memory,
        note: format!("{} of {rows} rows stay, and it says why", stored.distinct),
        ..Outcome::default()
    })
}

/// Mounts a small file system at its first argument and executes the rest.
const SMALL_DISK: &str = r#"mount -t tmpfs -o size=24m none "$1" && shift && exec "$@""#;

pub(super) fn full_disk(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    let disk = folders.beside("disk");
    fs::create_dir(&disk)?;
    let unshared = |flags: &str| {
        let mut command = Command::new("unshare");
        command.args([flags, "sh", "-c", SMALL_DISK, "sh"]).arg(&disk);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    };
    let may = |flags: &&str| {
        unshared(flags)
            .arg("true")
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|ended| ended.success())
    };
    let Some(flags) = ["-m", "-Urm"].into_iter().find(may) else {
        bail!(CannotTry("this user may not mount a file system (unshare, mount)"));
    };
    let serve = Server::command(world, &disk.join("data"), folders.rings());
    let mut command = unshared(flags);
    command.arg(serve.get_program()).args(serve.get_args());
    let mut server = Server::start(&mut command)?;
    let recorder = Recorder::start(world, folders.rings(), 40_000)?;
    // Some 100 octets a row and its place in the log: the disk is full within seconds.
    let is_full = wait_until(|| {
        server.status().is_ok_and(|status| status["refused"] == true && !status["error"].is_null())
    });
    let health = server.get("/healthz")?.code;
    clock::sleep(Duration::from_secs(2));
    // What it acknowledged is there after a kill on the full disk, seen from inside the namespace.
    let status = server.status()?;
    let durable = status["durable_rows"].as_u64().context("durable_rows")?;
    let memory = server.running.memory();
    let pid = server.running.id().to_string();
    let disk_of = PathBuf::from("/proc").join(&pid).join("root").join(disk.strip_prefix("/")?);
    let copy = folders.beside("copy");
    let recorded = recorder.end()?;
    // The copy is taken while it is stopped: of one instant, as after a crash.
    let _ = Command::new("kill").args(["-STOP", &pid]).status()?;
    let copied = Command::new("cp").arg("-r").arg(disk_of.join("data")).arg(&copy).status()?;
    let _ = Command::new("kill").args(["-CONT", &pid]).status()?;
    if !copied.success() {
        bail!("the store on the full disk could not be copied");
    }
    let stored = rows::export(world, &copy)?;
    server.running.kill();
    Ok(Outcome {
        tried: 1,
        lost: durable.saturating_sub(stored.distinct),
        doubled: stored.doubled,
        silent: u64::from(!is_full),
        hung: u64::from(health != 200 && health != 503),
        memory,
        note: format!(
            "refused and told; {} rows there of {durable} durable ones; {recorded} were recorded",
            stored.distinct
        ),
    })
}

pub(super) fn other_users(world: &World) -> Result<Outcome> {
    let folders = Folders::new()?;
    make_store(world, &folders)?;
    let mut outcome = Outcome::default();
    let mut open = Vec::new();
    let data = folders.data();
    let mut all = files(&data)?;
    all.extend([data.clone(), data.join("segments"), data.join("log"), data.join("sketches")]);
    for path in &all {
        outcome.tried += 1;
        if fs::metadata(path)?.mode() & 0o077 != 0 {
            open.push(path.display().to_string());
        }
    }
    outcome.silent = open.len() as u64;
    outcome.note = match open.first() {
        Some(path) => format!("{path} may be read by others"),
        None => "owner only, files and folders".to_owned(),
    };
    if geteuid().is_root() {
        // As another user does it, and not only by the modes.
        let path = fs::Permissions::from_mode(0o755);
        fs::set_permissions(data.parent().context("the folder")?, path)?;
        let read = Command::new("setpriv")
            .args(["--reuid", "65534", "--clear-groups", "cat"])
            .arg(data.join("manifest"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if let Ok(read) = read {
            outcome.tried += 1;
            outcome.silent += u64::from(read.success());
        }
    }
    Ok(outcome)
}

//! `chronoscope live` on a terminal: what fits, keys, and how the terminal is left.

#![allow(clippy::unwrap_used)] // helpers of tests

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ROWS: u16 = 12;
const COLUMNS: u16 = 60;

/// A pseudo terminal, and what was written to it.
struct Terminal {
    keyboard: File,
    /// The programs' side.
    line: File,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn new() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let line = File::options().read(true).write(true).open(name).unwrap();
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&line, size).unwrap();
        let mut screen = File::from(master.try_clone().unwrap());
        let written = Arc::<Mutex<Vec<u8>>>::default();
        let all = written.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                all.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { keyboard: master.into(), line, written }
    }

    fn start(&self, command: &mut Command) -> Child {
        let side = || Stdio::from(OwnedFd::from(self.line.try_clone().unwrap()));
        command.stdin(side()).stdout(side()).stderr(side()).env("TERM", "xterm").spawn().unwrap()
    }

    /// Whether keys come by lines and are echoed, as a shell leaves a terminal.
    fn is_as_before(&self) -> bool {
        tcgetattr(&self.line).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// The last whole screen that was painted, without the control sequences.
    fn screen(&self) -> Option<String> {
        let written = String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned();
        let (before, _) = written.rsplit_once("\x1b[J")?;
        let (_, screen) = before.rsplit_once("\x1b[H")?;
        Some(screen.replace("\x1b[K", "").replace('\r', ""))
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(50));
    }
    panic!("never: {what}");
}

/// A folder of rings with programs that have ended and one that runs.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn hops(&self, count: u64, pause_ms: u64) -> Command {
        let program: PathBuf =
            Path::new(env!("CARGO_BIN_EXE_chronoscope")).with_file_name("examples");
        let mut command = Command::new(program.join("two_hops"));
        command.args([count.to_string(), pause_ms.to_string()]).stdout(Stdio::null());
        command.env("CHRONOSCOPE_DIR", self.dir.path());
        command
    }

    fn live(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.arg("live").args(args).env("CHRONOSCOPE_DIR", self.dir.path());
        command
    }
}

/// A program that is killed when a test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Follows until the screen is painted, ends it, and returns how it ended.
fn followed(end: impl FnOnce(&Terminal, &Child)) -> ExitStatus {
    let world = World::new();
    let terminal = Terminal::new();
    let mut live = terminal.start(&mut world.live(&["--every", "100ms"]));
    wait_until("a screen", || terminal.screen().is_some());
    assert!(!terminal.is_as_before(), "single keys are read");
    end(&terminal, &live);
    let status = live.wait().unwrap();
    assert!(terminal.is_as_before(), "the terminal is put back");
    status
}

#[test]
fn q_quits_and_the_terminal_is_put_back() {
    let status = followed(|terminal, _| {
        assert!(terminal.screen().unwrap().ends_with("q ends"), "{:?}", terminal.screen());
        (&terminal.keyboard).write_all(b"xq").unwrap();
    });
    assert!(status.success(), "{status}");
}

#[test]
fn signals_put_the_terminal_back() {
    for signal in ["-TERM", "-INT", "-HUP", "-QUIT"] {
        let status = followed(|_, live| {
            let pid = live.id().to_string();
            assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        });
        assert!(status.success(), "{signal}: {status}");
    }
}

#[test]
fn ended_programs_are_one_line_and_the_page_fits_the_screen() {
    let world = World::new();
    for _ in 0..8 {
        assert!(world.hops(3, 0).status().unwrap().success());
    }
    let _running = Running(world.hops(1_000_000, 1).spawn().unwrap());
    let terminal = Terminal::new();
    let live = Running(terminal.start(&mut world.live(&["--every", "100ms"])));
    // Until it has begun there are only ended ones, which are listed.
    wait_until("the running program's classes", || {
        let screen = terminal.screen();
        screen.is_some_and(|s| s.contains(" · running · ") && s.contains("request"))
    });
    let screen = terminal.screen().unwrap();
    assert!(screen.contains("ended: 8 (--ended lists them): hops 8"), "{screen}");
    assert_eq!(screen.matches(" pid ").count(), 1, "{screen}");
    drop(live);

    let terminal = Terminal::new();
    let _live = Running(terminal.start(&mut world.live(&["--every", "100ms", "--ended"])));
    wait_until("a screen", || {
        terminal.screen().is_some_and(|screen| screen.contains("more lines"))
    });
    let screen = terminal.screen().unwrap();
    assert!(screen.lines().count() <= usize::from(ROWS), "{screen}");
    let fits = |line: &str| line.chars().count() <= usize::from(COLUMNS);
    assert!(screen.lines().all(fits), "{screen}");

    let once = world.live(&["--once", "--ended"]).output().unwrap();
    let once = String::from_utf8(once.stdout).unwrap();
    assert_eq!(once.matches(" pid ").count(), 9, "{once}");
}

#[test]
fn a_class_that_no_ring_knows_is_answered_with_the_nearest_one() {
    let world = World::new();
    assert!(world.hops(3, 0).status().unwrap().success());
    for asked in [["--histogram", "anwser"], ["--disable", "anwser"]] {
        let output = world.live(&asked).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("anwser. Did you mean answer?"), "{said}");
    }
}

//! The preload libraries in programs and environments that mean them no good: the programs do what
//! they do without them.

#![allow(clippy::unwrap_used)] // helpers of tests

mod support;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;
use support::{World, classes, compile, have, instrument, root, run, text};

/// Longer than anything here takes on a busy machine.
const HANGS: Duration = Duration::from_secs(60);

fn db_library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| instrument("db").join("libarm4_db.so"))
}

fn functions_library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| instrument("functions").join("libarm4_functions.so"))
}

/// The client of libpq; `None`, loudly, where there is no libpq.
fn client(world: &World) -> Option<PathBuf> {
    if !have("/usr/include/postgresql/libpq-fe.h", "libpq-dev", "SQL through libpq") {
        return None;
    }
    let program = world.path().join("hostile_client");
    let source = root().join("instrument/tests/c/hostile_client.c");
    let mut cc = Command::new("gcc");
    cc.args(["-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]);
    cc.args(["-I/usr/include/postgresql", "-o"]).arg(&program).arg(source).arg("-lpq");
    run(&mut cc);
    Some(program)
}

/// The program of the functions' tests, built to be recorded.
fn functions_program(world: &World) -> PathBuf {
    let program = world.path().join("program");
    let folder = functions_library().parent().unwrap().to_str().unwrap().to_owned();
    let (search, run_path) = (format!("-L{folder}"), format!("-Wl,-rpath,{folder}"));
    let flags = ["-std=gnu11", "-finstrument-functions", &search, &run_path];
    let flags = [&flags[..], &["-Wl,--no-as-needed", "-larm4_functions"]].concat();
    compile("gcc", &["tests/c/functions_demo.c"], &flags, &program);
    program
}

fn patterns() -> PathBuf {
    root().join("instrument/tests/c/functions.patterns")
}

/// Runs it to its end, which comes.
fn ended(command: &mut Command) -> Output {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = child.id().to_string();
    let (told, ending) = std::sync::mpsc::channel();
    std::thread::spawn(move || told.send(child.wait_with_output().unwrap()));
    ending.recv_timeout(HANGS).unwrap_or_else(|_| {
        let _ = Command::new("kill").args(["-KILL", &pid]).status();
        let shown: String = format!("{command:?}").chars().take(500).collect();
        panic!("does not end: {shown}");
    })
}

/// Values of environment variables that nobody means.
fn values() -> Vec<OsString> {
    let mut values: Vec<OsString> = ["", " ", "-1", "0", "18446744073709551616", "1e9", "off"]
        .into_iter()
        .chain(["/", "/dev/null", "/dev/zero", "/proc/self/mem", ".", "../../../..", "%s%n"])
        .chain(["\u{1b}[2J\u{7}\n\r", "nan", "verb", "\u{4f60}\u{597d}", "a,b/c::d/all,,/,::"])
        .map(OsString::from)
        .collect();
    values.push(OsString::from_vec(vec![0xff, 0xfe, 0xc3]));
    values.push(OsString::from("x".repeat(100_000)));
    values.push(OsString::from("ab".repeat(40_000)));
    values
}

const VARIABLES: [&str; 13] = [
    "CHRONOSCOPE_DIR",
    "TMPDIR",
    "CHRONOSCOPE_SLOTS",
    "CHRONOSCOPE_WORST",
    "CHRONOSCOPE_CPU",
    "CHRONOSCOPE_CORE",
    "CHRONOSCOPE_ENDED_MIB",
    "CHRONOSCOPE_ENDED_DAYS",
    "CHRONOSCOPE_ARM_OFF",
    "ARM4_APPLICATION",
    "ARM4_SQL",
    "ARM_CORRELATOR",
    "TRACEPARENT",
];

/// Every variable with every value: the program ends as it does without the library.
#[test]
fn a_program_runs_whatever_its_environment_says() {
    let world = World::new();
    let Some(program) = client(&world) else { return };
    let short = || {
        let mut command = world.command(&program);
        command.arg("short").current_dir(world.path()).env("CHRONOSCOPE_SLOTS", "16");
        command
    };
    let plain = ended(&mut short());
    assert!(plain.status.success());
    for variable in VARIABLES {
        for value in values() {
            let mut command = short();
            let output = ended(command.env("LD_PRELOAD", db_library()).env(variable, &value));
            let shown: String = value.to_string_lossy().chars().take(40).collect();
            assert!(output.status.success(), "{variable}={shown:?}: {output:?}");
            assert_eq!(output.stdout, plain.stdout, "{variable}={shown:?}");
        }
    }
}

/// Files of patterns that are none: the program runs, nothing is recorded, and nothing is waited
/// for.
#[test]
fn a_program_runs_whatever_its_patterns_are() {
    let world = World::new();
    let program = functions_program(&world);
    let plain = ended(world.command(&program).env_remove("ARM4_FUNCTIONS"));
    assert!(plain.status.success());
    let fifo = world.path().join("fifo");
    run(Command::new("mkfifo").arg(&fifo));
    let file = world.path().join("patterns");
    let files = [
        b"include ".repeat(10_000),
        b"include *\n".repeat(100_000),
        [&b"include "[..], &b"[".repeat(1000)].concat(),
        [&b"include "[..], &b"*a".repeat(500), b"\nexclude x\n"].concat(),
        b"depth 99999999999999999999\ninclude *".to_vec(),
        b"application \xff\xfe\x1b[2J\ninclude *\n".to_vec(),
        b"\0\0\0\n\0".to_vec(),
        vec![b'\n'; 100_000],
    ];
    let mut named: Vec<OsString> = values();
    named.push(fifo.into_os_string());
    for name in named {
        let output = ended(world.command(&program).env("ARM4_FUNCTIONS", &name));
        assert!(output.status.success(), "{name:?}: {output:?}");
        assert_eq!(output.stdout, plain.stdout);
    }
    for content in files {
        std::fs::write(&file, &content).unwrap();
        let output = ended(world.command(&program).env("ARM4_FUNCTIONS", &file));
        let shown = text(&content[..content.len().min(40)]);
        assert!(output.status.success(), "{shown:?}: {output:?}");
        assert_eq!(output.stdout, plain.stdout);
    }
}

/// Sections and symbols are of no use to whoever loads a program: they may say anything.
#[test]
fn a_program_with_damaged_symbols_runs() {
    let world = World::new();
    let program = functions_program(&world);
    let whole = std::fs::read(&program).unwrap();
    let u64_at = |at: usize| u64::from_le_bytes(whole[at..at + 8].try_into().unwrap());
    let sections = usize::try_from(u64_at(40)).unwrap(); // e_shoff
    let count = usize::from(u16::from_le_bytes([whole[60], whole[61]])); // e_shnum
    let plain = ended(world.command(&program).env_remove("ARM4_FUNCTIONS"));
    let damaged = world.path().join("damaged");
    let tables = sections..sections + count * 64;
    assert_eq!(tables.end, whole.len());
    // The same every time: xorshift.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for round in 0..150 {
        let mut bytes = whole.clone();
        match round % 3 {
            // Where the section headers are, how many, and how large.
            0 => {
                for _ in 0..1 + random(3) {
                    let at = [40, 41, 44, 47, 58, 59, 60, 61, 62][random(9)];
                    bytes[at] = u8::try_from(random(256)).unwrap();
                }
            }
            // What they say.
            1 => {
                for _ in 0..1 + random(8) {
                    let at = tables.start + random(tables.len());
                    bytes[at] = u8::try_from(random(256)).unwrap();
                }
            }
            // The file ends within them.
            _ => bytes.truncate(tables.end - random(tables.len())),
        }
        std::fs::write(&damaged, bytes).unwrap();
        run(Command::new("chmod").arg("755").arg(&damaged));
        let mut command = world.command(&damaged);
        let output = ended(command.env("ARM4_FUNCTIONS", patterns()));
        assert_eq!(output.status.signal(), None, "round {round}: {output:?}");
        assert_eq!(output.stdout, plain.stdout, "round {round}");
    }
}

/// Texts of a megabyte, more classes and connections than are kept, 20 threads that fork, and
/// another program in the process's place.
#[test]
fn a_client_that_misuses_its_library_sees_the_same() {
    let world = World::new();
    let Some(program) = client(&world) else { return };
    let plain = ended(&mut world.command(&program));
    assert!(plain.status.success(), "{plain:?}");
    for detail in ["text", "verb"] {
        let mut command = world.command(&program);
        command.env("LD_PRELOAD", db_library()).env("ARM4_SQL", detail);
        let measured = ended(command.env("CHRONOSCOPE_SLOTS", "16"));
        assert!(measured.status.success(), "{measured:?}");
        assert_eq!(text(&measured.stdout), text(&plain.stdout));
    }
    let all = world.transactions();
    assert!(classes(&all).iter().all(|class| !class.chars().any(char::is_control)));
    let pids: std::collections::BTreeSet<_> =
        all.iter().filter_map(|t| t.process.as_ref().map(|p| p.pid)).collect();
    assert!(pids.len() > 20, "forked children have rings of their own: {}", pids.len());
}

/// A daemon closes stdin, stdout and stderr before it begins.
#[test]
fn a_program_without_standard_files_is_recorded() {
    let world = World::new();
    let program = functions_program(&world);
    let mut shell = world.command("sh");
    shell.arg("-c").arg("exec \"$0\" <&- >&- 2>&-").arg(&program);
    let output = ended(shell.env("ARM4_FUNCTIONS", patterns()));
    assert_eq!(output.status.signal(), None);
    let all = world.transactions();
    assert_eq!(classes(&all).iter().filter(|class| **class == "twice").count(), 301);
    if let Some(client) = client(&world) {
        let mut shell = world.command("sh");
        shell.arg("-c").arg("exec \"$0\" short <&- >&- 2>&-").arg(&client);
        let output = ended(shell.env("LD_PRELOAD", db_library()));
        assert_eq!(output.status.signal(), None);
        assert!(classes(&world.transactions()).contains(&"SELECT ?"));
    }
}

//! Counting by Callgrind: the command that runs a program under it, and the totals of its files.

use crate::preload;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// The command line that runs a program and its children under Callgrind, one file each.
/// `later`: counting begins with the window, which the preload library tells; until then they
/// run without being counted, which is faster.
pub(super) fn under(
    folder: &Path,
    name: &str,
    command: Vec<OsString>,
    later: bool,
) -> Vec<OsString> {
    let file = |suffix: &str| folder.join(format!("{name}.%p{suffix}")).into_os_string();
    let option = |option: &str, file: OsString| {
        let mut text = OsString::from(option);
        text.push(file);
        text
    };
    let mut all: Vec<OsString> = vec![
        valgrind().into(),
        "--tool=callgrind".into(),
        "--fair-sched=yes".into(),
        "--trace-children=yes".into(),
        "--collect-systime=nsec".into(), // CPU time of system calls, by function
        "--vgdb=no".into(),              // its pipes have process numbers in their names
        option("--callgrind-out-file=", file("")),
        // Valgrind's own messages have process numbers in them and are no program's output.
        option("--log-file=", file(".log")),
    ];
    if later {
        all.push("--instr-atstart=no".into());
    }
    all.extend(command);
    all
}

/// The program itself where the one on the path is a shell script around it, which would take
/// part as a process.
fn valgrind() -> PathBuf {
    let path = Path::new("/usr/bin/valgrind.bin");
    if path.exists() { path.to_owned() } else { "valgrind".into() }
}

/// Whether counting can begin with a window: the preload library knows how on this processor only.
pub(super) const BEGINS_LATER: bool = cfg!(target_arch = "x86_64");

/// Whether Callgrind can be run.
pub(super) fn check() -> io::Result<()> {
    let mut command = std::process::Command::new(valgrind());
    let output = command.arg("--version").output()?;
    if output.status.success() { Ok(()) } else { Err(io::Error::other(output.status.to_string())) }
}

/// Instructions of one process: all, and those outside of the preload library, whose waits in real
/// time are not the same every time. All files of its number are summed: parts, threads.
pub(super) fn instructions(folder: &Path, name: &str, pid: i32) -> io::Result<Option<(u64, u64)>> {
    let first = format!("{name}.{pid}");
    let part = format!("{first}.");
    let thread = format!("{first}-");
    let mut sum = None;
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.file_name().into_string().unwrap_or_default();
        let log = file.ends_with(".log");
        if !log && (file == first || file.starts_with(&part) || file.starts_with(&thread)) {
            let (all, without) = totals(BufReader::new(std::fs::File::open(folder.join(&file))?))?;
            let (a, b) = sum.unwrap_or_default();
            sum = Some((a + all, b + without));
        }
    }
    Ok(sum)
}

/// Own costs of all lines, and of those that are not the preload library's. Format: the
/// "Callgrind Format Specification" of Valgrind's manual; names are compressed to numbers, the
/// line after `calls=` is inclusive and not an own cost.
fn totals(input: impl BufRead) -> io::Result<(u64, u64)> {
    let (mut all, mut without) = (0u64, 0u64);
    let (mut ours, mut our_id, mut inclusive) = (false, None, false);
    let mut positions = 1;
    for line in input.lines() {
        let line = line?;
        // An object is named where it is met first, be it as the caller's or the called one's.
        if let Some(object) = line.strip_prefix("ob=").or(line.strip_prefix("cob=")) {
            let id = object.split(' ').next().map(str::to_owned);
            if object.ends_with(preload::FILE_NAME) {
                our_id.clone_from(&id);
            }
            if line.starts_with("ob=") {
                ours = id.is_some() && id == our_id;
            }
        } else if let Some(kinds) = line.strip_prefix("positions:") {
            positions = kinds.split_whitespace().count();
        } else if line.starts_with("calls=") {
            inclusive = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            let cost = line.split_whitespace().nth(positions).and_then(|cost| cost.parse().ok());
            let cost: u64 = cost.unwrap_or(0);
            if !std::mem::take(&mut inclusive) {
                all += cost;
                without += if ours { 0 } else { cost };
            }
        }
    }
    Ok((all, without))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_preload_library_is_taken_out() {
        let text = "version: 1\npositions: line\nevents: Ir\n\nob=(1) /usr/bin/p\nfl=(1) p.c\n\
                    fn=(1) main\n1 10\ncob=(2) /tmp/libchronoscope_time.so\ncfn=(2) f\ncalls=1 7\n\
                    +2 500\n\nob=(2)\nfn=(2)\n7 500\n\nob=(1)\n* 5\n";
        assert!(text.contains(crate::preload::FILE_NAME));
        assert_eq!(super::totals(text.as_bytes()).unwrap(), (515, 15));
    }
}

//! The terminal in which a page is followed: one shell, in a folder of its own.

use crate::page::{Block, Task, not_shown};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Stands behind the output of a command, before its exit code.
const END: &str = "-- the command has ended with ";
/// A command that takes longer hangs: none of a page takes a tenth of it on an idle machine.
const COMMAND_MAX: Duration = Duration::from_secs(200);
/// How long `sh again` is repeated.
const AGAIN_MAX_NS: i64 = 200_000_000_000;

/// A shell. It and everything that it has started are killed when this is dropped.
pub(crate) struct Terminal {
    shell: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Terminal {
    /// In this folder, with these variables and no other settings of OpenTelemetry or PostgreSQL.
    pub(crate) fn open(folder: &Path, variables: &[(&str, String)]) -> Self {
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc"]).current_dir(folder).process_group(0);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if ["OTEL_", "PG", "CHRONOSCOPE_"].iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(shell.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.split(b'\n') {
                let Ok(line) = line else { return };
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        let mut stdin = shell.stdin.take().unwrap();
        stdin.write_all(b"exec 2>&1\n").unwrap();
        Self { shell, stdin, lines }
    }

    /// Does what a block of a page asks for.
    ///
    /// # Panics
    /// When a command fails, or does not show what the page says.
    pub(crate) fn follow(&mut self, folder: &Path, block: &Block) {
        match &block.task {
            Task::Install => {}
            Task::WriteFile { name } => std::fs::write(folder.join(name), &block.body).unwrap(),
            Task::Type { again, shows } => self.type_until(block, *again, shows.as_deref()),
        }
    }

    fn type_until(&mut self, block: &Block, again: bool, shows: Option<&str>) {
        let begun_ns = chronoscope_clock::utc_now_ns();
        loop {
            let (code, output) = self.run(&block.body);
            let missing = not_shown(shows.unwrap_or_default(), &output);
            if code == "0" && missing.is_none() {
                return;
            }
            let waited_ns = chronoscope_clock::utc_now_ns() - begun_ns;
            let Block { section, line, body, .. } = block;
            assert!(
                again && waited_ns < AGAIN_MAX_NS,
                "line {line} ({section}): exit code {code}, not shown: {missing:?}\n{body}\n{output}"
            );
            chronoscope_clock::sleep(Duration::from_secs(1));
        }
    }

    /// The output of a command that has to succeed.
    pub(crate) fn ask(&mut self, command: &str) -> String {
        let (code, output) = self.run(command);
        assert_eq!(code, "0", "{command}: {output}");
        output
    }

    /// Exit code and output of a command, which may have several lines.
    fn run(&mut self, command: &str) -> (String, String) {
        write!(self.stdin, "{{\n{command}\n}} </dev/null\necho \"{END}$?\"\n").unwrap();
        let mut output = String::new();
        loop {
            let line = match self.lines.recv_timeout(COMMAND_MAX) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => panic!("{command} hangs: {output}"),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("{command} ended the shell: {output}")
                }
            };
            // The last line of an output need not end.
            if let Some((rest, code)) = line.split_once(END) {
                return (code.to_owned(), output + rest);
            }
            output.push_str(&line);
            output.push('\n');
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.shell);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.shell.wait();
    }
}

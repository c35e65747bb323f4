//! A provider's process, its users' configuration, and its operator.

use chronoscope_clock as clock;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::iter;
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// FCLTU `cltu1`, RAF `onlc1` and RCF `onlc2`.
const INSTANCES: &str = r#"
[[instance]]
id = "sagr=1.spack=A.fsl-fg=1.cltu=cltu1"
[instance.forward]
notify = "every"
BIT_RATE
[[instance.forward.event]]
id = 1
outcome = "completed"

[[instance]]
id = "sagr=1.spack=A.rsl-fg=1.raf=onlc1"
[instance.return]
ANNOTATE
[instance.return.generator]
octets = 100
rate = 20000

[[instance]]
id = "sagr=1.spack=A.rsl-fg=1.rcf=onlc2"
[instance.return]
channels = ["1.0.0"]
[instance.return.generator]
octets = 100
count = 500
virtual_channels = [0, 1]
"#;

/// A running provider, and the configuration of its users; killed when dropped.
pub(crate) struct Station {
    pub(crate) folder: TempDir,
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) control: String,
    /// Addresses of the UDP sources.
    pub(crate) sources: Vec<String>,
    /// What it says on standard output after `ready`.
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
    pub(crate) instances: String,
}

impl Station {
    pub(crate) fn new() -> Self {
        Self::with("", "")
    }

    pub(crate) fn with(bit_rate: &str, annotate: &str) -> Self {
        Self::of(&INSTANCES.replace("BIT_RATE", bit_rate).replace("ANNOTATE", annotate), &[])
    }

    /// A provider of these instances, with these arguments.
    pub(crate) fn of(instances: &str, args: &[&str]) -> Self {
        Self::at("127.0.0.1:0", instances, args)
    }

    /// As [`Self::of`], at an address that was another's before.
    pub(crate) fn at(listen: &str, instances: &str, args: &[&str]) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let config = folder.path().join("provider.toml");
        let own = format!(
            "[provider]\nid = \"STATION\"\nlisten = [\"{listen}\"]\ncontrol = \"127.0.0.1:0\"\n\
             [[peer]]\nid = \"MCC\"\n"
        );
        fs::write(&config, own + instances).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sle-provider"))
            .arg("-qc")
            .arg(&config)
            .args(args)
            .env("CHRONOSCOPE_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let said = || lines.next().unwrap().unwrap();
        let said: Vec<String> =
            iter::repeat_with(said).take_while(|said| said != "ready").collect();
        let behind = |word: &str| -> Vec<String> {
            let of = said.iter().filter(|said| said.starts_with(word));
            of.map(|said| said.rsplit(' ').next().unwrap().to_owned()).collect()
        };
        let (address, control) = (behind("listening").remove(0), behind("control").remove(0));
        let sources = behind("source");
        let instances = instances.to_owned();
        let station = Self { folder, child, address, control, sources, lines, instances };
        station.lead_users_to(&station.address);
        station
    }

    /// Users connect to that address from now on.
    pub(crate) fn lead_users_to(&self, address: &str) {
        let own = format!(
            "[user]\nid = \"MCC\"\naddress = \"{address}\"\nreturn_timeout_s = 20\n\
             [[peer]]\nid = \"STATION\"\n"
        );
        fs::write(self.folder.path().join("user.toml"), own + &self.instances).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sle-user"));
        command
            .arg("-c")
            .arg(self.folder.path().join("user.toml"))
            .args(args)
            .env("CHRONOSCOPE_DIR", self.folder.path())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn user(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// What a user that has to succeed printed, with `--json`.
    pub(crate) fn json(&self, args: &[&str]) -> Vec<Value> {
        let output = self.user(&[&["--json"], args].concat());
        assert!(output.status.success(), "{args:?}: {output:?}");
        results(&output)
    }

    pub(crate) fn order(&self, line: &str) -> String {
        let mut stream = TcpStream::connect(&self.control).unwrap();
        writeln!(stream, "{line}").unwrap();
        let mut said = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            said += &line;
            if line == "ok" || line.starts_with("error:") {
                break;
            }
            said += "\n";
        }
        said
    }

    /// The line of an instance in `status`.
    pub(crate) fn status(&self, instance: &str) -> String {
        let status = self.order("status");
        let of = |line: &&str| line.split(' ').next().is_some_and(|id| id.ends_with(instance));
        status.lines().find(of).unwrap().to_owned()
    }

    /// A number in an instance's line, behind a word.
    pub(crate) fn count(&self, instance: &str, word: &str) -> u64 {
        let line = self.status(instance);
        let mut words = line.split([' ', ',']);
        words.find(|one| *one == word).unwrap();
        words.next().unwrap().parse().unwrap()
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn results(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").arg(name).arg(child.id().to_string()).status().unwrap();
    assert!(status.success());
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if is_so() {
            return;
        }
        clock::sleep(Duration::from_millis(10));
    }
    panic!("it never was");
}

//! A collector that listens, the programs around it, and what they say.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// The repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Python with OpenTelemetry's SDK; `None`, said loudly, where it cannot be had.
pub(crate) fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PYTHON.get_or_init(|| {
        let output = Command::new(repository().join("tools/venv")).arg("otel").output().ok()?;
        let path = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| PathBuf::from(path.trim()))
    });
    if found.is_none() {
        eprintln!("SKIPPED: no OpenTelemetry SDK for Python here (tools/venv otel)");
    }
    found.as_deref()
}

/// A folder with rings and stored transactions.
pub(crate) struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.dir.path().join("rings")).unwrap();
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `chronoscope` with these arguments, in this world.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chronoscope"));
        command.args(args).env("CHRONOSCOPE_DIR", self.path("rings"));
        command.env("CHRONOSCOPE_DATA", self.path("data")).env("TZ", "UTC");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that has to succeed and to print JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The transactions of a chain, each under its class.
    pub(crate) fn chain(&self, id: &str) -> Chain {
        Chain(self.json(&["chain", id, "--json"])["transactions"].as_array().unwrap().clone())
    }

    /// Rows of a class, and how many of them are there a second time.
    pub(crate) fn count(&self, class: &str) -> (u64, u64) {
        let output = self.run(&["chains", "--sync", class, "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let chains = &answer["chains"];
        let count = |value: &Value| value.as_u64().unwrap_or(0);
        (count(&chains["distribution"]["count"]), count(&chains["counts"]["duplicates"]))
    }

    /// A collector on this port of the loopback address; 0: the kernel chooses.
    pub(crate) fn serve(&self, port: u16) -> Server {
        self.serve_with(port, &[])
    }

    /// The same with further arguments.
    pub(crate) fn serve_with(&self, port: u16, arguments: &[&str]) -> Server {
        let listen = format!("127.0.0.1:{port}");
        let mut command = self.command(&["serve", "--listen", &listen]);
        command.args(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(said.read_line(&mut line).unwrap() > 0, "the server ended");
            if let Some(rest) = line.strip_prefix("answering on http://") {
                break rest.trim().trim_end_matches("/status").to_owned();
            }
        };
        Server { child, said, address }
    }
}

/// A collector; killed when dropped.
pub(crate) struct Server {
    child: Child,
    said: BufReader<ChildStderr>,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn port(&self) -> u16 {
        self.address.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// The next line of its log that has these words; those before are passed over.
    pub(crate) fn line_with(&mut self, words: &str) -> String {
        let mut before = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.said.read_line(&mut line).unwrap();
            assert!(read > 0, "the server ended without {words:?}: {before:#?}");
            if line.contains(words) {
                return line.trim_end().to_owned();
            }
            before.push(line);
        }
    }

    /// The body of the answer to a GET request.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        text(&answer)
    }

    /// Sends bytes as an export of traces and returns the answer's status and body.
    pub(crate) fn post(&self, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
        self.post_to("/v1/traces", headers, body)
    }

    /// Sends bytes as a POST request and returns the answer's status and body.
    pub(crate) fn post_to(&self, path: &str, headers: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\
             content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses a body need not read it.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let status = text(&answer).split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n");
        (status, end.map_or(Vec::new(), |end| answer[end + 4..].to_vec()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The transactions of one chain.
pub(crate) struct Chain(pub(crate) Vec<Value>);

impl Chain {
    /// The only transaction of a class.
    pub(crate) fn of(&self, class: &str) -> &Value {
        let mut found = self.0.iter().filter(|t| t["class"] == class);
        let first = found.next().unwrap_or_else(|| panic!("no {class} in {:#?}", self.0));
        assert!(found.next().is_none(), "{class} is there twice");
        first
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        chronoscope_clock::sleep(Duration::from_millis(50));
    }
    panic!("30 s passed and not yet: {what}");
}

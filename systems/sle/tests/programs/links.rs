//! `sle-user link` as a process, and programs that are connected to it.

use crate::station::{Station, signal, until};
use bytes::Bytes;
use chronoscope_sle::link::message::RequestedCltu;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Long enough for a loaded machine; nothing is asserted about it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running daemon; killed when dropped.
pub(crate) struct Links {
    pub(crate) child: Child,
    pub(crate) addresses: HashMap<String, String>,
    config: PathBuf,
    status: PathBuf,
    said: Arc<Mutex<Vec<String>>>,
}

impl Links {
    /// The links in the folder of a station, whose instances they know.
    pub(crate) fn of(station: &Station, links: &str) -> Self {
        Self::to(station, &station.address, links)
    }

    /// As [`Self::of`]; the station is at another address.
    pub(crate) fn to(station: &Station, address: &str, links: &str) -> Self {
        let folder = station.folder.path();
        let (config, status) = (folder.join("link.toml"), folder.join("status.json"));
        let text = format!(
            "[user]\nid = \"MCC\"\naddress = \"{address}\"\nreturn_timeout_s = 20\n\
             [[peer]]\nid = \"STATION\"\n[links]\nstatus = \"{}\"\n{}\n{links}",
            status.display(),
            station.instances
        );
        fs::write(&config, text).unwrap();
        Self::start(config, status)
    }

    /// Starts the program with a configuration that is there.
    fn start(config: PathBuf, status: PathBuf) -> Self {
        let folder = config.parent().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_sle-user"))
            .arg("link")
            .arg(&config)
            .env("CHRONOSCOPE_DIR", folder)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said: Arc<Mutex<Vec<String>>> = Arc::default();
        let (stderr, saying) = (child.stderr.take().unwrap(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                eprintln!("link: {line}");
                saying.lock().unwrap().push(line);
            }
        });
        let mut addresses = HashMap::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line == "ready" {
                break;
            }
            let mut words = line.strip_prefix("listening ").unwrap().splitn(2, ' ');
            let name = words.next().unwrap().to_owned();
            addresses.insert(name, words.next().unwrap().to_owned());
        }
        Self { child, addresses, config, status, said }
    }

    /// Kills it, and starts it again with the same configuration.
    pub(crate) fn killed_and_started(mut self) -> Self {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        Self::start(self.config.clone(), self.status.clone())
    }

    /// Changes its configuration, and tells it so.
    pub(crate) fn reconfigure(&self, change: impl Fn(&str) -> String) {
        let text = fs::read_to_string(&self.config).unwrap();
        fs::write(&self.config, change(&text)).unwrap();
        signal(&self.child, "-HUP");
    }

    /// The state of a link as the status file has it.
    pub(crate) fn status(&self, name: &str) -> Value {
        let mut found = Value::Null;
        until(|| {
            // It is there a second after the start at the latest.
            let Ok(text) = fs::read_to_string(&self.status) else { return false };
            let all: Value = serde_json::from_str(&text).unwrap();
            let links = all["links"].as_array().unwrap();
            found = links.iter().find(|link| link["name"] == name).cloned().unwrap_or(Value::Null);
            // That of an earlier process is none.
            all["pid"] == self.child.id()
        });
        found
    }

    /// Waits until a link is in a state.
    #[track_caller]
    pub(crate) fn until_state(&self, name: &str, state: &str) {
        until(|| self.status(name)["state"] == state);
    }

    /// Lines of its log with this text.
    pub(crate) fn said(&self, text: &str) -> usize {
        self.said.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }

    /// Tells it to end, and waits until it has.
    pub(crate) fn end(mut self) {
        signal(&self.child, "-TERM");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }

    pub(crate) fn program(&self, name: &str) -> Program {
        Program::connect(&self.addresses[name])
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Read for Stream {
    fn read(&mut self, octets: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(octets),
            Self::Tcp(stream) => stream.read(octets),
        }
    }
}

/// A program of the same host.
pub(crate) struct Program {
    stream: BufReader<Stream>,
}

impl Program {
    fn connect(address: &str) -> Self {
        let stream = match address.strip_prefix("unix:") {
            Some(path) => {
                let stream = UnixStream::connect(path).unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                Stream::Unix(stream)
            }
            None => {
                let stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                Stream::Tcp(stream)
            }
        };
        Self { stream: BufReader::new(stream) }
    }

    /// Whether all octets were written: the daemon may be gone.
    pub(crate) fn octets(&mut self, octets: &[u8]) -> bool {
        match self.stream.get_mut() {
            Stream::Unix(stream) => stream.write_all(octets).is_ok(),
            Stream::Tcp(stream) => stream.write_all(octets).is_ok(),
        }
    }

    /// Gives a CLTU of 100 octets with its reference in front.
    pub(crate) fn cltu(&mut self, reference: u64) -> bool {
        let mut data = vec![0; 100];
        data[..8].copy_from_slice(&reference.to_be_bytes());
        let request = RequestedCltu {
            reference,
            earliest_utc_ns: None,
            latest_utc_ns: None,
            delay_us: 0,
            data: Bytes::from(data),
        };
        self.octets(&request.encode())
    }

    /// The next line of an answer; `None`: the connection has ended.
    pub(crate) fn answer(&mut self) -> Option<Value> {
        let mut line = String::new();
        // A connection that is reset has ended, too.
        if self.stream.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        Some(serde_json::from_str(&line).unwrap())
    }

    /// The last fates of so many CLTUs, by their references.
    pub(crate) fn fates(&mut self, count: usize) -> HashMap<u64, String> {
        let mut fates = HashMap::new();
        while fates.len() < count {
            let answer = self.answer().expect("an answer comes before the end");
            if answer["final"] == true {
                let reference = answer["reference"].as_u64().unwrap();
                let fate = answer["fate"].as_str().unwrap().to_owned();
                assert_eq!(fates.insert(reference, fate), None, "one last fate each: {answer}");
            }
        }
        fates
    }

    /// The fates of all CLTUs from an index on that the daemon knows.
    pub(crate) fn known(&mut self, index: u64) -> Vec<Value> {
        assert!(self.octets(&[&b"SLQ1\0\0\0\x08"[..], &index.to_be_bytes()].concat()));
        let mut known = Vec::new();
        loop {
            let answer = self.answer().unwrap();
            if answer["end"] == true {
                return known;
            }
            if answer["final"].is_null() {
                known.push(answer);
            }
        }
    }

    /// The next message with a frame or a notification: its kind, its number, and what follows.
    pub(crate) fn message(&mut self) -> (u8, u64, Vec<u8>) {
        let mut header = [0; 8];
        self.stream.read_exact(&mut header).unwrap();
        assert_eq!(header[..4], *b"SLF1");
        let length = u32::from_be_bytes(header[4..].try_into().unwrap());
        let mut body = vec![0; length as usize];
        self.stream.read_exact(&mut body).unwrap();
        parsed(&body)
    }
}

/// The body of a message: its kind, its number, and what follows.
pub(crate) fn parsed(body: &[u8]) -> (u8, u64, Vec<u8>) {
    (body[0], u64::from_be_bytes(body[1..9].try_into().unwrap()), body[9..].to_vec())
}

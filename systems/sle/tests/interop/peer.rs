//! An independent implementation as a process that takes orders: many sessions at a time, each by
//! its name. What happens in it comes as lines of JSON.

use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// How long anything may take: a JVM that starts on a busy machine takes its time.
pub const LONG: Duration = Duration::from_secs(120);

type Sessions = Arc<Mutex<HashMap<String, Sender<Value>>>>;

/// A process that takes orders. It ends with its standard input, which ends with this process.
pub struct Peer {
    orders: Mutex<ChildStdin>,
    sessions: Sessions,
    count: AtomicU32,
}

/// The SLE User Test Library in one JVM for all tests; `None`, loudly, where it cannot be had.
pub fn utl(test: &str) -> Option<&'static Peer> {
    static UTL: OnceLock<Result<Peer, String>> = OnceLock::new();
    let found = UTL.get_or_init(|| {
        let line = tool("utl", "build")?;
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        // Many short sessions: compiling what they run costs more than it saves.
        command.args(["-XX:TieredStopAtLevel=1", "-Xshare:auto"]).args(words).arg("orders");
        Ok(Peer::start(command))
    });
    said(test, found)
}

/// The Python package `sle`, likewise.
pub fn python(test: &str) -> Option<&'static Peer> {
    static PYTHON: OnceLock<Result<Peer, String>> = OnceLock::new();
    let found = PYTHON.get_or_init(|| {
        let mut command = Command::new(tool("venv", "sle")?);
        command.arg(root().join("systems/sle/tests/peers/python/orders.py"));
        Ok(Peer::start(command))
    });
    said(test, found)
}

fn said(test: &str, found: &'static Result<Peer, String>) -> Option<&'static Peer> {
    match found {
        Ok(peer) => Some(peer),
        Err(why) => {
            eprintln!("SKIPPED: {test}: {why}");
            None
        }
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What a tool prints; the error is what it said.
fn tool(name: &str, argument: &str) -> Result<String, String> {
    let output = Command::new(root().join("tools").join(name)).arg(argument).output();
    let output = output.map_err(|error| format!("tools/{name}: {error}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(format!("tools/{name} {argument}: {why}"));
    }
    Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

impl Peer {
    fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the peer starts");
        let sessions = Sessions::default();
        let of_reader = Arc::clone(&sessions);
        let orders = Mutex::new(child.stdin.take().unwrap());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let Ok(event) = serde_json::from_str::<Value>(&line) else {
                    eprintln!("the peer says {line:?}");
                    continue;
                };
                let name = event["session"].as_str().unwrap_or_default();
                if let Some(to) = of_reader.lock().unwrap().get(name) {
                    // A session that its test has ended is not listened to.
                    let _ = to.send(event);
                }
            }
            // Whoever waits is told.
            of_reader.lock().unwrap().clear();
            let _ = child.wait();
        });
        Self { orders, sessions, count: AtomicU32::new(0) }
    }

    /// A session; its first order makes it.
    pub fn session(&'static self, first: &str) -> Session {
        let name = format!("s{}", self.count.fetch_add(1, Ordering::Relaxed));
        let (to, events) = channel();
        self.sessions.lock().unwrap().insert(name.clone(), to);
        let session = Session {
            peer: self,
            name,
            events,
            seen: RefCell::default(),
            used: RefCell::default(),
        };
        session.done(first);
        session
    }
}

/// One session of a peer.
pub struct Session {
    peer: &'static Peer,
    name: String,
    events: Receiver<Value>,
    /// What nobody has asked for yet, in its order.
    seen: RefCell<Vec<Value>>,
    /// What was asked for, for the words of a test that fails.
    used: RefCell<Vec<String>>,
}

impl Session {
    /// Gives an order and waits until it is obeyed, which is not that it had an effect.
    pub fn done(&self, order: &str) {
        self.order(order);
        let word = order.split(' ').next();
        self.wait("done", &|event| event["order"].as_str() == word);
    }

    /// Gives an order.
    pub fn order(&self, order: &str) {
        let line = format!("{} {order}\n", self.name);
        self.peer.orders.lock().unwrap().write_all(line.as_bytes()).expect("the peer lives");
        self.used.borrow_mut().push(format!("< {order}"));
    }

    /// Waits until the association is in this state.
    pub fn state(&self, state: &str) {
        self.wait("state", &|event| event["state"] == state);
    }

    /// Waits for an operation whose text has all these parts, white space aside; its text.
    pub fn operation(&self, name: &str, parts: &[&str]) -> String {
        let event = self.wait("pdu", &|event| {
            let text = squeezed(&event["text"]);
            event["name"] == name && parts.iter().all(|part| text.contains(part))
        });
        squeezed(&event["text"])
    }

    /// Waits for an event of this name.
    pub fn event(&self, name: &str) -> Value {
        self.wait(name, &|_| true)
    }

    /// Waits for the next frame; its octets.
    pub fn frame(&self) -> Vec<u8> {
        unhex(self.event("frame")["octets"].as_str().unwrap())
    }

    /// Waits until something fails; why.
    pub fn failure(&self) -> String {
        self.event("error")["why"].as_str().unwrap().to_owned()
    }

    fn wait(&self, name: &str, is_meant: &dyn Fn(&Value) -> bool) -> Value {
        let mut looked = 0;
        loop {
            let found = self
                .seen
                .borrow()
                .iter()
                .skip(looked)
                .position(|event| event["event"] == name && is_meant(event));
            if let Some(at) = found {
                let event = self.seen.borrow_mut().remove(looked + at);
                self.used.borrow_mut().push(format!("> {event}"));
                return event;
            }
            looked = self.seen.borrow().len();
            let failed = |event: &Value| event["event"] == "failed" || event["event"] == "error";
            if let Some(wrong) = self.seen.borrow().iter().find(|event| failed(event)) {
                self.fail(name, &wrong.to_string());
            }
            match self.events.recv_timeout(LONG) {
                Ok(event) => self.seen.borrow_mut().push(event),
                Err(why) => self.fail(name, &why.to_string()),
            }
        }
    }

    fn fail(&self, name: &str, why: &str) -> ! {
        let seen = self.seen.borrow();
        let unasked = seen.iter().filter(|event| event["event"] != "done").map(Value::to_string);
        let unasked = unasked.collect::<Vec<_>>().join("\n");
        let used = self.used.borrow().join("\n");
        panic!("no {name}: {why}\nuntil then\n{used}\nand unasked\n{unasked}");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.peer.sessions.lock().unwrap().remove(&self.name);
        let line = format!("{} forget\n", self.name);
        // Where it has gone there is nothing to forget.
        let _ = self.peer.orders.lock().unwrap().write_all(line.as_bytes());
    }
}

fn squeezed(text: &Value) -> String {
    text.as_str().unwrap_or_default().split_whitespace().collect()
}

/// Octets as peers write them.
pub fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

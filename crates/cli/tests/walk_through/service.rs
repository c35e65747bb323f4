//! A server of others for the time of a test, started by a script of `tools` that holds it for as
//! long as its stdin is open.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The scripts end with it where their server cannot be had.
const CANNOT_BE_HAD: Option<i32> = Some(3);

/// A running server; it ends when this is dropped.
pub(crate) struct Service {
    child: Child,
    /// The port of 127.0.0.1 that it listens on.
    pub(crate) port: String,
}

impl Service {
    /// Starts `tools/NAME` and waits until it answers. `None`, said loudly, where it cannot be had.
    pub(crate) fn start(name: &str) -> Option<Self> {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools");
        let mut command = Command::new(tools.join(name));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        if port.is_empty() {
            let code = child.wait().unwrap().code();
            assert_eq!(code, CANNOT_BE_HAD, "tools/{name} does not start its server");
            eprintln!("SKIPPED: tools/{name} has no server here");
            return None;
        }
        Some(Self { child, port: port.trim().to_owned() })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

//! The server's process.

use super::unique;
use chronoscope_clock as clock;
use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How long a start may take, in steps of 5 ms.
const START_STEPS: u32 = 4000;

/// A running server; it ends with this value.
#[derive(Debug)]
pub struct Server {
    child: Child,
    ports: HashMap<String, SocketAddr>,
    dir: tempfile::TempDir,
}

/// Ports of every kind, under the names `full`, `igate`, `client`, `dupes`, `submit`.
const PORTS: &str = "\
Listen full fullfeed tcp 127.0.0.1 0
Listen igate igate tcp 127.0.0.1 0
Listen client clientonly tcp 127.0.0.1 0
Listen dupes dupefeed tcp 127.0.0.1 0
Listen submit udpsubmit udp 127.0.0.1 0
HTTPStatus 127.0.0.1 0
HTTPUpload 127.0.0.1 0
";

impl Server {
    /// A server `TESTING` with ports of every kind and no other servers.
    pub fn basic() -> Self {
        Self::with("")
    }

    /// As [`Server::basic`], with more directives.
    pub fn with(directives: &str) -> Self {
        Self::start(&format!("{PORTS}{directives}"))
    }

    /// A server `TESTING` with these directives.
    pub fn start(directives: &str) -> Self {
        Self::named("TESTING", directives)
    }

    /// A server with this callsign and these directives. Port 0 is one that the kernel chooses.
    pub fn named(server_id: &str, directives: &str) -> Self {
        Self::launch(server_id, directives, None)
    }

    /// As [`Server::with`], recorded into a folder that it makes itself, as its own, in `parent`.
    pub fn recorded(directives: &str, parent: &Path) -> (Self, PathBuf) {
        fs::set_permissions(parent, fs::Permissions::from_mode(0o777)).unwrap();
        let rings = parent.join("rings");
        (Self::launch("TESTING", &format!("{PORTS}{directives}"), Some(&rings)), rings)
    }

    fn launch(server_id: &str, directives: &str, rings: Option<&Path>) -> Self {
        let passcode = super::passcode(server_id);
        let dir = tempfile::tempdir().unwrap();
        // Where the server gives up root's rights, it writes here afterwards.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let mut text = format!(
            "ServerId {server_id}\nPassCode {passcode}\nMyAdmin \"Admin, N0CALL\"\n\
             MyEmail email@example.com\nWorkerThreads 2\nRunDir {}\n{directives}\n",
            dir.path().display()
        );
        let other = std::env::var_os("APRS_SERVER").map(PathBuf::from);
        let mut chosen = HashMap::new();
        if other.is_some() {
            (text, chosen) = choose_ports(&text);
        }
        let config = dir.path().join("aprs-server.conf");
        fs::write(&config, text).unwrap();
        let ports_file = dir.path().join("ports");
        let program = other.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_aprs-server").into());
        let mut command = Command::new(&program);
        command.arg("-c").arg(&config).arg("-r").arg(dir.path()).args(["-o", "file", "-e", "info"]);
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            command.args(["-u", "nobody"]);
        }
        if other.is_none() {
            command.arg("--ports").arg(&ports_file).env("CHRONOSCOPE_RECORD", "off");
        }
        if let Some(rings) = rings {
            command.env_remove("CHRONOSCOPE_RECORD").env("CHRONOSCOPE_DIR", rings);
        }
        let stderr = fs::File::create(dir.path().join("stderr")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let child =
            command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut server = Self { child, ports: chosen, dir };
        server.wait(other.is_none().then_some(ports_file.as_path()));
        server
    }

    fn wait(&mut self, ports_file: Option<&Path>) {
        for _ in 0..START_STEPS {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the server ended at once ({status}):\n{}", self.said());
            }
            match ports_file {
                Some(file) => {
                    if let Ok(text) = fs::read_to_string(file)
                        && text.ends_with('\n')
                    {
                        self.ports = text.lines().filter_map(port).collect();
                        return;
                    }
                }
                None if self.answers() => return,
                None => {}
            }
            clock::sleep(Duration::from_millis(5));
        }
        panic!("the server did not open its ports:\n{}", self.said());
    }

    /// Every TCP port of another program answers.
    fn answers(&self) -> bool {
        let mut tcp = self.ports.iter().filter(|(name, _)| *name != "submit");
        tcp.all(|(_, address)| TcpStream::connect(address).is_ok())
    }

    /// Where a port of the configuration is.
    #[track_caller]
    pub fn port(&self, name: &str) -> SocketAddr {
        let found = self.ports.get(name).copied();
        found.unwrap_or_else(|| panic!("no port {name:?} among {:?}", self.ports))
    }

    /// The server's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The folder that the server runs in.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// All that the server logged and printed.
    pub fn said(&self) -> String {
        let mut said = String::new();
        let mut folders = vec![self.dir.path().to_owned(), self.dir.path().join("logs")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name == "stderr" || name.contains(".log") {
                    said += &fs::read_to_string(entry.path()).unwrap_or_default();
                }
            }
        }
        said
    }

    /// A page of the status port, which must answer 200.
    #[track_caller]
    pub fn get(&self, path: &str) -> String {
        let url = format!("http://{}{path}", self.port("HTTPStatus"));
        let request =
            ureq::get(&url).config().timeout_global(Some(Duration::from_secs(10))).build();
        let mut response = request.call().unwrap_or_else(|error| panic!("{url}: {error}"));
        response.body_mut().read_to_string().unwrap()
    }

    /// `/status.json`.
    #[track_caller]
    pub fn status(&self) -> serde_json::Value {
        serde_json::from_str(&self.get("/status.json")).unwrap()
    }

    /// Waits until the condition holds of `/status.json`, for 60 s at most.
    #[track_caller]
    pub fn wait_for(&self, what: &str, condition: impl Fn(&serde_json::Value) -> bool) {
        let mut status = serde_json::Value::Null;
        for _ in 0..1200 {
            status = self.status();
            if condition(&status) {
                return;
            }
            clock::sleep(Duration::from_millis(50));
        }
        panic!("{what} does not become true: {status:#}");
    }

    /// Sends a signal by its name, as `TERM`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.id().to_string()).status();
        assert!(sent.unwrap().success(), "kill -{name}");
    }

    /// Waits for the process to end.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        for _ in 0..2000 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            clock::sleep(Duration::from_millis(5));
        }
        panic!("the server does not end:\n{}", self.said());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the server said:\n{}", self.said());
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address of this host that no other test uses: every process and call has its own.
pub fn loopback() -> IpAddr {
    let number = std::process::id().wrapping_mul(61).wrapping_add(unique());
    let [_, a, b, c] = number.to_be_bytes();
    Ipv4Addr::new(127, a | 1, b, c.clamp(1, 254)).into()
}

/// An address whose port nobody else gets until this process ends. It is below 49152, because some
/// programs accept no other.
pub fn free_port(ip: IpAddr) -> SocketAddr {
    chronoscope_lab::reserve_port(ip).unwrap()
}

/// `NAME PROTOCOL ADDRESS`.
fn port(line: &str) -> Option<(String, SocketAddr)> {
    let mut words = line.rsplitn(3, ' ');
    let address = words.next()?.parse().ok()?;
    let _protocol = words.next()?;
    Some((words.next()?.trim_matches('"').to_owned(), address))
}

/// The configuration with free ports instead of those that are 0, for a program that does not know
/// port 0, and which ports they are.
fn choose_ports(text: &str) -> (String, HashMap<String, SocketAddr>) {
    let mut ports = HashMap::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let at = match words.as_slice() {
            ["Listen", ..] => Some((words[1], 4)),
            ["HTTPStatus" | "HTTPUpload", ..] => Some((words[0], 1)),
            _ => None,
        };
        let Some((name, at)) = at else {
            lines.push(line.to_owned());
            continue;
        };
        let ip: IpAddr = words[at].parse().unwrap();
        let address = match words[at + 1] {
            "0" => free_port(ip),
            port => SocketAddr::new(ip, port.parse().unwrap()),
        };
        ports.insert(name.to_owned(), address);
        let number = address.port().to_string();
        let mut words = words.clone();
        words[at + 1] = &number;
        lines.push(words.join(" "));
    }
    (lines.join("\n") + "\n", ports)
}

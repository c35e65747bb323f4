//! A real ClickHouse of several servers for tests, which may be killed and started again.
#![allow(dead_code, unreachable_pub)] // every test uses some of it
#![allow(clippy::unwrap_used)] // a test may panic

pub mod proxy;

use chronoscope_clock as clock;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a server may take to come up, on a machine with much else to do.
const UP_WITHIN: Duration = Duration::from_secs(120);

/// The servers of a cluster, one for each shard. Dropping them ends them.
pub struct Servers {
    program: PathBuf,
    dir: tempfile::TempDir,
    nodes: Vec<Server>,
    /// What the program is started by, such as `unshare` with a file system of its own; empty for
    /// nothing.
    launcher: Vec<String>,
    /// Further elements of the configuration.
    more_config: String,
}

/// How servers are started.
#[derive(Default)]
pub struct Start {
    /// What the program is started by; it gets the program's command line.
    pub launcher: Vec<String>,
    /// Further elements of the configuration.
    pub more_config: String,
}

/// The inner text of a configuration for people's own servers (`dist/clickhouse`).
pub fn dist(file: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/clickhouse");
    let text = std::fs::read_to_string(dir.join(file)).unwrap();
    let (_, inner) = text.split_once("<clickhouse>").unwrap();
    inner.rsplit_once("</clickhouse>").unwrap().0.to_owned()
}

struct Server {
    http: u16,
    tcp: u16,
    child: Option<Child>,
}

/// The program, or `None`, said loudly, where it cannot be had.
fn program() -> Option<PathBuf> {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/clickhouse");
    let output = Command::new(tool).stderr(Stdio::inherit()).output().unwrap();
    if !output.status.success() {
        // Past the test harness, which keeps what passing tests print.
        let line = "\n*** SKIPPED: no ClickHouse (tools/clickhouse says why) ***\n";
        std::io::stderr().write_all(line.as_bytes()).unwrap();
        return None;
    }
    Some(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim()))
}

impl Servers {
    /// `count` servers, or `None` where there is no ClickHouse.
    pub fn start(count: usize) -> Option<Self> {
        Self::start_as(count, |_| Start::default())
    }

    /// The same, started in another way, which is told their folder.
    pub fn start_as(count: usize, how: impl Fn(&Path) -> Start) -> Option<Self> {
        let program = program()?;
        let held: Vec<_> =
            (0..2 * count).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = held.iter().map(|held| held.local_addr().unwrap().port()).collect();
        drop(held);
        let nodes =
            ports.chunks(2).map(|p| Server { http: p[0], tcp: p[1], child: None }).collect();
        let dir = tempfile::tempdir().unwrap();
        let Start { launcher, more_config } = how(dir.path());
        let mut servers = Self { program, dir, nodes, launcher, more_config };
        (0..count).for_each(|index| servers.launch(index));
        (0..count).for_each(|index| servers.wait_for(index));
        Some(servers)
    }

    /// The store that they are.
    pub fn url(&self, database: &str) -> String {
        let hosts: Vec<_> = (0..self.nodes.len()).map(|index| self.name(index)).collect();
        format!("clickhouse://{}/{database}?cluster=everybody", hosts.join(","))
    }

    /// `HOST:PORT` of one of them.
    pub fn name(&self, index: usize) -> String {
        format!("127.0.0.1:{}", self.nodes[index].http)
    }

    /// Kills one with SIGKILL.
    pub fn kill(&mut self, index: usize) {
        if let Some(mut child) = self.nodes[index].child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Starts one that was killed, with its data.
    pub fn restart(&mut self, index: usize) {
        self.launch(index);
        self.wait_for(index);
    }

    /// Answer of one server to SQL.
    pub fn sql(&self, index: usize, sql: &str) -> String {
        let url = format!("http://{}/", self.name(index));
        let agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build();
        let mut response = agent.new_agent().post(url).send(sql).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        assert_eq!(response.status(), 200, "{sql}: {text}");
        text.trim().to_owned()
    }

    /// Rows of the table `transactions` of a database, by server, and how many different ones there are.
    pub fn different_rows(&self, database: &str) -> (Vec<u64>, u64) {
        let what = "count(), uniqExact(id, chain_high, chain_low)";
        let sql = format!("SELECT {what} FROM {database}.transactions");
        let (mut counts, mut different) = (Vec::new(), 0);
        for index in 0..self.nodes.len() {
            let text = self.sql(index, &sql);
            let (count, unique) = text.split_once('\t').unwrap();
            counts.push(count.parse().unwrap());
            different += unique.parse::<u64>().unwrap();
        }
        (counts, different)
    }

    fn launch(&mut self, index: usize) {
        let shard = |node: &Server| {
            let host = format!("<host>127.0.0.1</host><port>{}</port>", node.tcp);
            format!("<shard><replica>{host}</replica></shard>")
        };
        let shards: String = self.nodes.iter().map(shard).collect();
        let config = self.dir.path().join(format!("{index}.xml"));
        let servers = format!("<remote_servers><everybody>{shards}</everybody></remote_servers>");
        let logger = "<logger><level>error</level></logger>";
        let data = self.dir.path().join(index.to_string());
        std::fs::create_dir_all(&data).unwrap();
        // A second local disk, for parts that are old, as the file for people's own has it.
        let cold = self.dir.path().join(format!("{index}-cold/")).display().to_string();
        let storage = dist("config.d/storage.xml").replace("/var/lib/clickhouse-cold/", &cold);
        let base = format!("<clickhouse>{logger}{servers}</clickhouse>");
        std::fs::write(&config, base).unwrap();
        // A server merges the files of the folder beside its configuration, by name.
        let more = self.dir.path().join(format!("{index}.d"));
        std::fs::create_dir_all(&more).unwrap();
        for (name, text) in [("1-storage", &storage), ("2-more", &self.more_config)] {
            let text = format!("<clickhouse>{text}</clickhouse>");
            std::fs::write(more.join(format!("{name}.xml")), text).unwrap();
        }
        let log = std::fs::File::create(self.dir.path().join(format!("{index}.log"))).unwrap();
        let node = &mut self.nodes[index];
        // The last query never ends: it keeps the program up.
        let query = "SYSTEM START LISTEN HTTP; SYSTEM START LISTEN TCP; \
            SELECT count() FROM system.numbers WHERE NOT ignore(sleep(3)) LIMIT 100000000 \
            SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0";
        let mut command = match self.launcher.split_first() {
            None => Command::new(&self.program),
            Some((launcher, arguments)) => {
                let mut command = Command::new(launcher);
                command.args(arguments).arg(&self.program);
                command
            }
        };
        let child = command
            .arg("--config-file")
            .arg(config)
            .arg("--path")
            .arg(data)
            .args(["--listen_host", "127.0.0.1"])
            .args(["--http_port", &node.http.to_string(), "--tcp_port", &node.tcp.to_string()])
            .args(["--query", query])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn();
        node.child = Some(child.unwrap());
    }

    fn wait_for(&self, index: usize) {
        let url = format!("http://{}/ping", self.name(index));
        let ends_ns = clock::monotonic_ns() + u64::try_from(UP_WITHIN.as_nanos()).unwrap();
        let agent = ureq::Agent::config_builder().proxy(None).build().new_agent();
        while agent.get(&url).call().is_err() {
            let log = || std::fs::read_to_string(self.dir.path().join(format!("{index}.log")));
            assert!(clock::monotonic_ns() < ends_ns, "server {index} stays away: {:?}", log());
            clock::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        (0..self.nodes.len()).for_each(|index| self.kill(index));
    }
}

//! The servers of the bench: `tools/clickhouse run`, and what they took.

use anyhow::{Context, Result, ensure};
use chronoscope_clock as clock;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The database that `tools/clickhouse` names.
pub(crate) const DATABASE: &str = "chronoscope";

/// Running servers. Dropping it ends them.
pub(crate) struct Servers {
    tool: Child,
    url: String,
    nodes: Vec<String>,
}

impl Servers {
    /// Starts `count` servers with their data in `dir`.
    pub(crate) fn start(dir: &Path, count: usize) -> Result<Self> {
        let tool = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tools/clickhouse");
        let mut tool = Command::new(tool)
            .arg("run")
            .arg(dir)
            .arg(count.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .context("tools/clickhouse")?;
        let mut url = String::new();
        let output = tool.stdout.take().context("tools/clickhouse printed nothing")?;
        BufReader::new(output).read_line(&mut url)?;
        let url = url.trim().to_owned();
        ensure!(!url.is_empty(), "tools/clickhouse has none");
        let hosts = url.split("://").nth(1).and_then(|rest| rest.split('/').next());
        let nodes = hosts.unwrap_or_default().split(',').map(str::to_owned).collect();
        let servers = Self { tool, url, nodes };
        for node in &servers.nodes {
            let ends_ns = clock::monotonic_ns() + 120_000_000_000;
            while servers.ask(node, "SELECT 1").is_err() {
                ensure!(clock::monotonic_ns() < ends_ns, "{node} cannot be reached");
                clock::sleep(Duration::from_millis(50));
            }
        }
        Ok(servers)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The same servers with another database.
    pub(crate) fn url_of(&self, database: &str) -> String {
        self.url.replace(&format!("/{DATABASE}?"), &format!("/{database}?"))
    }

    /// Runs a statement on every server.
    pub(crate) fn on_all(&self, sql: &str) -> Result<()> {
        self.nodes.iter().try_for_each(|node| {
            self.ask(node, sql).map(drop).with_context(|| format!("{node}: {sql}"))
        })
    }

    fn ask(&self, node: &str, sql: &str) -> Result<String> {
        let agent = ureq::Agent::config_builder().proxy(None).build().new_agent();
        let mut response = agent.post(format!("http://{node}/")).send(sql)?;
        Ok(response.body_mut().read_to_string()?.trim().to_owned())
    }

    /// Sum of a number that every server answers.
    fn sum(&self, sql: &str) -> Result<u64> {
        let each = self.nodes.iter().map(|node| Ok(self.ask(node, sql)?.parse::<u64>()?));
        each.sum()
    }

    /// Number of active parts of a database's transactions, on all servers.
    pub(crate) fn unmerged_parts(&self, database: &str) -> Result<u64> {
        self.sum(&parts("count()", database))
    }

    /// Merges what waits for it.
    pub(crate) fn merge(&self, database: &str) -> Result<()> {
        self.on_all(&format!("OPTIMIZE TABLE {database}.transactions FINAL"))
    }

    /// Bytes of all active parts.
    pub(crate) fn bytes_on_disk(&self, database: &str) -> Result<u64> {
        self.sum(&parts("sum(bytes_on_disk)", database))
    }

    /// Rows that merges have written so far.
    pub(crate) fn merged_rows(&self) -> Result<u64> {
        self.sum("SELECT sumIf(value, event = 'MergedRows') FROM system.events")
    }

    /// Bytes of all active parts of all other tables: of what was linked, by and large.
    pub(crate) fn other_bytes_on_disk(&self, database: &str) -> Result<u64> {
        self.sum(&format!(
            "SELECT sum(bytes_on_disk) FROM system.parts WHERE active \
             AND database = '{database}' AND table != 'transactions'"
        ))
    }

    /// Bytes that all servers have received and sent so far.
    pub(crate) fn network_bytes(&self) -> Result<(u64, u64)> {
        let mut all = (0, 0);
        for node in &self.nodes {
            let sql = "SELECT sumIf(value, event = 'NetworkReceiveBytes'), \
                sumIf(value, event = 'NetworkSendBytes') FROM system.events";
            let text = self.ask(node, sql)?;
            let (received, sent) = text.split_once('\t').context("two numbers")?;
            all = (all.0 + received.parse::<u64>()?, all.1 + sent.parse::<u64>()?);
        }
        Ok(all)
    }

    /// Processor time that all servers have taken so far, in nanoseconds.
    pub(crate) fn cpu_ns(&self) -> Result<u64> {
        let tool = self.tool.id();
        let children = std::fs::read_to_string(format!("/proc/{tool}/task/{tool}/children"))?;
        let mut ns = 0;
        for child in children.split_whitespace() {
            let stat = std::fs::read_to_string(format!("/proc/{child}/stat"))?;
            // Behind the name, which is in brackets, the 12th and 13th: hundredths of a second.
            let fields = stat.rsplit_once(')').context("/proc/PID/stat")?.1.split_whitespace();
            let ticks: Vec<u64> = fields.skip(11).take(2).filter_map(|n| n.parse().ok()).collect();
            ns += ticks.iter().sum::<u64>() * 10_000_000;
        }
        Ok(ns)
    }
}

fn parts(what: &str, database: &str) -> String {
    format!(
        "SELECT {what} FROM system.parts WHERE active AND database = '{database}' \
         AND table = 'transactions'"
    )
}

impl Drop for Servers {
    fn drop(&mut self) {
        // The tool stops its servers when it receives this signal.
        let _ = Command::new("kill").arg(self.tool.id().to_string()).status();
        let _ = self.tool.wait();
    }
}

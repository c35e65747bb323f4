//! Writer of transactions.

use super::escape;
use super::vocabulary::{FLAGS, NAMESPACE};
use chronoscope_model::{ProcessName, Transaction};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writer of a document.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    line: String,
}

impl<W: Write> Writer<W> {
    /// Begins the document.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn new(mut out: W) -> io::Result<Self> {
        write!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<armData xmlns=\"{NAMESPACE}\">\n"
        )?;
        Ok(Self { out, line: String::new() })
    }

    /// Writes a transaction.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write(&mut self, t: &Transaction) -> io::Result<()> {
        self.line.clear();
        element(&mut self.line, t);
        self.out.write_all(self.line.as_bytes())
    }

    /// Ends the document, and returns the underlying writer.
    ///
    /// # Errors
    /// When the document cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"</armData>\n")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

fn text(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, " {name}=\""); // a String takes everything
    escape::append(out, value);
    out.push('"');
}

fn plain(out: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = write!(out, " {name}=\"{value}\""); // as above
}

fn element(out: &mut String, t: &Transaction) {
    out.push_str(" <transaction");
    text(out, "application", &t.class.application);
    text(out, "name", &t.class.class);
    plain(out, "status", t.status);
    plain(out, "startTime", t.start_ns);
    plain(out, "responseTime", t.elapsed_ns);
    if let Some(ns) = t.known_cpu_ns() {
        plain(out, "cpuTime", ns);
    }
    if let Some(ns) = t.process_cpu_ns {
        plain(out, "processCpuTime", ns);
    }
    plain(out, "thread", t.thread);
    plain(out, "id", t.id);
    if !t.parent.is_none() {
        plain(out, "parent", t.parent);
    }
    plain(out, "chain", t.chain);
    plain(out, "level", t.level);
    let mut rest = t.flags.0;
    for (name, flag) in FLAGS {
        if t.flags.contains(flag) {
            plain(out, name, true);
            rest &= !flag.0;
        }
    }
    if rest != 0 {
        plain(out, "otherFlags", rest);
    }
    if !t.path.is_empty() {
        text(out, "path", &t.path);
    }
    if let Some(ns) = t.root_start_ns {
        plain(out, "rootStartTime", ns);
    }
    let before = out.len();
    out.push_str(">\n");
    let empty = out.len();
    for (name, process) in [("process", &t.process), ("rootProcess", &t.root_process)] {
        if let Some(process) = process {
            of_process(out, name, process);
        }
    }
    for (key, value) in &t.properties {
        out.push_str("  <property");
        text(out, "name", key);
        text(out, "value", value);
        out.push_str("/>\n");
    }
    for (key, value) in &t.metrics {
        out.push_str("  <metric");
        text(out, "name", key);
        match *value {
            // The spelling of XML Schema.
            f64::INFINITY => plain(out, "value", "INF"),
            f64::NEG_INFINITY => plain(out, "value", "-INF"),
            value => plain(out, "value", format_args!("{value:?}")),
        }
        out.push_str("/>\n");
    }
    if out.len() == empty {
        out.truncate(before);
        out.push_str("/>\n");
    } else {
        out.push_str(" </transaction>\n");
    }
}

fn of_process(out: &mut String, name: &str, process: &ProcessName) {
    let _ = write!(out, "  <{name}"); // a String takes everything
    text(out, "application", &process.application);
    text(out, "host", &process.host);
    plain(out, "pid", process.pid);
    plain(out, "startTime", process.start_ns);
    out.push_str("/>\n");
}

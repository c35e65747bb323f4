//! One ClickHouse server over its HTTP interface.
//!
//! An answer may break off: the server finds out what is wrong when half of it is sent, or dies.
//! Arrow streams say where they end, and what does not end is an error here, never a short answer.

use crate::error::ClickHouseError;
use crate::url::Url;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

/// Time limit for a server to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Time limit for a server to begin an answer, and between two parts of it.
const ANSWER_WITHIN: Duration = Duration::from_mins(5);
/// Most bytes of an error's text that are kept.
const ERROR_BYTES_MAX: usize = 2000;
/// End of an Arrow stream: a continuation mark, and a message of no bytes.
const END_OF_STREAM: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

/// One server: a shard of the cluster.
#[derive(Clone, Debug)]
pub struct Node {
    /// `HOST:PORT`.
    pub(crate) name: String,
    url: String,
    agent: Agent,
    user: Option<(String, String)>,
    database: String,
}

/// Connections to all servers of a URL, in the order of the shards.
pub(crate) fn nodes(url: &Url) -> Result<Vec<Node>, ClickHouseError> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        // Shards stand in one's own network.
        .proxy(None)
        .accept_encoding("identity")
        .timeout_connect(Some(CONNECT_WITHIN))
        .timeout_per_read(Some(ANSWER_WITHIN))
        .timeout_per_write(Some(ANSWER_WITHIN));
    if let Some(path) = &url.ca {
        let refuse = |reason: String| ClickHouseError::Certificate { path: path.clone(), reason };
        let pem = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
        let mut certificates = Vec::new();
        for item in parse_pem(&pem) {
            if let PemItem::Certificate(certificate) = item.map_err(|e| refuse(e.to_string()))? {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() {
            return Err(refuse("it holds no certificate in PEM".to_owned()));
        }
        let roots = RootCerts::new_with_certs(&certificates);
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    let agent = config.build().new_agent();
    let scheme = if url.tls { "https" } else { "http" };
    let node = |name: &String| Node {
        name: name.clone(),
        url: format!("{scheme}://{name}/"),
        agent: agent.clone(),
        user: url.user.clone(),
        database: url.database.clone(),
    };
    Ok(url.nodes.iter().map(node).collect())
}

impl Node {
    /// Sends a request: SQL in the body where there is no `data`, else in the URL before the data.
    fn send(
        &self,
        database: &str,
        settings: &[(&str, &str)],
        sql: &str,
        data: Option<&[u8]>,
    ) -> Result<Response<Body>, ClickHouseError> {
        let mut request = self.agent.post(&self.url).query("database", database);
        if let Some((user, password)) = &self.user {
            request = request.header("X-ClickHouse-User", user);
            request = request.header("X-ClickHouse-Key", password);
        }
        for (name, value) in settings {
            request = request.query(name, value);
        }
        let sent = match data {
            Some(data) => request.query("query", sql).send(data),
            None => request.send(sql),
        };
        let response = sent.map_err(|error| self.unreachable(error))?;
        if response.status() == 200 {
            return Ok(response);
        }
        let code = response.headers().get("X-ClickHouse-Exception-Code");
        let code = code.and_then(|code| code.to_str().ok()?.parse().ok());
        let mut text = Vec::new();
        let body = response.into_body().into_reader();
        // An error message that breaks off is still one.
        let _ = body.take(ERROR_BYTES_MAX as u64).read_to_end(&mut text);
        Err(self.refused(code, &text))
    }

    fn unreachable(&self, error: ureq::Error) -> ClickHouseError {
        ClickHouseError::Unreachable { node: self.name.clone(), reason: error.to_string() }
    }

    fn refused(&self, code: Option<u32>, text: &[u8]) -> ClickHouseError {
        let text = String::from_utf8_lossy(&text[..text.len().min(ERROR_BYTES_MAX)]);
        ClickHouseError::Refused {
            node: self.name.clone(),
            code: code.or_else(|| code_in(&text)).unwrap_or(0),
            text: text.trim().to_owned(),
        }
    }

    /// Runs a statement that answers nothing, or a line.
    pub(crate) fn execute(
        &self,
        settings: &[(&str, &str)],
        sql: &str,
    ) -> Result<String, ClickHouseError> {
        self.execute_in(&self.database, settings, sql)
    }

    /// The same, beside another database than the one of the URL.
    pub(crate) fn execute_in(
        &self,
        database: &str,
        settings: &[(&str, &str)],
        sql: &str,
    ) -> Result<String, ClickHouseError> {
        // Waiting for the end: an error comes as such, and never after a good beginning.
        let settings: Vec<_> =
            settings.iter().copied().chain([("wait_end_of_query", "1")]).collect();
        let mut response = self.send(database, &settings, sql, None)?;
        let text = response.body_mut().read_to_string().map_err(|error| self.unreachable(error))?;
        Ok(text.trim_end().to_owned())
    }

    /// Inserts data; when this returns, the server has it.
    pub(crate) fn insert(
        &self,
        settings: &[(&str, &str)],
        sql: &str,
        data: &[u8],
    ) -> Result<(), ClickHouseError> {
        // The defaults of servers differ here: an insert that is answered before it is written
        // would be no promise.
        let fixed = [("async_insert", "0"), ("wait_end_of_query", "1")];
        let settings: Vec<_> = settings.iter().copied().chain(fixed).collect();
        let mut response = self.send(&self.database, &settings, sql, Some(data))?;
        response.body_mut().read_to_string().map_err(|error| self.unreachable(error))?;
        Ok(())
    }

    /// Asks for rows in Arrow's stream format, and hands them out as they come.
    ///
    /// # Errors
    /// [`ClickHouseError`], also when the answer ends early, and that of `each`.
    pub fn query(
        &self,
        sql: &str,
        each: impl FnMut(&RecordBatch) -> Result<(), ClickHouseError>,
    ) -> Result<(), ClickHouseError> {
        self.query_as(sql, false, each)
    }

    /// The same; columns of few words come as dictionaries.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn query_words(
        &self,
        sql: &str,
        each: impl FnMut(&RecordBatch) -> Result<(), ClickHouseError>,
    ) -> Result<(), ClickHouseError> {
        self.query_as(sql, true, each)
    }

    fn query_as(
        &self,
        sql: &str,
        dictionaries: bool,
        mut each: impl FnMut(&RecordBatch) -> Result<(), ClickHouseError>,
    ) -> Result<(), ClickHouseError> {
        let settings = [
            ("output_format_arrow_compression_method", "none"),
            ("output_format_arrow_string_as_string", "1"),
            (
                "output_format_arrow_low_cardinality_as_dictionary",
                if dictionaries { "1" } else { "0" },
            ),
        ];
        let response =
            self.send(&self.database, &settings, &format!("{sql} FORMAT ArrowStream"), None)?;
        let body = response.into_body().into_with_config().limit(u64::MAX).reader();
        let tail = Tail::default();
        let reader =
            Watched { body: io::BufReader::with_capacity(1 << 20, body), tail: tail.clone() };
        let broken = |what: &dyn std::fmt::Display| self.broken_off(&tail, what);
        let batches = StreamReader::try_new(reader, None).map_err(|error| broken(&error))?;
        for batch in batches {
            each(&batch.map_err(|error| broken(&error))?)?;
        }
        if !tail.is_end_of_stream() {
            return Err(broken(&"its end is missing"));
        }
        Ok(())
    }

    /// An answer that ends too early: the server's own words are in its last bytes, if anywhere.
    fn broken_off(&self, tail: &Tail, what: &dyn std::fmt::Display) -> ClickHouseError {
        let bytes = tail.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match text.find("Code: ") {
            Some(from) => self.refused(None, &text.as_bytes()[from..]),
            None => {
                ClickHouseError::BrokenOff { node: self.name.clone(), reason: what.to_string() }
            }
        }
    }

    /// An answer of columns that were not asked for.
    pub fn unexpected_column(&self, column: &str) -> ClickHouseError {
        ClickHouseError::Strange { node: self.name.clone(), column: column.to_owned() }
    }
}

/// The number in `Code: 279. DB::Exception: …`.
fn code_in(text: &str) -> Option<u32> {
    let digits = text.split_once("Code: ")?.1.split_once('.')?.0;
    digits.parse().ok()
}

/// The last bytes of a stream.
#[derive(Clone, Default)]
struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Tail {
    const BYTES: usize = 4096;

    fn push(&self, new: &[u8]) {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let new = &new[new.len().saturating_sub(Self::BYTES)..];
        let excess = (bytes.len() + new.len()).saturating_sub(Self::BYTES);
        bytes.drain(..excess);
        bytes.extend_from_slice(new);
    }

    fn is_end_of_stream(&self) -> bool {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.ends_with(&END_OF_STREAM)
    }
}

/// Remembers the end of what is read through it.
struct Watched<R> {
    body: R,
    tail: Tail,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.body.read(buffer)?;
        self.tail.push(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_stream_is_seen_however_it_comes() {
        let tail = Tail::default();
        tail.push(&[7; 10_000]);
        assert!(!tail.is_end_of_stream());
        END_OF_STREAM.iter().for_each(|byte| tail.push(&[*byte]));
        assert!(tail.is_end_of_stream());
        tail.push(&[0]);
        assert!(!tail.is_end_of_stream());
        assert_eq!(tail.bytes.lock().unwrap().len(), Tail::BYTES);
    }

    #[test]
    fn an_error_has_its_number() {
        let text =
            "Code: 279. DB::Exception: All connection tries failed. (ALL_CONNECTION_TRIES_FAILED)";
        assert_eq!(code_in(text), Some(279));
        assert_eq!(code_in("Bad gateway"), None);
    }
}

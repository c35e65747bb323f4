//! A shard over its servers' HTTP interface: one server, or the first of several copies that answers.
//!
//! An answer may break off: the server finds out what is wrong when half of it is sent, or dies.
//! What does not end is an error here, never a short answer.

use crate::error::ClickHouseError;
use crate::tail::{Tail, Watched};
use crate::url::Url;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use chronoscope_clock::monotonic_ns;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

/// Time limit for a server to accept a connection, and to say that it is there.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Time limit for a server to begin an answer, and between two parts of it.
const ANSWER_WITHIN: Duration = Duration::from_mins(5);
/// How long an answer is a sign of life.
const LATELY_NS: u64 = 100_000_000;
/// Most bytes of an error's text that are kept.
const ERROR_BYTES_MAX: usize = 2000;
/// Between the fields of a form; no statement and no row has it.
const BOUNDARY: &str = "chronoscope-5d1f0c9a7be84f6e";

/// A shard of the cluster: one server, or several that have copies of the same rows.
#[derive(Clone, Debug)]
pub struct Node {
    /// `HOST:PORT`; of several copies with `|` between them.
    pub(crate) name: String,
    copies: Arc<[Server]>,
    /// The copy that answered last: it is asked first, so that who has written reads it again.
    current: Arc<AtomicUsize>,
    agent: Agent,
    user: Option<(String, String)>,
    database: String,
    quorum: Option<String>,
}

/// One server.
#[derive(Debug)]
struct Server {
    /// `HOST:PORT`.
    name: String,
    url: String,
    /// When it began its last answer, by the monotonic clock.
    answered_ns: AtomicU64,
}

/// What a request has besides its settings.
#[derive(Clone, Copy)]
enum Content<'a> {
    /// The statement alone.
    Statement,
    /// Rows to insert.
    Rows(&'a [u8]),
    /// The statement and a table for it.
    Beside(&'a SentTable),
}

/// Rows that go to a server beside a statement, which finds them as a table: what is large costs far
/// less so than as text in the statement.
#[derive(Clone, Debug)]
pub struct SentTable {
    /// Name in the statement: a word of letters and `_`.
    pub name: String,
    /// Names and types of the columns, as in `CREATE TABLE`.
    pub columns: String,
    /// The rows, as TSV.
    pub rows: String,
}

impl SentTable {
    /// The table and the statement as a form.
    fn form(&self, sql: &str) -> Vec<u8> {
        let Self { name, rows, .. } = self;
        let field = "Content-Disposition: form-data; name=";
        let form = format!(
            "--{BOUNDARY}\r\n{field}\"query\"\r\n\r\n{sql}\r\n--{BOUNDARY}\r\n\
             {field}\"{name}\"; filename=\"{name}\"\r\n\r\n{rows}\r\n--{BOUNDARY}--\r\n"
        );
        form.into_bytes()
    }
}

impl std::fmt::Display for Node {
    /// Writes `HOST:PORT`; of several copies with `|` between them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
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
    let copy = |name: &String| Server {
        name: name.clone(),
        url: format!("{scheme}://{name}/"),
        answered_ns: AtomicU64::new(0),
    };
    let node = |copies: &Vec<String>| Node {
        name: copies.join("|"),
        copies: copies.iter().map(copy).collect(),
        current: Arc::default(),
        agent: agent.clone(),
        user: url.user.clone(),
        database: url.database.clone(),
        quorum: url.quorum.clone(),
    };
    Ok(url.shards.iter().map(node).collect())
}

impl Node {
    /// Sends a request to the shard: SQL in the body, but before rows
    /// in the URL. A copy that is away, or cannot do it, is passed over: every request may be
    /// sent again, because inserts of rows carry a key and the others change nothing the second
    /// time.
    fn send(
        &self,
        database: &str,
        settings: &[(&str, &str)],
        sql: &str,
        data: Content<'_>,
    ) -> Result<Response<Body>, ClickHouseError> {
        let first = self.current.load(Ordering::Relaxed);
        let mut failed = Vec::new();
        for index in (first..first + self.copies.len()).map(|index| index % self.copies.len()) {
            let copy = &self.copies[index];
            let lives = match data {
                Content::Statement | Content::Beside(_) if copy.answered_lately() => Ok(()),
                _ => self.ping(copy),
            };
            let sent = lives.and_then(|()| self.send_to(copy, database, settings, sql, data));
            match sent {
                Err(error) if error.is_of_copy() => failed.push(error),
                answered => {
                    self.current.store(index, Ordering::Relaxed);
                    return answered;
                }
            }
        }
        Err(match failed.pop() {
            Some(only) if failed.is_empty() => only,
            last => {
                let all: Vec<_> = failed.iter().chain(&last).map(ToString::to_string).collect();
                let reason = format!("none of its copies takes it: {}", all.join("; "));
                ClickHouseError::Unreachable { node: self.name.clone(), reason }
            }
        })
    }

    /// Asks a server for a sign of life: over a network that is split, a connection that was used
    /// before takes a request and then says nothing for as long as [`ANSWER_WITHIN`]. The statements of
    /// one question follow each other so closely that one of them is a sign of life for the next; rows
    /// always ask, because whoever sends them has another copy to turn to.
    fn ping(&self, copy: &Server) -> Result<(), ClickHouseError> {
        let request = self.agent.get(format!("{}ping", copy.url));
        let request = request.config().timeout_global(Some(CONNECT_WITHIN)).build();
        // Read to its end, so that the connection is used again.
        let answer = request.call().and_then(|mut answer| answer.body_mut().read_to_string());
        answer.map(drop).map_err(|error| copy.unreachable(&error))
    }

    fn send_to(
        &self,
        copy: &Server,
        database: &str,
        settings: &[(&str, &str)],
        sql: &str,
        data: Content<'_>,
    ) -> Result<Response<Body>, ClickHouseError> {
        let mut request = self.agent.post(&copy.url).query("database", database);
        if let Some((user, password)) = &self.user {
            request = request.header("X-ClickHouse-User", user);
            request = request.header("X-ClickHouse-Key", password);
        }
        for (name, value) in settings {
            request = request.query(name, value);
        }
        let sent = match data {
            Content::Rows(data) => request.query("query", sql).send(data),
            Content::Statement => request.send(sql),
            Content::Beside(table) => {
                let form = format!("multipart/form-data; boundary={BOUNDARY}");
                request = request.query(format!("{}_structure", table.name), &table.columns);
                request.header("Content-Type", form).send(table.form(sql))
            }
        };
        let response = sent.map_err(|error| copy.unreachable(&error))?;
        if response.status() == 200 {
            copy.answered_ns.store(monotonic_ns(), Ordering::Relaxed);
            return Ok(response);
        }
        let code = response.headers().get("X-ClickHouse-Exception-Code");
        let code = code.and_then(|code| code.to_str().ok()?.parse().ok());
        let mut text = Vec::new();
        let body = response.into_body().into_reader();
        // An error message that breaks off is still one.
        let _ = body.take(ERROR_BYTES_MAX as u64).read_to_end(&mut text);
        Err(refused(&copy.name, code, &text))
    }

    fn unreachable(&self, error: &ureq::Error) -> ClickHouseError {
        ClickHouseError::Unreachable { node: self.name.clone(), reason: error.to_string() }
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
        let mut response = self.send(database, &settings, sql, Content::Statement)?;
        let text =
            response.body_mut().read_to_string().map_err(|error| self.unreachable(&error))?;
        Ok(text.trim_end().to_owned())
    }

    /// Runs a statement on every copy that lives; the answers of so many that one of them must have
    /// what was acknowledged before.
    pub(crate) fn execute_on_copies(&self, sql: &str) -> Result<Vec<String>, ClickHouseError> {
        let copies = self.copies.len();
        let quorum = match self.quorum.as_deref().map(str::parse) {
            None => 1,
            Some(Ok(count)) => usize::min(count, copies),
            Some(Err(_)) => copies / 2 + 1,
        };
        let (mut answers, mut failed) = (Vec::new(), None);
        for copy in &*self.copies {
            let sent = self.ping(copy).and_then(|()| {
                let mut response =
                    self.send_to(copy, &self.database, &[], sql, Content::Statement)?;
                let text = response.body_mut().read_to_string();
                Ok(text.map_err(|error| copy.unreachable(&error))?.trim_end().to_owned())
            });
            match sent {
                Ok(text) => answers.push(text),
                Err(error) if error.is_of_copy() => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        match failed {
            Some(error) if answers.len() + quorum <= copies => Err(error),
            _ => Ok(answers),
        }
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
        let quorum = self.quorum.iter().map(|quorum| ("insert_quorum", &**quorum));
        let settings: Vec<_> = settings.iter().copied().chain(fixed).chain(quorum).collect();
        let mut response = self.send(&self.database, &settings, sql, Content::Rows(data))?;
        response.body_mut().read_to_string().map_err(|error| self.unreachable(&error))?;
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
        self.answer(sql, Content::Statement, each)
    }

    /// The same of a statement that reads a table which is sent with it.
    ///
    /// # Errors
    /// As [`Self::query`].
    pub fn query_beside(
        &self,
        sql: &str,
        table: &SentTable,
        each: impl FnMut(&RecordBatch) -> Result<(), ClickHouseError>,
    ) -> Result<(), ClickHouseError> {
        self.answer(sql, Content::Beside(table), each)
    }

    fn answer(
        &self,
        sql: &str,
        content: Content<'_>,
        mut each: impl FnMut(&RecordBatch) -> Result<(), ClickHouseError>,
    ) -> Result<(), ClickHouseError> {
        let settings = [
            ("output_format_arrow_compression_method", "none"),
            ("output_format_arrow_string_as_string", "1"),
            // Lists of minutes and of chains are long.
            ("max_query_size", "268435456"),
        ];
        let response =
            self.send(&self.database, &settings, &format!("{sql} FORMAT ArrowStream"), content)?;
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
        let text = tail.text();
        match text.find("Code: ") {
            Some(from) => refused(&self.name, None, &text.as_bytes()[from..]),
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

impl Server {
    fn answered_lately(&self) -> bool {
        monotonic_ns().saturating_sub(self.answered_ns.load(Ordering::Relaxed)) < LATELY_NS
    }

    fn unreachable(&self, error: &ureq::Error) -> ClickHouseError {
        ClickHouseError::Unreachable { node: self.name.clone(), reason: error.to_string() }
    }
}

fn refused(node: &str, code: Option<u32>, text: &[u8]) -> ClickHouseError {
    let text = String::from_utf8_lossy(&text[..text.len().min(ERROR_BYTES_MAX)]);
    let code = code.or_else(|| code_in(&text)).unwrap_or(0);
    let mut text = text.trim().to_owned();
    if OF_OLDER_TABLES.contains(&code) {
        text.push_str(
            "; tables of an older program are brought up to date by the first `chronoscope serve` of \
             this one",
        );
    }
    ClickHouseError::Refused { node: node.to_owned(), code, text }
}

/// What tables lack that a newer program asks for: NO_SUCH_COLUMN_IN_TABLE, UNKNOWN_IDENTIFIER,
/// UNKNOWN_TABLE.
const OF_OLDER_TABLES: [u32; 3] = [16, 47, 60];

/// The number in `Code: 279. DB::Exception: …`.
fn code_in(text: &str) -> Option<u32> {
    let digits = text.split_once("Code: ")?.1.split_once('.')?.0;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_its_number() {
        let text =
            "Code: 279. DB::Exception: All connection tries failed. (ALL_CONNECTION_TRIES_FAILED)";
        assert_eq!(code_in(text), Some(279));
        assert_eq!(code_in("Bad gateway"), None);
    }

    #[test]
    fn what_is_not_there_may_be_of_older_tables() {
        let unknown = b"Code: 47. DB::Exception: Unknown expression identifier `links`";
        let told = refused("a:1", None, unknown).to_string();
        assert!(told.contains("`links`; tables of an older program"), "{told}");
        let other = refused("a:1", None, b"Code: 241. DB::Exception: Memory limit").to_string();
        assert!(!other.contains("older"), "{other}");
    }
}

//! `chronoscope export --otlp URL`: stored transactions to whoever takes OTLP over HTTP.

use super::export_rows::Selected;
use crate::environment;
use crate::interrupt::Interrupt;
use anyhow::{Context, Result, anyhow, bail};
use chronoscope_formats::otlp::{self, Request};
use flate2::{Compression, write::GzEncoder};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Spans of a request, and about its bytes before compression: receivers take 4 MiB and more.
const SPANS_MAX: usize = 2_048;
const BYTES_MAX: usize = 3 << 20;
/// Minutes that a request's spans start in: a chronoscope that takes them takes 240.
const MINUTES_MAX: usize = 120;
const MINUTE_NS: i64 = 60_000_000_000;
/// Timeout of an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// Number of attempts for a request without an answer, or with an answer that asks for a retry: a
/// receiver that takes rows of a limited number of old minutes at a time has to seal some first,
/// which takes some minutes.
const TRIES: u32 = 8;
const TRIES_ANSWERED: u32 = 24;
/// The pause before the second time; it doubles up to the longest.
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// Sends all selected transactions, in requests of a bounded size, each again until it is taken.
///
/// # Errors
/// When a request is refused or nobody answers, and when spans were refused.
pub(super) fn send(url: &str, token_file: Option<&Path>, rows: &mut Selected) -> Result<()> {
    let mut receiver = Receiver::new(url, token_file, rows.interrupt())?;
    let mut request = Request::default();
    let mut minutes = BTreeSet::new();
    rows.each(|t| {
        request.push(t);
        minutes.insert(t.start_ns.div_euclid(MINUTE_NS));
        let is_full = request.len() >= SPANS_MAX || request.size_bytes() >= BYTES_MAX;
        if is_full || minutes.len() >= MINUTES_MAX {
            minutes.clear();
            receiver.send(&mut request)?;
        }
        Ok(())
    })?;
    if !request.is_empty() {
        receiver.send(&mut request)?;
    }
    receiver.end()
}

/// The receiver of the spans.
struct Receiver {
    agent: ureq::Agent,
    url: String,
    authorization: Option<String>,
    interrupt: Interrupt,
    refused: u64,
    reason: String,
}

/// Result of one attempt to send a request.
enum Sent {
    Taken(Vec<u8>),
    /// Coming again helps, so many times.
    Later(anyhow::Error, u32),
}

impl Receiver {
    fn new(url: &str, token_file: Option<&Path>, interrupt: Interrupt) -> Result<Self> {
        let token = token_file.map(|file| environment::token(Some(file))).transpose()?.flatten();
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(ANSWER_WITHIN))
            .http_status_as_error(false)
            .build();
        Ok(Self {
            agent: config.into(),
            url: format!("{}/v1/traces", url.trim_end_matches('/')),
            authorization: token.map(|token| format!("Bearer {}", token.secret())),
            interrupt,
            refused: 0,
            reason: String::new(),
        })
    }

    /// Sends a request until it is taken; the request is empty afterwards.
    fn send(&mut self, request: &mut Request) -> Result<()> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&request.take())?;
        let body = encoder.finish()?;
        let mut pause = PAUSE;
        for attempt in 1.. {
            match self.once(&body)? {
                Sent::Taken(answer) => {
                    if let Some((count, reason)) = otlp::refusal(&answer) {
                        self.refused += count;
                        self.reason = reason;
                    }
                    break;
                }
                Sent::Later(error, tries) if attempt >= tries || self.interrupt.is_set() => {
                    return Err(error.context(format!("after {attempt} tries")));
                }
                Sent::Later(..) => {
                    self.interrupt.sleep(pause);
                    pause = PAUSE_MAX.min(pause * 2);
                }
            }
        }
        Ok(())
    }

    fn once(&self, body: &[u8]) -> Result<Sent> {
        let mut post = self
            .agent
            .post(&self.url)
            .header("content-type", "application/x-protobuf")
            .header("content-encoding", "gzip");
        if let Some(authorization) = &self.authorization {
            post = post.header("authorization", authorization);
        }
        let mut answer = match post.send(body) {
            Ok(answer) => answer,
            Err(error @ (ureq::Error::BadUri(_) | ureq::Error::Tls(_))) => {
                return Err(error).with_context(|| self.url.clone());
            }
            Err(error) => return Ok(Sent::Later(anyhow!(error).context(self.url.clone()), TRIES)),
        };
        let status = answer.status().as_u16();
        let said = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        match status {
            200..300 => Ok(Sent::Taken(said.with_context(|| self.url.clone())?)),
            // The codes that OTLP/HTTP lets a sender repeat.
            429 | 502..=504 => {
                Ok(Sent::Later(anyhow!("{} answers {status}", self.url), TRIES_ANSWERED))
            }
            _ => {
                // The printable part of the answer: a text, or a message that contains one.
                let said = String::from_utf8_lossy(&said.unwrap_or_default()).into_owned();
                let said: String = said.chars().filter(|c| !c.is_control()).take(300).collect();
                bail!("{} answers {status}: {said}", self.url)
            }
        }
    }

    fn end(self) -> Result<()> {
        if self.refused > 0 {
            bail!("{} refused {} transactions: {}", self.url, self.refused, self.reason);
        }
        Ok(())
    }
}

//! `aprs-server why`: queries a running server's status port for dropped packets, and prints the
//! answer as text.

use super::why::{Answer, Dropped, Reason};
use crate::callsign::CALLSIGN_LEN_MAX;
use std::io::{self, Read, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Most octets of an answer.
const ANSWER_BYTES_MAX: u64 = 4 << 20;
/// Longest wait for any step of the exchange.
const WITHIN: Duration = Duration::from_secs(5);

/// Reasons why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The server cannot be reached, or does not answer.
    #[error("{address} does not answer: {source}; is it the server's HTTPStatus address?")]
    Unreachable {
        /// Address of the status port.
        address: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The answer is not one of this server.
    #[error("the answer of {address} is not that of an aprs-server: {what}")]
    Strange {
        /// Address of the status port.
        address: String,
        /// First line of the answer, or the fault of the rest.
        what: String,
    },
    /// The text cannot be a callsign.
    #[error("`{0}` is not a callsign: 1 to 9 letters, digits and hyphens expected")]
    Callsign(String),
}

/// Asks the status port at `url` (`http://HOST:PORT`, or `HOST:PORT`) about a callsign, as a source
/// and as a client.
///
/// # Errors
/// [`AskError`] where it cannot be asked, or answers with something else.
pub fn why(url: &str, call: &str) -> Result<Answer, AskError> {
    let is_callsign = |octet: u8| octet.is_ascii_alphanumeric() || octet == b'-';
    if call.is_empty() || call.len() > CALLSIGN_LEN_MAX || !call.bytes().all(is_callsign) {
        return Err(AskError::Callsign(call.to_owned()));
    }
    let address = url.strip_prefix("http://").unwrap_or(url).trim_end_matches('/');
    let text = get(address, &format!("/why?call={call}"))
        .map_err(|source| AskError::Unreachable { address: address.to_owned(), source })?;
    let strange =
        |what: &str| AskError::Strange { address: address.to_owned(), what: what.to_owned() };
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| strange("no end of its head"))?;
    let first = head.lines().next().unwrap_or_default();
    if !first.contains(" 200 ") {
        return Err(strange(first));
    }
    serde_json::from_str(body).map_err(|error| strange(&error.to_string()))
}

fn get(address: &str, path: &str) -> io::Result<String> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no address has this name");
    for resolved in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&resolved, WITHIN) {
            Ok(stream) => return get_from(stream, address, path),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn get_from(mut stream: TcpStream, host: &str, path: &str) -> io::Result<String> {
    stream.set_read_timeout(Some(WITHIN))?;
    stream.set_write_timeout(Some(WITHIN))?;
    // HTTP/1.0: the body ends where the connection does.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {host}\r\n\r\n")?;
    let mut text = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// The answer in words, ready to be printed. `now` is in UTC seconds.
pub fn words(answer: &Answer, now: i64) -> String {
    let call = &answer.call;
    let mut lines = Vec::new();
    for client in &answer.clients {
        let verified = if client.verified { "verified" } else { "not verified" };
        lines.push(format!(
            "{} is connected from {}, {verified}: {} packets came from it, {} of them duplicates",
            client.username, client.address, client.packets, client.duplicates
        ));
        lines.extend(client.reasons.iter().map(reason_line));
    }
    if !answer.as_source.is_empty() {
        lines.push(format!("packets of {call} that were dropped, whoever sent them:"));
        lines.extend(answer.as_source.iter().map(reason_line));
    }
    if !answer.as_client.is_empty() {
        lines.push(format!("packets that {call} sent as a client and that were dropped:"));
        lines.extend(answer.as_client.iter().map(reason_line));
    }
    if !answer.recent.is_empty() {
        lines.push("the last of them:".to_owned());
        lines.extend(answer.recent.iter().map(|drop| drop_line(drop, now)));
    }
    if lines.is_empty() {
        lines.push(format!(
            "{call}: nothing of it was dropped lately, and it is not connected. If its packets do \
             not arrive, they do not reach this server."
        ));
    }
    // Packets come from the air, with whatever octets somebody put into them.
    chronoscope_escape::terminal_lines(&(lines.join("\n") + "\n")).into_owned()
}

fn reason_line(reason: &Reason) -> String {
    format!("{:>8}  {}: {}", reason.packets, reason.reason, reason.meaning)
}

fn drop_line(drop: &Dropped, now: i64) -> String {
    let from = if drop.client.is_empty() { "nobody logged in" } else { &drop.client };
    format!("  {} ago, from {from}, {}: {}", age(now - drop.time), drop.reason, drop.line)
}

fn age(seconds: i64) -> String {
    match seconds.max(0) {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::{AskError, why, words};
    use crate::http::why::{Answer, Client, Dropped, Reason};

    #[test]
    fn words_say_who_why_and_when() {
        let reason = Reason {
            reason: "path_nogate".into(),
            meaning: "It wants to stay on the air.".into(),
            packets: 3,
        };
        let answer = Answer {
            call: "OH7LZB".into(),
            as_source: vec![reason],
            as_client: vec![],
            recent: vec![Dropped {
                time: 1000,
                reason: "path_nogate".into(),
                client: "OH7GATE".into(),
                source: "OH7LZB-9".into(),
                line: "OH7LZB-9>APRS,NOGATE:x".into(),
            }],
            clients: vec![Client {
                id: 4,
                username: "OH7LZB".into(),
                address: "192.0.2.1:1234".into(),
                verified: true,
                packets: 10,
                duplicates: 2,
                reasons: vec![],
            }],
        };
        let expected = "\
OH7LZB is connected from 192.0.2.1:1234, verified: 10 packets came from it, 2 of them duplicates
packets of OH7LZB that were dropped, whoever sent them:
       3  path_nogate: It wants to stay on the air.
the last of them:
  5 min ago, from OH7GATE, path_nogate: OH7LZB-9>APRS,NOGATE:x
";
        assert_eq!(words(&answer, 1300), expected);
        assert!(words(&Answer::default(), 0).contains("nothing of it was dropped"));
    }

    #[test]
    fn what_is_no_callsign_is_not_asked_for() {
        for call in ["", "TOOLONGCALL", "A B", "X\r\nY"] {
            assert!(matches!(why("127.0.0.1:1", call), Err(AskError::Callsign(_))), "{call:?}");
        }
        let error = why("http://127.0.0.1:1/", "OH7LZB").unwrap_err().to_string();
        assert!(error.starts_with("127.0.0.1:1 does not answer"), "{error}");
    }
}

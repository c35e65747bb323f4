//! Retrieval of a file by FTP (RFC 959) on a kept control connection: a reply is the whole file.
//!
//! A round trip asks for a passive port (EPSV, RFC 2428, or PASV where that is unknown), connects to
//! it, retrieves the file and reads until its end was confirmed. Logging in is a part of the first.
//! Not here: TLS, active mode.

use super::deadline::{Deadline, Loss, ProbeResult, loss_of};
use super::stream::Connection;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};

/// Longest line of a reply, in octets, and most lines of one.
const LINE_OCTETS_MAX: usize = 1024;
const LINES_MAX: usize = 200;
/// Largest file, in octets: it is counted and not kept.
const FILE_OCTETS_MAX: u64 = 16 * 1024 * 1024;

/// A client on one control connection.
#[derive(Debug)]
pub(crate) struct Client {
    control: Connection,
    host: IpAddr,
    /// Path of the file on the server.
    path: String,
    /// Received octets that were not parsed yet.
    octets: Vec<u8>,
    /// The server knows EPSV, as far as is known.
    extended: bool,
    logged_in: bool,
}

/// End of a retrieval: the reason why the file did not come.
type Exchange<T> = io::Result<Result<T, Loss>>;

/// A reply of the control connection.
#[derive(Debug, PartialEq, Eq)]
struct Reply {
    code: u16,
    /// Its last line, after the code.
    text: String,
}

impl Client {
    /// Over a control connection to `host` that has just been made.
    pub(crate) fn new(control: Connection, host: IpAddr, path: &str) -> Self {
        let path = path.to_owned();
        Self { control, host, path, octets: Vec::new(), extended: true, logged_in: false }
    }

    /// Whether the connection can carry another request.
    pub(crate) fn is_fresh(&self) -> bool {
        self.octets.is_empty() && self.control.is_quiet()
    }

    /// One retrieval; and whether the connection can be used again.
    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<(ProbeResult, bool)> {
        match self.exchange(deadline) {
            Ok(Ok(())) => Ok((Ok(()), true)),
            Ok(Err(loss @ Loss::Denied(_))) => Ok((Err(loss), self.logged_in)),
            Ok(Err(loss)) => Ok((Err(loss), false)),
            Err(error) => Ok((Err(loss_of(error)?), false)),
        }
    }

    fn exchange(&mut self, deadline: Deadline) -> Exchange<()> {
        if !self.logged_in {
            if let Err(loss) = self.log_in(deadline)? {
                return Ok(Err(loss));
            }
            self.logged_in = true;
        }
        let port = match self.passive(deadline)? {
            Ok(port) => port,
            Err(loss) => return Ok(Err(loss)),
        };
        let mut data = Connection::open(SocketAddr::new(self.host, port), deadline)?;
        let retrieve = format!("RETR {}", self.path);
        match self.ask(&retrieve, deadline)? {
            Ok(Reply { code: 125 | 150, .. }) => {}
            other => return Ok(refused(other)),
        }
        if let Err(loss) = read_all(&mut data, deadline)? {
            return Ok(Err(loss));
        }
        drop(data);
        Ok(match self.reply(deadline)? {
            Ok(Reply { code: 226 | 250, .. }) => Ok(()),
            other => refused(other),
        })
    }

    /// Reads the greeting, and logs in as anonymous.
    fn log_in(&mut self, deadline: Deadline) -> Exchange<()> {
        match self.reply(deadline)? {
            Ok(Reply { code: 220, .. }) => {}
            other => return Ok(refused(other)),
        }
        match self.ask("USER anonymous", deadline)? {
            Ok(Reply { code: 230, .. }) => {}
            Ok(Reply { code: 331, .. }) => match self.ask("PASS chronoscope@", deadline)? {
                Ok(Reply { code: 202 | 230, .. }) => {}
                other => return Ok(refused(other)),
            },
            other => return Ok(refused(other)),
        }
        Ok(match self.ask("TYPE I", deadline)? {
            Ok(Reply { code: 200, .. }) => Ok(()),
            other => refused(other),
        })
    }

    /// A port of the server for the file.
    fn passive(&mut self, deadline: Deadline) -> Exchange<u16> {
        if self.extended {
            match self.ask("EPSV", deadline)? {
                Ok(Reply { code: 229, text }) => return Ok(extended_port(&text)),
                Ok(Reply { code: 500..=599, .. }) => self.extended = false,
                other => return Ok(refused(other)),
            }
        }
        Ok(match self.ask("PASV", deadline)? {
            // Its address is not used: the server's own is the one that was asked for.
            Ok(Reply { code: 227, text }) => passive_port(&text),
            other => refused(other),
        })
    }

    fn ask(&mut self, command: &str, deadline: Deadline) -> Exchange<Reply> {
        self.control.write_all(format!("{command}\r\n").as_bytes(), deadline)?;
        self.reply(deadline)
    }

    /// Reads a reply: one line, or several of which the last begins as the first (RFC 959 §4.2).
    fn reply(&mut self, deadline: Deadline) -> Exchange<Reply> {
        let mut first: Option<String> = None;
        for _ in 0..LINES_MAX {
            let line = match self.line(deadline)? {
                Ok(line) => line,
                Err(loss) => return Ok(Err(loss)),
            };
            let code =
                line.get(..3).filter(|code| code.bytes().all(|octet| octet.is_ascii_digit()));
            let goes_on = line.as_bytes().get(3) == Some(&b'-');
            match (&first, code) {
                (None, None) => return Ok(Err(Loss::Wrong(format!("{line:?} is no reply")))),
                (None, Some(code)) if goes_on => first = Some(code.to_owned()),
                (Some(first), code) if code != Some(first.as_str()) || goes_on => {}
                (_, code) => {
                    let code = code.and_then(|code| code.parse().ok()).unwrap_or(0);
                    let text = line.get(4..).unwrap_or_default().to_owned();
                    return Ok(Ok(Reply { code, text }));
                }
            }
        }
        Ok(Err(Loss::Wrong(format!("a reply of more than {LINES_MAX} lines"))))
    }

    fn line(&mut self, deadline: Deadline) -> Exchange<String> {
        loop {
            if let Some(end) = self.octets.iter().position(|octet| *octet == b'\n') {
                let line: Vec<u8> = self.octets.drain(..=end).collect();
                return Ok(Ok(String::from_utf8_lossy(&line).trim_end().to_owned()));
            }
            if self.octets.len() >= LINE_OCTETS_MAX {
                let what = format!("a line of more than {LINE_OCTETS_MAX} octets");
                return Ok(Err(Loss::Wrong(what)));
            }
            let mut more = [0; LINE_OCTETS_MAX];
            let have = self.control.read(&mut more, deadline)?;
            self.octets.extend_from_slice(&more[..have]);
        }
    }
}

/// The loss that a reply of another code is.
fn refused<T>(reply: Result<Reply, Loss>) -> Result<T, Loss> {
    let Reply { code, .. } = reply?;
    Err(match code {
        400..=599 => Loss::Denied(format!("FTP reply {code}")),
        _ => Loss::Wrong(format!("FTP reply {code}, out of turn")),
    })
}

/// Reads a file to its end.
fn read_all(data: &mut Connection, deadline: Deadline) -> Exchange<()> {
    let mut octets = vec![0; 16 * 1024];
    let mut count = 0_u64;
    while count <= FILE_OCTETS_MAX {
        match data.read(&mut octets, deadline) {
            Ok(have) => count += have as u64,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Ok(())),
            Err(error) => return Err(error),
        }
    }
    Ok(Err(Loss::Wrong(format!("a file of more than {FILE_OCTETS_MAX} octets"))))
}

/// Port in a reply to EPSV, as `Entering extended passive mode (|||6446|).`
fn extended_port(text: &str) -> Result<u16, Loss> {
    let inside = text.split_once("(|||").and_then(|(_, rest)| rest.split_once("|)"));
    let port = inside.and_then(|(port, _)| port.parse().ok()).filter(|port| *port > 0);
    port.ok_or_else(|| Loss::Wrong(format!("{text:?} has no port")))
}

/// Port in a reply to PASV: the last two of six numbers.
fn passive_port(text: &str) -> Result<u16, Loss> {
    let digits = |c: char| c.is_ascii_digit() || c == ',';
    let numbers = text.split(|c| !digits(c)).find(|part| part.matches(',').count() == 5);
    let numbers: Vec<u8> = numbers
        .into_iter()
        .flat_map(|part| part.split(','))
        .map_while(|n| n.parse().ok())
        .collect();
    match numbers[..] {
        [_, _, _, _, high, low] if [high, low] != [0, 0] => Ok(u16::from_be_bytes([high, low])),
        _ => Err(Loss::Wrong(format!("{text:?} has no port"))),
    }
}

/// Judges octets as all that a server sends on its control connection until it asks for data: the
/// greeting, the replies to logging in, and a port.
pub(crate) fn judge(octets: Vec<u8>) -> ProbeResult {
    let here = |error: io::Error| Loss::Wrong(error.to_string());
    let mut client = Client::new(Connection::of(octets), IpAddr::from([127, 0, 0, 1]), "/");
    let deadline = Deadline::after(std::time::Duration::from_mins(1));
    let asked = client.log_in(deadline).and_then(|logged_in| match logged_in {
        Ok(()) => client.passive(deadline),
        Err(loss) => Ok(Err(loss)),
    });
    match asked {
        Ok(port) => port.map(|_| ()),
        Err(error) => Err(loss_of(error).unwrap_or_else(here)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As RFC 2428 §3 and servers of today write them.
    #[test]
    fn ports_are_read() {
        assert_eq!(extended_port("Entering extended passive mode (|||6446|)."), Ok(6446));
        for text in ["", "(|||0|)", "(|||70000|)", "(|||6446"] {
            assert!(extended_port(text).is_err(), "{text}");
        }
        assert_eq!(passive_port("Entering passive mode (127,0,0,1,156,64)."), Ok(40_000));
        assert_eq!(passive_port("=10,0,0,1,0,21"), Ok(21));
        for text in ["", "(127,0,0,1,156)", "(1,2,3,4,0,0)", "(1,2,3,4,256,1)"] {
            assert!(passive_port(text).is_err(), "{text}");
        }
    }

    fn reply(octets: &str) -> Result<Reply, Loss> {
        let connection = Connection::of(octets.as_bytes().to_vec());
        let mut client = Client::new(connection, IpAddr::from([127, 0, 0, 1]), "/");
        let deadline = Deadline::after(std::time::Duration::from_secs(20));
        client.reply(deadline).unwrap_or_else(|error| Err(loss_of(error).unwrap()))
    }

    #[test]
    fn replies_have_one_line_or_many() {
        let of = |code, text: &str| Ok(Reply { code, text: text.to_owned() });
        assert_eq!(reply("220 ready\r\n"), of(220, "ready"));
        // The example of RFC 959 §4.2.
        let many = "123-First line\r\nSecond line\r\n  234 A line beginning with numbers\r\n\
                    123-more\r\n123 The last line\r\n";
        assert_eq!(reply(many), of(123, "The last line"));
        assert_eq!(reply("220 rea"), Err(Loss::Closed));
        assert!(matches!(reply("hello\r\n"), Err(Loss::Wrong(_))));
        assert!(matches!(reply(&"x".repeat(5000)), Err(Loss::Wrong(_))));
        assert!(matches!(reply(&"220-x\r\n".repeat(300)), Err(Loss::Wrong(_))));
    }

    #[test]
    fn a_server_that_does_not_let_in_denies() {
        let judged = |text: &str| judge(text.as_bytes().to_vec());
        let open = "220 hello\r\n331 password\r\n230 in\r\n200 binary\r\n";
        assert_eq!(judged(&format!("{open}229 go (|||5000|)\r\n")), Ok(()));
        assert_eq!(judged(&format!("{open}500 what?\r\n227 (1,2,3,4,5,6)\r\n")), Ok(()));
        let denied = judged("220 hello\r\n530 no\r\n");
        assert_eq!(denied, Err(Loss::Denied("FTP reply 530".to_owned())));
        assert!(matches!(judged("220 hello\r\n220 again\r\n"), Err(Loss::Wrong(_))));
    }
}

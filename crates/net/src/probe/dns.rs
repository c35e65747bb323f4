//! A query for the IPv4 address of a name, by UDP (RFC 1035 §4).
//!
//! Any answer to the question is a reply, also that there is no such name. The answer's records are
//! not read: only its question and its response code.

use super::datagram::{DatagramSocket, Verdict};
use super::deadline::{Deadline, Loss, ProbeResult};
use std::io;
use std::net::UdpSocket;

const HEADER: usize = 12;
/// Largest label of a name and largest name, in octets (RFC 1035 §2.3.4).
const LABEL_MAX: usize = 63;
const NAME_MAX: usize = 255;
/// Type A and class IN.
const A_IN: [u8; 4] = [0, 1, 0, 1];
/// Largest reply that is looked at.
const REPLY_OCTETS_MAX: usize = 4096;

/// A client of one server.
#[derive(Debug)]
pub(crate) struct Client {
    socket: DatagramSocket,
    query: Vec<u8>,
}

/// The query, with number 0; or the fault of `name`.
pub(crate) fn query(name: &str) -> Result<Vec<u8>, String> {
    // Recursion desired, one question.
    let mut query = vec![0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.strip_suffix('.').unwrap_or(name).split('.') {
        let octets = u8::try_from(label.len()).ok();
        let octets = octets.filter(|n| (1..=LABEL_MAX).contains(&usize::from(*n)));
        let octets = octets
            .ok_or_else(|| format!("each label of the name must have 1 to {LABEL_MAX} octets"))?;
        query.push(octets);
        query.extend_from_slice(label.as_bytes());
    }
    query.push(0);
    if query.len() - HEADER > NAME_MAX {
        return Err(format!("the name has more than {NAME_MAX} octets"));
    }
    query.extend_from_slice(&A_IN);
    Ok(query)
}

impl Client {
    /// Over a socket that is connected to the server.
    pub(crate) fn new(socket: UdpSocket, mut query: Vec<u8>) -> Self {
        let [.., one, two] = std::process::id().to_be_bytes();
        query[..2].copy_from_slice(&[one, two]);
        Self { socket: DatagramSocket::new(socket, REPLY_OCTETS_MAX), query }
    }

    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<ProbeResult> {
        let number = u16::from_be_bytes([self.query[0], self.query[1]]).wrapping_add(1);
        self.query[..2].copy_from_slice(&number.to_be_bytes());
        let query = &self.query;
        self.socket.probe(query, deadline, |datagram| verdict(query, datagram))
    }
}

/// Judges `datagram` as the reply to a query with number 0.
pub(crate) fn judge(datagram: &[u8]) -> ProbeResult {
    let query = query("a.example").map_err(Loss::Wrong)?;
    verdict(&query, datagram).alone()
}

fn verdict(query: &[u8], datagram: &[u8]) -> Verdict {
    let Some((header, rest)) = datagram.split_at_checked(HEADER) else {
        let octets = datagram.len();
        return Verdict::Strange(format!("{octets} octets are less than a header"));
    };
    if header[..2] != query[..2] {
        return Verdict::OfAnother;
    }
    // QR marks a response; the operation is that of a standard query.
    if header[2] & 0b1111_1000 != 0b1000_0000 {
        return Verdict::Strange("octet 2: no response to a standard query".to_owned());
    }
    let code = header[3] & 0b1111;
    let question = &query[HEADER..];
    let is_ours = header[4..6] == [0, 1]
        && rest.len() >= question.len()
        && rest[..question.len()].eq_ignore_ascii_case(question);
    // A server that could not even read the query has no question to repeat.
    let has_none = header[4..6] == [0, 0] && code != 0;
    if !is_ours && !has_none {
        return Verdict::Strange("octet 12: another question".to_owned());
    }
    Verdict::Reply(match code {
        // No error; no such name.
        0 | 3 => Ok(()),
        1 => Err(Loss::Denied("FORMERR".to_owned())),
        2 => Err(Loss::Denied("SERVFAIL".to_owned())),
        4 => Err(Loss::Denied("NOTIMP".to_owned())),
        5 => Err(Loss::Denied("REFUSED".to_owned())),
        code => Err(Loss::Denied(format!("response code {code}"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_the_octets_of_the_specification() {
        let octets = query("a.example.").unwrap();
        assert_eq!(octets[..12], [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(octets[12..], *b"\x01a\x07example\0\0\x01\0\x01");
        assert!(query(&"a".repeat(64)).is_err() && query("a..b").is_err() && query("").is_err());
        assert!(query(&"abcdefg.".repeat(31)).is_ok() && query(&"abcdefg.".repeat(32)).is_err());
    }

    #[test]
    fn a_reply_is_told_from_everything_else() {
        let asked = query("a.example").unwrap();
        let mut reply = asked.clone();
        reply[2..4].copy_from_slice(&[0x81, 0x80]);
        reply.extend_from_slice(b"whatever is answered");
        let told = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut reply = reply.clone();
            change(&mut reply);
            match verdict(&asked, &reply) {
                Verdict::Reply(result) => format!("{result:?}"),
                Verdict::OfAnother => "another".to_owned(),
                Verdict::Strange(what) => what,
            }
        };
        assert_eq!(told(&|_| ()), "Ok(())");
        assert_eq!(told(&|reply| reply[3] |= 3), "Ok(())", "that there is none is an answer");
        assert_eq!(told(&|reply| reply[3] |= 2), "Err(Denied(\"SERVFAIL\"))");
        assert_eq!(told(&|reply| reply[13] = b'A'), "Ok(())", "names have no case");
        assert_eq!(told(&|reply| reply[1] = 9), "another");
        assert!(told(&|reply| reply[2] = 1).starts_with("octet 2"));
        assert!(told(&|reply| reply[13] = b'b').starts_with("octet 12"));
        assert!(told(&|reply| reply.truncate(15)).starts_with("octet 12"));
        assert!(told(&|reply| reply.truncate(11)).starts_with("11 octets"));
    }
}

//! A call of procedure 0 of a program by Sun's remote procedure calls (ONC RPC version 2, RFC 5531),
//! by UDP: it has no arguments and no results, and every program has it.
//!
//! Without a port in the target, the host's port mapper is asked for the program's port (RFC 1833
//! §3), as a part of the first round trip.

use super::datagram::{DatagramSocket, Verdict};
use super::deadline::{Deadline, Loss, ProbeResult};
use std::cell::Cell;
use std::io;
use std::net::UdpSocket;

/// Port of the port mapper.
pub(crate) const PORT_MAPPER: u16 = 111;
/// Octets of a call without arguments.
pub(crate) const CALL_OCTETS: usize = 40;
/// Largest reply that is looked at; one without a verifier has 24 octets.
const REPLY_OCTETS_MAX: usize = 1024;
/// Longest verifier, in octets (RFC 5531 §8.2).
const VERIFIER_OCTETS_MAX: u32 = 400;

/// A program, and its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Number of the program, such as 100003 (NFS).
    pub number: u32,
    /// Version of the program.
    pub version: u32,
}

/// The port mapper itself, and its procedure that tells a program's port.
const MAPPER: Program = Program { number: 100_000, version: 2 };
const GET_PORT: u32 = 3;
const UDP: u32 = 17;

/// A client of one program.
#[derive(Debug)]
pub(crate) struct Client {
    socket: DatagramSocket,
    program: Program,
    number: u32,
}

impl Client {
    /// Over a socket that is connected to the program.
    pub(crate) fn new(socket: UdpSocket, program: Program) -> Self {
        // Any number will do that another run did not just use.
        let number = std::process::id() << 16;
        Self { socket: DatagramSocket::new(socket, REPLY_OCTETS_MAX), program, number }
    }

    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<ProbeResult> {
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        let request = call(number, self.program, 0, &[]);
        self.socket.probe(&request, deadline, |datagram| verdict(number, datagram))
    }
}

/// Asks a port mapper, to which `socket` is connected, for the UDP port of a program.
///
/// # Errors
/// Error of this host.
pub(crate) fn port(
    socket: UdpSocket,
    program: Program,
    deadline: Deadline,
) -> io::Result<Result<u16, Loss>> {
    let number = std::process::id() << 16;
    let request = call(number, MAPPER, GET_PORT, &[program.number, program.version, UDP, 0]);
    let found = Cell::new(0);
    let asked =
        DatagramSocket::new(socket, REPLY_OCTETS_MAX).probe(&request, deadline, |datagram| {
            match results(number, datagram) {
                Ok(results) => {
                    found.set(
                        word(results, 0).and_then(|port| u16::try_from(port).ok()).unwrap_or(0),
                    );
                    Verdict::Reply(Ok(()))
                }
                Err(verdict) => verdict,
            }
        })?;
    let Program { number, version } = program;
    Ok(asked.and_then(|()| match found.get() {
        0 => Err(Loss::Denied(format!("no port of program {number} version {version} by UDP"))),
        port => Ok(port),
    }))
}

/// A call with the arguments `words`, without credentials.
fn call(number: u32, program: Program, procedure: u32, words: &[u32]) -> Vec<u8> {
    const CALL: u32 = 0;
    const RPC_VERSION: u32 = 2;
    let head = [number, CALL, RPC_VERSION, program.number, program.version, procedure, 0, 0, 0, 0];
    head.iter().chain(words).flat_map(|word| word.to_be_bytes()).collect()
}

/// Judges `datagram` as the reply to the call with number 1.
pub(crate) fn judge(datagram: &[u8]) -> ProbeResult {
    verdict(1, datagram).alone()
}

fn verdict(number: u32, datagram: &[u8]) -> Verdict {
    results(number, datagram).map_or_else(|verdict| verdict, |_| Verdict::Reply(Ok(())))
}

/// The results of a call that succeeded.
fn results(number: u32, datagram: &[u8]) -> Result<&[u8], Verdict> {
    const REPLY: u32 = 1;
    let octets = datagram.len();
    let short = || Verdict::Strange(format!("{octets} octets are less than a reply"));
    let at = |index| word(datagram, index).ok_or_else(short);
    if at(0)? != number {
        return Err(Verdict::OfAnother);
    }
    if at(1)? != REPLY {
        return Err(Verdict::Strange("octet 4: no reply".to_owned()));
    }
    let denied = |what: String| Err(Verdict::Reply(Err(Loss::Denied(what))));
    match at(2)? {
        0 => {}
        1 if at(3)? == 0 => return denied("RPC: another version of the protocol".to_owned()),
        1 => return denied(format!("RPC: credentials refused ({})", at(4)?)),
        other => return Err(Verdict::Strange(format!("octet 8: reply status {other}"))),
    }
    let verifier = at(4)?;
    if verifier > VERIFIER_OCTETS_MAX {
        return Err(Verdict::Strange(format!("octet 16: a verifier of {verifier} octets")));
    }
    let verifier = verifier.div_ceil(4) as usize;
    match at(5 + verifier)? {
        0 => Ok(datagram.get(24 + 4 * verifier..).unwrap_or_default()),
        1 => denied("RPC: the program is not there".to_owned()),
        2 => denied("RPC: the program is not there in this version".to_owned()),
        3 => denied("RPC: the procedure is not there".to_owned()),
        4 => denied("RPC: arguments not understood".to_owned()),
        5 => denied("RPC: system error".to_owned()),
        other => {
            let octet = 20 + 4 * verifier;
            Err(Verdict::Strange(format!("octet {octet}: acceptance {other}")))
        }
    }
}

/// The word at an index.
fn word(octets: &[u8], index: usize) -> Option<u32> {
    let word = octets.get(4 * index..4 * index + 4)?;
    Some(u32::from_be_bytes(word.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// As `rpcinfo -u 127.0.0.1 100000 2` sends it: RFC 5531 §9, no credentials.
    #[test]
    fn a_call_has_the_octets_of_the_specification() {
        let octets = call(7, MAPPER, 0, &[]);
        assert_eq!(octets, words(&[7, 0, 2, 100_000, 2, 0, 0, 0, 0, 0]));
        assert_eq!(octets.len(), CALL_OCTETS);
    }

    #[test]
    fn a_reply_is_told_from_everything_else() {
        let told = |reply: &[u32]| match verdict(7, &words(reply)) {
            Verdict::Reply(result) => format!("{result:?}"),
            Verdict::OfAnother => "another".to_owned(),
            Verdict::Strange(what) => what,
        };
        assert_eq!(told(&[7, 1, 0, 0, 0, 0]), "Ok(())");
        assert_eq!(told(&[7, 1, 0, 6, 8, 1, 2, 0]), "Ok(())", "a verifier is passed over");
        assert_eq!(told(&[8, 1, 0, 0, 0, 0]), "another");
        assert!(told(&[7, 0, 0, 0, 0, 0]).starts_with("octet 4"));
        assert!(told(&[7, 1, 9, 0, 0, 0]).starts_with("octet 8"));
        assert!(told(&[7, 1, 0, 0, 9000, 0]).starts_with("octet 16"));
        assert!(told(&[7, 1, 0, 0, 0, 9]).starts_with("octet 20"));
        assert!(told(&[7, 1, 0, 0, 0, 1]).contains("not there"));
        assert!(told(&[7, 1, 1, 1, 2]).contains("credentials refused (2)"));
        assert!(told(&[7, 1, 0]).starts_with("12 octets"));
    }

    #[test]
    fn a_port_mapper_tells_the_port() {
        let mapper = UdpSocket::bind("127.0.0.1:0").unwrap();
        let socket = || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(mapper.local_addr().unwrap()).unwrap();
            socket
        };
        let ask = |port_told: u32| {
            std::thread::scope(|scope| {
                let asked = scope.spawn(|| {
                    let deadline = Deadline::after(std::time::Duration::from_secs(20));
                    port(socket(), Program { number: 100_003, version: 3 }, deadline).unwrap()
                });
                let mut octets = [0; 100];
                let (len, from) = mapper.recv_from(&mut octets).unwrap();
                assert_eq!(octets[12..24], words(&[100_000, 2, 3])[..]);
                assert_eq!(octets[40..len], words(&[100_003, 3, 17, 0])[..]);
                let number = word(&octets, 0).unwrap();
                mapper.send_to(&words(&[number, 1, 0, 0, 0, 0, port_told]), from).unwrap();
                asked.join().unwrap()
            })
        };
        assert_eq!(ask(2049), Ok(2049));
        let none = ask(0).unwrap_err().to_string();
        assert!(none.contains("no port of program 100003 version 3"), "{none}");
    }
}

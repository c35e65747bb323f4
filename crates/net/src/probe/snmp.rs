//! A get of `sysUpTime.0` by SNMP version 2c (RFC 3416): what every agent has, and answers at once.

use super::deadline::{Deadline, Loss, ProbeResult, loss_of};
use super::stream::Waits;
use rasn::types::ObjectIdentifier;
use rasn_snmp::v2::{GetRequest, Pdu, Pdus, VarBind, VarBindValue};
use rasn_snmp::v2c::Message;
use std::io::{self, ErrorKind};
use std::net::UdpSocket;

/// `sysUpTime.0` (RFC 3418).
const SYS_UP_TIME: [u32; 9] = [1, 3, 6, 1, 2, 1, 1, 3, 0];
/// Largest reply that is looked at; the one expected has some 45 octets.
const REPLY_OCTETS_MAX: usize = 2048;

/// A client of one agent.
#[derive(Debug)]
pub(crate) struct Client {
    socket: UdpSocket,
    waits: Waits,
    community: String,
    number: i32,
    reply: Vec<u8>,
}

impl Client {
    /// Over a socket that is connected to the agent.
    pub(crate) fn new(socket: UdpSocket, community: &str) -> Self {
        // Any number will do that another run did not just use.
        let number = i32::try_from(std::process::id() & 0x7fff).unwrap_or(0) << 16;
        let reply = vec![0; REPLY_OCTETS_MAX];
        Self { socket, waits: Waits::default(), community: community.to_owned(), number, reply }
    }

    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<ProbeResult> {
        self.number = self.number.wrapping_add(1);
        let mut strange = None;
        match self.round_trip(deadline, &mut strange) {
            Ok(result) => Ok(result),
            Err(error) => {
                let loss = loss_of(error)?;
                Ok(Err(strange.filter(|_| loss == Loss::Late).map_or(loss, Loss::Wrong)))
            }
        }
    }

    fn round_trip(
        &mut self,
        deadline: Deadline,
        strange: &mut Option<String>,
    ) -> io::Result<ProbeResult> {
        let request = request(&self.community, self.number)
            .map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
        self.socket.send(&request)?;
        loop {
            if let Some(left) = self.waits.until(deadline)? {
                self.socket.set_read_timeout(Some(left))?;
            }
            match self.socket.recv(&mut self.reply) {
                Ok(len) => match verdict(self.number, &self.reply[..len]) {
                    Ok(Some(result)) => return Ok(result),
                    Ok(None) => {}
                    Err(what) => *strange = Some(what),
                },
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Octets of a request.
pub(crate) fn octets(community: &str) -> usize {
    request(community, 1 << 16).map_or(0, |request| request.len())
}

fn request(community: &str, number: i32) -> Result<Vec<u8>, String> {
    let name = ObjectIdentifier::new_unchecked(SYS_UP_TIME.to_vec().into());
    let pdu = Pdu {
        request_id: number,
        error_status: 0,
        error_index: 0,
        variable_bindings: vec![VarBind { name, value: VarBindValue::Unspecified }],
    };
    let message = Message {
        version: 1.into(),
        community: community.as_bytes().to_vec().into(),
        data: Pdus::GetRequest(GetRequest(pdu)),
    };
    rasn::ber::encode(&message).map_err(|error| error.to_string())
}

/// Judges `datagram` as the reply to the request with number 1.
pub(crate) fn judge(datagram: &[u8]) -> ProbeResult {
    verdict(1, datagram).map_err(Loss::Wrong)?.unwrap_or(Err(Loss::Late))
}

/// The reply; `None`: to another request; else why it is none.
fn verdict(number: i32, datagram: &[u8]) -> Result<Option<ProbeResult>, String> {
    let message: Message<Pdus> = rasn::ber::decode(datagram)
        .map_err(|_| format!("{} octets that are not an SNMP message", datagram.len()))?;
    let Pdus::Response(response) = message.data else {
        return Err("an SNMP message that is no response".to_owned());
    };
    Ok((response.0.request_id == number).then(|| match response.0.error_status {
        0 => Ok(()),
        status => Err(Loss::Denied(format!("SNMP error status {status}"))),
    }))
}

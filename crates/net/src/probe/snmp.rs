//! A get of `sysUpTime.0` by SNMP version 2c (RFC 3416): what every agent has, and answers at once.

use super::datagram::{DatagramSocket, Verdict};
use super::deadline::{Deadline, Loss, ProbeResult};
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
    socket: DatagramSocket,
    community: String,
    number: i32,
}

impl Client {
    /// Over a socket that is connected to the agent.
    pub(crate) fn new(socket: UdpSocket, community: &str) -> Self {
        // Any number will do that another run did not just use.
        let number = i32::try_from(std::process::id() & 0x7fff).unwrap_or(0) << 16;
        let socket = DatagramSocket::new(socket, REPLY_OCTETS_MAX);
        Self { socket, community: community.to_owned(), number }
    }

    pub(crate) fn probe(&mut self, deadline: Deadline) -> io::Result<ProbeResult> {
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        let request = request(&self.community, number)
            .map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))?;
        self.socket.probe(&request, deadline, |datagram| verdict(number, datagram))
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
    verdict(1, datagram).alone()
}

fn verdict(number: i32, datagram: &[u8]) -> Verdict {
    let Ok(message) = rasn::ber::decode::<Message<Pdus>>(datagram) else {
        let octets = datagram.len();
        return Verdict::Strange(format!("{octets} octets that are not an SNMP message"));
    };
    let Pdus::Response(response) = message.data else {
        return Verdict::Strange("an SNMP message that is no response".to_owned());
    };
    if response.0.request_id != number {
        return Verdict::OfAnother;
    }
    Verdict::Reply(match response.0.error_status {
        0 => Ok(()),
        status => Err(Loss::Denied(format!("SNMP error status {status}"))),
    })
}

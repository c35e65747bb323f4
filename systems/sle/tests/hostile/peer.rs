//! A peer that can say anything: a raw socket, with as much of the protocol as a test wants.

use bytes::Bytes;
use chronoscope_sle::codec::Codec;
use chronoscope_sle::config::parse_instance;
use chronoscope_sle::pdu::{
    AssociationRole, BindPdu, CltuTransferData, Message, ParameterName, Pdu, ServiceType,
    StartRequest,
};
use socket2::{Domain, SockRef, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Long enough for a loaded machine; nothing is asserted about it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Heartbeats of 25 s, dead after five.
pub(crate) const CONTEXT: [u8; 20] = *b"\x02\0\0\0\0\0\0\x0cISP1\0\0\0\x01\0\x19\0\x05";

pub(crate) const FORWARD: &str = "sagr=1.spack=A.fsl-fg=1.cltu=";
pub(crate) const RETURN: &str = "sagr=1.spack=A.rsl-fg=1.raf=";

/// End of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// PEER-ABORT with this octet.
    Abort(u8),
    /// In order.
    Closed,
    /// By a reset.
    Reset,
}

pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    pub(crate) codec: Codec,
    /// Who the peer is.
    pub(crate) role: AssociationRole,
    received: Vec<u8>,
}

/// One message of the transport.
pub(crate) fn framed(pdu: &[u8]) -> Vec<u8> {
    let mut octets = vec![1, 0, 0, 0];
    octets.extend(u32::try_from(pdu.len()).unwrap().to_be_bytes());
    octets.extend(pdu);
    octets
}

impl Peer {
    pub(crate) fn new(stream: TcpStream, role: AssociationRole) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        // The octet of a PEER-ABORT is then the last of the stream.
        SockRef::from(&stream).set_out_of_band_inline(true).unwrap();
        let codec = Codec { service: ServiceType::Fcltu, version: 5 };
        Self { stream, codec, role, received: Vec::new() }
    }

    /// Somebody who connects and says nothing yet.
    pub(crate) fn silent(to: SocketAddr) -> Self {
        Self::new(TcpStream::connect(to).unwrap(), AssociationRole::User)
    }

    /// As [`Self::silent`], with so small a receive buffer that it is soon full.
    pub(crate) fn narrow(to: SocketAddr) -> Self {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        socket.connect(&to.into()).unwrap();
        Self::new(socket.into(), AssociationRole::User)
    }

    /// Somebody who has sent his context message.
    pub(crate) fn user(to: SocketAddr) -> Self {
        let mut peer = Self::silent(to);
        peer.octets(&CONTEXT);
        peer
    }

    pub(crate) fn octets(&mut self, octets: &[u8]) {
        self.stream.write_all(octets).unwrap();
    }

    /// As [`Self::octets`], to somebody who may have closed already.
    pub(crate) fn try_octets(&mut self, octets: &[u8]) -> bool {
        self.stream.write_all(octets).is_ok()
    }

    pub(crate) fn urgent(&mut self, octet: u8) {
        SockRef::from(&self.stream).send_out_of_band(&[octet]).unwrap();
    }

    pub(crate) fn encoded(&self, credentials: Option<Bytes>, pdu: Pdu) -> Vec<u8> {
        let mut octets = Vec::new();
        self.codec.encode(&Message { credentials, pdu }, &mut octets).unwrap();
        octets
    }

    pub(crate) fn say(&mut self, pdu: Pdu) {
        self.say_signed(None, pdu);
    }

    pub(crate) fn say_signed(&mut self, credentials: Option<Bytes>, pdu: Pdu) {
        let octets = framed(&self.encoded(credentials, pdu));
        self.octets(&octets);
    }

    /// BIND, and its return.
    pub(crate) fn bind(&mut self, instance: &str) -> Pdu {
        let bind = bind(instance);
        self.codec.service = bind.service.unwrap();
        self.say(Pdu::Bind(bind));
        self.hear()
    }

    /// A user that is bound and has started.
    pub(crate) fn started(to: SocketAddr, instance: &str) -> Self {
        let mut peer = Self::user(to);
        assert!(matches!(peer.bind(instance), Pdu::BindReturn(answer) if answer.result.is_ok()));
        peer.say(start());
        assert!(matches!(peer.hear(), Pdu::StartReturn { result: Ok(_), .. }));
        peer
    }

    /// The next operation; heartbeats and context messages are passed over.
    pub(crate) fn hear(&mut self) -> Pdu {
        loop {
            if let Some(pdu) = self.heard() {
                return pdu;
            }
            assert!(self.more().unwrap(), "an operation comes before the end");
        }
    }

    /// The next operation, or how the stream ended.
    pub(crate) fn end_or_hear(&mut self) -> Result<Pdu, End> {
        loop {
            if let Some(pdu) = self.heard() {
                return Ok(pdu);
            }
            match self.more() {
                Ok(true) => {}
                _ => return Err(self.end().1),
            }
        }
    }

    /// Everything to the end of the stream, and how it ended.
    pub(crate) fn end(&mut self) -> (Vec<Pdu>, End) {
        let mut all = Vec::new();
        loop {
            all.extend(std::iter::from_fn(|| self.heard()));
            match self.more() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {
                    return (all, End::Reset);
                }
                Err(error) => panic!("no end: {error}"),
            }
        }
        let end = match self.received[..] {
            [] => End::Closed,
            [octet] => End::Abort(octet),
            ref rest => panic!("the stream ended within a message: {rest:?}"),
        };
        (all, end)
    }

    fn more(&mut self) -> std::io::Result<bool> {
        let mut octets = [0; 4096];
        let count = self.stream.read(&mut octets)?;
        self.received.extend(&octets[..count]);
        Ok(count > 0)
    }

    fn heard(&mut self) -> Option<Pdu> {
        loop {
            let header = self.received.first_chunk::<8>()?;
            let length = u32::from_be_bytes([header[4], header[5], header[6], header[7]]) as usize;
            let kind = header[0];
            if self.received.len() < 8 + length {
                return None;
            }
            let octets = Bytes::from(self.received.drain(..8 + length).skip(8).collect::<Vec<_>>());
            if kind == 1 {
                let sender = match self.role {
                    AssociationRole::User => AssociationRole::Provider,
                    AssociationRole::Provider => AssociationRole::User,
                };
                return Some(self.codec.decode(sender, &octets).unwrap().pdu);
            }
        }
    }
}

pub(crate) fn bind(instance: &str) -> BindPdu {
    let service = if instance.contains("cltu=") { ServiceType::Fcltu } else { ServiceType::Raf };
    BindPdu {
        initiator: "MCC".to_owned(),
        responder_port: "PORT".to_owned(),
        service: Ok(service),
        version: 5,
        instance: parse_instance(instance).unwrap(),
    }
}

pub(crate) fn start() -> Pdu {
    Pdu::Start { invoke_id: 1, start: StartRequest::Cltu { first_cltu: 0 } }
}

pub(crate) fn get(invoke_id: u16) -> Pdu {
    Pdu::GetParameter { invoke_id, name: ParameterName::RETURN_TIMEOUT_PERIOD }
}

pub(crate) fn cltu(cltu: u32) -> CltuTransferData {
    CltuTransferData {
        invoke_id: u16::try_from(cltu % 60_000).unwrap(),
        cltu,
        earliest: None,
        latest: None,
        delay_us: 0,
        notify_radiated: false,
        data: Bytes::from_static(&[0xeb, 0x90, 0, 1, 2, 3, 4, 5]),
    }
}

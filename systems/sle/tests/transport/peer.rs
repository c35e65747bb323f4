//! A protocol of TML alone, which tells what happens to it, and raw peers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender as Teller, channel};
use std::time::Duration;

use bytes::Bytes;
use chronoscope_sle::net::{
    AcceptedConnection, ConnectionProtocol, Driver, DriverLimits, Listener, SocketOptions, connect,
};
use chronoscope_sle::time::Now;
use chronoscope_sle::tml::{Heartbeat, HeartbeatLimits, Tml, TmlFault, TransportOutput};

/// Long enough for a loaded machine; nothing is asserted about it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const CONTEXT: [u8; 20] = *b"\x02\0\0\0\0\0\0\x0cISP1\0\0\0\x01\0\x19\0\x05";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Pdu(Bytes),
    Fault(TmlFault),
    Urgent(u8),
    Closed(Option<TmlFault>),
}

/// What a test wants of its connection.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Pdu(Vec<u8>),
    Abort(u8),
    Close,
}

/// Frames and unframes; with `echo` it sends each PDU back.
pub(crate) struct Plain {
    tml: Tml,
    output: TransportOutput,
    echo: bool,
    told: Teller<Told>,
}

impl Plain {
    fn tell(&self, told: Told) {
        // A test that ended does not listen any more.
        let _ = self.told.send(told);
    }

    fn fault(&mut self, fault: TmlFault) {
        if fault.tells_the_peer() {
            self.output.urgent = Some(fault.diagnostic());
        } else {
            self.output.reset = true;
        }
        self.tell(Told::Fault(fault));
    }
}

impl ConnectionProtocol for Plain {
    type Command = Wish;

    fn receive(&mut self, octets: &[u8], now: Now) {
        self.tml.receive(octets, now);
        while let Some(next) = self.tml.next() {
            match next {
                Ok(pdu) => {
                    if self.echo {
                        self.command(Wish::Pdu(pdu.to_vec()), now);
                    }
                    self.tell(Told::Pdu(pdu));
                }
                Err(fault) => self.fault(fault),
            }
        }
    }

    fn urgent(&mut self, octet: u8, _: Now) {
        self.output.close = true;
        self.tell(Told::Urgent(octet));
    }

    fn closed(&mut self, fault: Option<TmlFault>, _: Now) {
        self.tell(Told::Closed(fault));
    }

    fn command(&mut self, wish: Wish, now: Now) {
        match wish {
            Wish::Pdu(body) => self
                .tml
                .frame::<()>(now, &mut self.output.octets, |out| {
                    out.extend(body);
                    Ok(())
                })
                .unwrap(),
            Wish::Abort(diagnostic) => self.output.urgent = Some(diagnostic),
            Wish::Close => self.output.close = true,
        }
    }

    fn due(&self) -> Option<u64> {
        self.tml.due()
    }

    fn tick(&mut self, now: Now) {
        if let Err(fault) = self.tml.tick(now, &mut self.output.octets) {
            self.fault(fault);
        }
    }

    fn output(&mut self) -> &mut TransportOutput {
        &mut self.output
    }
}

/// One side that is driven, and what it tells.
pub(crate) struct Side {
    pub(crate) driver: Driver<Plain>,
    pub(crate) told: Receiver<Told>,
}

impl Side {
    pub(crate) fn next(&self) -> Told {
        self.told.recv_timeout(PATIENCE).expect("something happens")
    }

    pub(crate) fn wish(&self, wish: Wish) {
        let bytes = if let Wish::Pdu(body) = &wish { body.len() } else { 0 };
        self.driver.sender().send(wish, bytes).unwrap();
    }
}

/// Settings of a responder.
#[derive(Clone)]
pub(crate) struct Setting {
    pub(crate) limits: DriverLimits,
    pub(crate) heartbeats: HeartbeatLimits,
    pub(crate) options: SocketOptions,
    pub(crate) echo: bool,
    pub(crate) connections_max: usize,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            limits: DriverLimits::default(),
            heartbeats: HeartbeatLimits::default(),
            options: SocketOptions::default(),
            echo: false,
            connections_max: 8,
        }
    }
}

/// A listener whose connections come out of a channel.
pub(crate) fn listen(setting: &Setting) -> (Listener, Receiver<Side>) {
    let (out, sides) = channel();
    let Setting { limits, heartbeats, echo, .. } = setting.clone();
    let accept = move |accepted: AcceptedConnection| {
        let (told, hear) = channel();
        let heartbeats = heartbeats.clone();
        let driver = accepted
            .drive("responder", limits, |_| Plain {
                tml: Tml::responder(heartbeats, 1 << 20, Now::read()),
                output: TransportOutput::default(),
                echo,
                told,
            })
            .unwrap();
        let _ = out.send(Side { driver, told: hear });
    };
    let any = "127.0.0.1:0".parse().unwrap();
    let listener = Listener::start(any, &setting.options, setting.connections_max, accept).unwrap();
    (listener, sides)
}

/// A driven responder and a raw peer that has sent its context message.
pub(crate) fn raw(setting: &Setting) -> (Listener, Side, TcpStream) {
    let (listener, sides) = listen(setting);
    let mut peer = stream(listener.address());
    peer.write_all(&CONTEXT).unwrap();
    (listener, sides.recv_timeout(PATIENCE).unwrap(), peer)
}

/// A driven responder and a driven initiator.
pub(crate) fn pair(setting: &Setting, heartbeat: Heartbeat) -> (Listener, Side, Side) {
    let (listener, sides) = listen(setting);
    let socket = connect(listener.address(), &setting.options, PATIENCE).unwrap();
    let (told, hear) = channel();
    let driver = Driver::spawn("initiator", socket, &setting.options, setting.limits, |_| Plain {
        tml: Tml::initiator(heartbeat, 1 << 20, Now::read()),
        output: TransportOutput::default(),
        echo: false,
        told,
    })
    .unwrap();
    let initiator = Side { driver, told: hear };
    (listener, sides.recv_timeout(PATIENCE).unwrap(), initiator)
}

pub(crate) fn stream(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

pub(crate) fn pdu(body: &[u8]) -> Vec<u8> {
    let mut octets = vec![1, 0, 0, 0];
    octets.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    octets.extend(body);
    octets
}

/// All until the end of the stream, or the error in its place.
pub(crate) fn rest(mut peer: &TcpStream) -> std::io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    peer.read_to_end(&mut octets).map(|_| octets)
}

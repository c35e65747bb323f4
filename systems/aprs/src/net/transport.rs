//! Bytes through one socket that never waits, with or without TLS.

use super::os;
use crate::config::Protocol;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};
use socket2::Socket;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

/// Plain octets that become one record of TLS, at most.
const RECORD_BYTES_MAX: usize = 16 * 1024;

/// Most octets in one message of SCTP: one larger than the kernel's buffer would be refused for
/// ever.
const SCTP_MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// A connected socket.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: Socket,
    protocol: Protocol,
    tls: Option<Box<Connection>>,
}

impl Transport {
    /// Wraps a socket without TLS. It must not block (`O_NONBLOCK`).
    pub(crate) fn plain(socket: Socket, protocol: Protocol) -> Self {
        Self { socket, protocol, tls: None }
    }

    /// Wraps a client's socket with TLS.
    ///
    /// # Errors
    /// Error of the library about its settings.
    pub(crate) fn server(
        socket: Socket,
        protocol: Protocol,
        config: Arc<ServerConfig>,
    ) -> Result<Self, rustls::Error> {
        let tls = Some(Box::new(ServerConnection::new(config)?.into()));
        Ok(Self { socket, protocol, tls })
    }

    /// An uplink's socket, with TLS. `host` is what the configuration calls it.
    ///
    /// # Errors
    /// When `host` is no name that TLS knows.
    pub(crate) fn client(
        socket: Socket,
        protocol: Protocol,
        config: Arc<ClientConfig>,
        host: &str,
    ) -> Result<Self, String> {
        let name = host.to_owned().try_into().map_err(|error| format!("{host}: {error}"))?;
        let tls = ClientConnection::new(config, name).map_err(|error| error.to_string())?;
        Ok(Self { socket, protocol, tls: Some(Box::new(tls.into())) })
    }

    /// The socket itself.
    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Transport protocol.
    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Descriptor of the socket.
    pub(crate) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Whether it uses TLS: such a connection cannot be handed to another program.
    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// TLS has not agreed on keys yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// The certificates that the other side showed, its own first.
    pub(crate) fn certificates(&self) -> Option<&[CertificateDer<'static>]> {
        self.tls.as_ref()?.peer_certificates()
    }

    /// Octets that the other host has not acknowledged.
    pub(crate) fn unacknowledged(&self) -> usize {
        os::send_queue_bytes(&self.socket)
    }

    /// Goes on with the handshake. Whether it is over.
    ///
    /// # Errors
    /// When the other side left, or does not agree.
    pub(crate) fn handshake(&mut self) -> io::Result<bool> {
        while self.is_handshaking() {
            let flushed = self.flush()?;
            let Some(tls) = &mut self.tls else { break };
            if !flushed || !tls.wants_read() {
                return Ok(false);
            }
            match receive_records(&self.socket, tls) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => {
                    // The alert with the reason may still reach the other side.
                    let _alert = self.flush();
                    return Err(error);
                }
            }
        }
        self.flush()?;
        Ok(true)
    }

    /// Reads: 0 is the end.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] when there is nothing now; else the connection is broken.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return retried(|| (&self.socket).read(buffer)) };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The other side left without saying so. Lines show whether they are whole, so an
                // end is an end.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                result => return result,
            }
            receive_records(&self.socket, tls)?;
            send_records(&self.socket, tls)?;
        }
    }

    /// Writes as much as the kernel accepts. Less than all means that it accepts no more now.
    ///
    /// # Errors
    /// When the connection is broken.
    pub(crate) fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if self.tls.is_some() {
            return self.write_records(slices);
        }
        if self.protocol == Protocol::Sctp {
            return self.write_messages(slices);
        }
        let socket = &self.socket;
        // One piece, as mostly, is a little cheaper to hand over than a list of one.
        let result = match slices {
            [slice] => retried(|| socket.send_with_flags(slice, libc::MSG_NOSIGNAL)),
            _ => retried(|| socket.send_vectored_with_flags(slices, libc::MSG_NOSIGNAL)),
        };
        match result {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
            result => result,
        }
    }

    /// Whether a write is nothing but one send: without TLS, and not in messages.
    pub(crate) fn is_plain_stream(&self) -> bool {
        self.tls.is_none() && self.protocol != Protocol::Sctp
    }

    /// Sends what TLS has left. Whether all of it went out.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        match &mut self.tls {
            Some(tls) => send_records(&self.socket, tls),
            None => Ok(true),
        }
    }

    /// Sends the end of the stream.
    pub(crate) fn finish(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
            // The socket sends an end too; a peer that is gone does not need either.
            let _said = send_records(&self.socket, tls);
        }
        let _gone_already = self.socket.shutdown(std::net::Shutdown::Write);
    }

    fn write_records(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut written = 0;
        if !self.flush()? {
            return Ok(0);
        }
        for slice in slices {
            for record in slice.chunks(RECORD_BYTES_MAX) {
                let Some(tls) = &mut self.tls else { return Ok(written) };
                written += tls.writer().write(record)?;
                if !self.flush()? {
                    return Ok(written);
                }
            }
        }
        Ok(written)
    }

    fn write_messages(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut written = 0;
        for slice in slices {
            for message in slice.chunks(SCTP_MESSAGE_BYTES_MAX) {
                match retried(|| self.socket.send_with_flags(message, libc::MSG_NOSIGNAL)) {
                    Ok(octets) => written += octets,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(written),
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(written)
    }
}

/// Reads available octets into `tls`. Returns their number.
fn receive_records(mut socket: &Socket, tls: &mut Connection) -> io::Result<usize> {
    let octets = retried(|| tls.read_tls(&mut socket))?;
    tls.process_new_packets().map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    Ok(octets)
}

/// Whether all that `tls` had went out.
fn send_records(mut socket: &Socket, tls: &mut Connection) -> io::Result<bool> {
    while tls.wants_write() {
        match retried(|| tls.write_tls(&mut socket)) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// Repeats a call that was interrupted by a signal.
fn retried<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

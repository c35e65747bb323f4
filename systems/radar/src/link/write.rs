//! Writing to a socket that does not block.

use std::io::{self, ErrorKind, Write};

/// Writes until the socket is full or nothing is left; returns the number of octets written.
///
/// # Errors
/// Error of the socket, or [`ErrorKind::WriteZero`] where it takes nothing.
pub(crate) fn write_until_full(socket: &mut impl Write, octets: &[u8]) -> io::Result<usize> {
    let mut written = 0;
    while written < octets.len() {
        match socket.write(&octets[written..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(more) => written += more,
            Err(e) if e.kind() == ErrorKind::WouldBlock => break,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(written)
}

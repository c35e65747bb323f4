//! HTTP requests through plain sockets, as hostile clients write them.

use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longest wait for an answer; a server that exceeds it hangs.
const LATE: Duration = Duration::from_secs(10);

/// A response of a server.
pub(crate) struct Answer {
    /// HTTP status.
    pub(crate) code: u16,
    /// Body of the response.
    pub(crate) body: Vec<u8>,
}

/// The head of a request: its first line without the version, and headers that each end with CRLF.
pub(crate) fn head(line: &str, headers: &str, length: usize) -> String {
    let host = match headers.to_ascii_lowercase().contains("host:") {
        true => "",
        false => "host: localhost\r\n",
    };
    format!(
        "{line} HTTP/1.1\r\nconnection: close\r\ncontent-length: {length}\r\n{host}{headers}\r\n"
    )
}

/// Connects, with a timeout.
///
/// # Errors
/// When the port is closed.
pub(crate) fn connect(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, LATE)?;
    stream.set_read_timeout(Some(LATE))?;
    stream.set_write_timeout(Some(LATE))?;
    Ok(stream)
}

/// Sends a request on a connection of its own and reads the whole answer.
///
/// # Errors
/// When there is no connection, or no answer in time.
pub(crate) fn request(
    address: SocketAddr,
    line: &str,
    headers: &str,
    body: &[u8],
) -> Result<Answer> {
    let mut stream = connect(address)?;
    // A server that refuses a body may close before it has come.
    let _ = stream.write_all(&[head(line, headers, body.len()).as_bytes(), body].concat());
    answer(&mut stream)
}

/// Reads an answer to its end.
///
/// # Errors
/// When there is none.
pub(crate) fn answer(stream: &mut TcpStream) -> Result<Answer> {
    let mut octets = Vec::new();
    if let Err(error) = stream.read_to_end(&mut octets)
        && octets.is_empty()
    {
        return Err(error).context("no answer");
    }
    let end = octets.windows(4).position(|four| four == b"\r\n\r\n").context("no whole head")?;
    let first = String::from_utf8_lossy(&octets[..end]);
    let code = first.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no status")?;
    Ok(Answer { code, body: octets.split_off(end + 4) })
}

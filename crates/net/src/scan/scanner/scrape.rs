//! One host's `node_exporter`, over a connection that is kept.

use super::super::exporter;
use super::http::Response;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{self, Read, Write};
use std::net::SocketAddr;

/// Requested paths, the smallest answer first. An exporter that was started without one of the
/// collectors refuses the first.
const PATHS: [&str; 2] = ["/metrics?collect[]=netdev&collect[]=stat", "/metrics"];

/// A connection, open or not.
#[derive(Debug)]
pub(super) struct Scrape {
    address: SocketAddr,
    path: usize,
    stream: Option<TcpStream>,
    request: Vec<u8>,
    sent: usize,
    response: Response,
    /// The connection has carried an answer before: its end is no refusal.
    used: bool,
}

impl Scrape {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            path: 0,
            stream: None,
            request: Vec::new(),
            sent: 0,
            response: Response::default(),
            used: false,
        }
    }

    /// Asks, over the connection of the last time where it is open.
    pub(super) fn start(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let (path, address) = (PATHS[self.path], self.address);
        self.request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nUser-Agent: chronoscope\r\n\
             Accept: text/plain;version=0.0.4\r\n\r\n"
        )
        .into_bytes();
        (self.sent, self.response) = (0, Response::default());
        if self.stream.is_none() {
            self.used = false;
            let mut stream = TcpStream::connect(address)?;
            registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
            self.stream = Some(stream);
        }
        Ok(())
    }

    /// Goes on as far as the connection lets it; the answer once it is whole.
    pub(super) fn go_on(
        &mut self,
        registry: &Registry,
        token: Token,
    ) -> Result<Option<exporter::Exported>, String> {
        let found = match self.exchange() {
            Ok(None) => return Ok(None),
            Ok(Some(answer)) => Ok(answer),
            Err(error) => Err(error),
        };
        match found {
            // The exporter has closed it since the last time: once more, over a new one.
            Err(Broken::Connection(_)) if self.used && self.response.is_empty() => {
                self.close();
                self.start(registry, token).map_err(|error| error.to_string())?;
                Ok(None)
            }
            Err(broken) => {
                self.close();
                Err(broken.to_string())
            }
            Ok(answer) => {
                self.used = true;
                if !answer.keep {
                    self.close();
                }
                if answer.status == 400 && self.path + 1 < PATHS.len() {
                    self.path += 1;
                    self.start(registry, token).map_err(|error| error.to_string())?;
                    return self.go_on(registry, token);
                }
                read(&answer).map(Some)
            }
        }
    }

    /// Closes the connection: octets in flight are not needed.
    pub(super) fn close(&mut self) {
        self.stream = None;
    }

    fn exchange(&mut self) -> Result<Option<super::http::Answer>, Broken> {
        let Some(stream) = &mut self.stream else { return Ok(None) };
        while self.sent < self.request.len() {
            match stream.write(&self.request[self.sent..]) {
                Ok(len) => self.sent += len,
                Err(error) if is_later(&error) => return Ok(None),
                Err(error) => return Err(Broken::Connection(error)),
            }
        }
        let mut octets = [0; 16_384];
        loop {
            match stream.read(&mut octets) {
                Ok(0) => return Err(Broken::Connection(io::ErrorKind::UnexpectedEof.into())),
                Ok(len) => {
                    let answer = self.response.take(&octets[..len]).map_err(Broken::Answer)?;
                    if answer.is_some() {
                        return Ok(answer);
                    }
                }
                Err(error) if is_later(&error) => return Ok(None),
                Err(error) => return Err(Broken::Connection(error)),
            }
        }
    }
}

/// Reason why an exchange ended.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("{0}")]
    Connection(io::Error),
    #[error(transparent)]
    Answer(super::http::HttpError),
}

fn read(answer: &super::http::Answer) -> Result<exporter::Exported, String> {
    if answer.status != 200 {
        return Err(format!("the exporter answers status {}", answer.status));
    }
    let text = std::str::from_utf8(&answer.body).map_err(|error| error.to_string())?;
    exporter::read(text).map_err(|error| error.to_string())
}

fn is_later(error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(
        kind,
        io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected | io::ErrorKind::Interrupted
    )
}

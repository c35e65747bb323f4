//! Options of a server of answers.

use super::token::Token;
use std::net::SocketAddr;
use std::time::Duration;

/// Options of a server.
#[derive(Clone, Debug)]
pub struct Options {
    /// Address and port; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// Token that requests besides echo need; without one, only programs on this host may send
    /// them.
    pub token: Option<Token>,
    /// CPU time that is spent before each reply and each piece of bulk data: simulates a slow host.
    pub work: Duration,
}

impl Options {
    /// Replies at once, without a token.
    #[must_use]
    pub const fn new(listen: SocketAddr) -> Self {
        Self { listen, token: None, work: Duration::ZERO }
    }
}

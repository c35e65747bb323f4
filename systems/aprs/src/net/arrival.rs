//! A connection on its way to a worker.

use super::tls::ClientTls;
use crate::config::{Listener, Uplink};
use crate::engine::ConnId;
use socket2::Socket;
use std::net::SocketAddr;
use std::sync::Arc;

/// Other side of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A client that connected to this port.
    Client(Arc<Listener>),
    /// A server that we went to.
    Uplink(Arc<Uplink>, Option<ClientTls>),
}

/// A connection that was made and has no worker yet.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) conn: ConnId,
    pub(crate) socket: Socket,
    pub(crate) origin: Origin,
    pub(crate) remote: SocketAddr,
    pub(crate) local: SocketAddr,
}

//! A communication server with raw ends at both sides.

use crate::ends::{CONTEXT, Raw, Waiting, framed};
use chronoscope_sle::communication::{
    CommunicationServer, CommunicationSettings, Route, SessionLimits,
};
use chronoscope_sle::net::SocketOptions;
use chronoscope_sle::provider::ProviderLog;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Kind of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp,
    Local,
}

/// Every pair of kinds that an application, or a network, may have.
pub(crate) const KINDS: [[Kind; 2]; 4] = [
    [Kind::Tcp, Kind::Local],
    [Kind::Local, Kind::Tcp],
    [Kind::Tcp, Kind::Tcp],
    [Kind::Local, Kind::Local],
];

/// A server with one route, and who waits at its end.
pub(crate) struct Between {
    pub(crate) server: CommunicationServer,
    pub(crate) responder: Waiting,
    log: Arc<Mutex<Vec<String>>>,
    pub(crate) folder: TempDir,
}

impl Between {
    pub(crate) fn new(kinds: [Kind; 2]) -> Self {
        Self::with(kinds, SessionLimits::default())
    }

    pub(crate) fn with([initiator, responder]: [Kind; 2], limits: SessionLimits) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let responder = match responder {
            Kind::Tcp => Waiting::tcp(),
            Kind::Local => Waiting::local(folder.path()),
        };
        let listen = match initiator {
            Kind::Tcp => "127.0.0.1:0".to_owned(),
            Kind::Local => format!("unix:{}", folder.path().join("server.sock").display()),
        };
        let log = Arc::new(Mutex::new(Vec::new()));
        let server = start(&[&format!("{listen}={}", responder.address())], limits, &log);
        Self { server, responder, log, folder }
    }

    /// Where initiators connect to.
    pub(crate) fn address(&self) -> String {
        address(&self.server)
    }

    /// Two ends that have exchanged a PDU each way.
    pub(crate) fn session(&self) -> [Raw; 2] {
        let mut initiator = Raw::connect(&self.address());
        let said = [&CONTEXT[..], &framed(b"there")].concat();
        initiator.write(&said);
        let mut responder = self.responder.accept();
        assert_eq!(responder.read_exact(said.len()), said);
        responder.write(&framed(b"back"));
        assert_eq!(initiator.read_exact(12), framed(b"back"));
        [initiator, responder]
    }

    /// The line about the only session, once it is over.
    pub(crate) fn outcome(&self) -> String {
        crate::ends::until(|| !self.log.lock().unwrap().is_empty());
        let log = self.log.lock().unwrap();
        assert_eq!(log.len(), 1, "{log:?}");
        log[0].clone()
    }
}

/// Where initiators of a server with one route connect to.
pub(crate) fn address(server: &CommunicationServer) -> String {
    match server.addresses().first() {
        Some(address) => address.to_string(),
        None => format!("unix:{}", server.paths()[0].display()),
    }
}

/// A server with these routes, whose log is kept.
pub(crate) fn start(
    routes: &[&str],
    limits: SessionLimits,
    log: &Arc<Mutex<Vec<String>>>,
) -> CommunicationServer {
    let settings = CommunicationSettings {
        routes: routes.iter().map(|route| route.parse::<Route>().unwrap()).collect(),
        options: SocketOptions::default(),
        sessions: 16,
        limits,
    };
    let log = Arc::clone(log);
    let log = ProviderLog::new(move |said| log.lock().unwrap().push(said.to_owned()));
    CommunicationServer::start(&settings, log).unwrap()
}

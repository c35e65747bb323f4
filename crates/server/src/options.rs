//! Options of a server.

use crate::limits::Limit;
use crate::metrics::remote_write::RemoteWriteOptions;
use crate::tls::TlsFiles;
use crate::token::Token;
use chronoscope_collect::Ingest;
use chronoscope_query::StoreLocation;
use chronoscope_rules::RuleFile;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Options of a server: address, sources of its answers, and access.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Address and port; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// Folder of the store from which questions are answered and whose collector status is
    /// reported.
    pub data_dir: PathBuf,
    /// The store that questions are answered from, where it is not the files in `data_dir`.
    pub source: Option<StoreLocation>,
    /// Folder of this host's rings; the page shows their programs' activity.
    pub rings: PathBuf,
    /// The folder of the runs that `chronoscope track` keeps; it need not be there.
    pub runs: PathBuf,
    /// Limits that the page's view "now" judges.
    pub limits: Vec<Limit>,
    /// Rules whose alarms it evaluates, the limits among them, and whom it notifies.
    pub rules: RuleFile,
    /// Other stores by name, which the page may compare this one with: folders of files. No others
    /// are read, whatever is asked.
    pub compare: BTreeMap<String, PathBuf>,
    /// Destination of incoming rows; `None` refuses all.
    pub ingest: Option<Ingest>,
    /// Certificate and key; `None` speaks plain TCP.
    pub tls: Option<TlsFiles>,
    /// Token that every request must show; `None` admits every request.
    pub token: Option<Token>,
    /// File of further tokens, each with a name and its rights.
    pub tokens: Option<PathBuf>,
    /// Names under which browsers ask it, beside `localhost` and every IP address.
    pub allow_hosts: Vec<String>,
    /// Receiver of the metrics, beside those who ask for them.
    pub remote_write: Option<RemoteWriteOptions>,
    /// Listen beyond loopback without TLS or without a token.
    pub insecure: bool,
}

impl ServerOptions {
    /// Plain answers from the store in `data_dir`, nothing taken in.
    pub fn new(listen: SocketAddr, data_dir: PathBuf) -> Self {
        Self {
            listen,
            runs: data_dir.join("runs"),
            data_dir,
            rings: chronoscope_record::read::default_folder(),
            limits: Vec::new(),
            rules: RuleFile::default(),
            compare: BTreeMap::new(),
            source: None,
            ingest: None,
            tls: None,
            token: None,
            tokens: None,
            allow_hosts: Vec::new(),
            remote_write: None,
            insecure: false,
        }
    }
}

//! Other processes of the bench: collector and agent as `chronoscope serve` and `chronoscope agent`
//! run them, but with frequent status.

use anyhow::{Context, Result};
use chronoscope_collect::{Agent, AgentOptions, Collector, Options, Target};
use chronoscope_server::{Server, ServerOptions, TlsFiles};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Interval between two writes of the status.
const TELL_EVERY: Duration = Duration::from_millis(20);

/// Collects until killed; prints its address on stdout.
pub(crate) fn collect(data: &Path, rings: &Path, tls: Option<&[PathBuf]>) -> Result<()> {
    let mut options = Options::new(rings.to_owned(), data.to_owned());
    options.store.wait = Duration::from_secs(5);
    options.tell_every = TELL_EVERY;
    let collector = Collector::new(options)?;
    let tls = match tls {
        Some([certificate, key]) => {
            Some(TlsFiles { certificate: certificate.clone(), key: key.clone() })
        }
        _ => None,
    };
    let server = Server::start(ServerOptions {
        ingest: Some(collector.ingest()),
        tls,
        ..ServerOptions::new("127.0.0.1:0".parse()?, data.to_owned())
    })?;
    println!("localhost:{}", server.address().port());
    collector.run(&AtomicBool::new(false), &mut |_| {});
    Ok(())
}

/// Delivers until killed.
pub(crate) fn agent(spool: &Path, rings: &Path, to: &str, ca: Option<&Path>) -> Result<()> {
    let target = Target::new(to, ca, None, false)?;
    let mut options = AgentOptions::new(rings.to_owned(), spool.to_owned(), target);
    options.tell_every = TELL_EVERY;
    Agent::new(options)?.run(&AtomicBool::new(false), &mut |_| {})?;
    Ok(())
}

/// Files of a certificate for localhost that signs itself, twice as authority, and its key.
pub(crate) fn certificates(dir: &Path) -> Result<(PathBuf, PathBuf, PathBuf)> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let (certificate, key) = (dir.join("certificate.pem"), dir.join("key.pem"));
    std::fs::write(&certificate, made.cert.pem()).context("the certificate's file")?;
    std::fs::write(&key, made.signing_key.serialize_pem())?;
    Ok((certificate.clone(), certificate, key))
}

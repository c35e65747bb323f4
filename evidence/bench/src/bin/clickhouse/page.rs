//! The first picture of the page: what it asks when its scattergram is opened, of a server that was
//! just started before the cluster.

use crate::servers::Servers;
use crate::took::Took;
use anyhow::{Result, bail};
use chronoscope_clock as clock;
use chronoscope_query::StoreLocation;
use chronoscope_server::{Server, ServerOptions};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// The selection and the finest picture that the page asks for.
const ALL: &str = "root=MRTS::decodePlots&leaf=CWP::TargetView_redraw";
const RASTER: &str = "&width=800&height=420&scale=log";
const LIST: &str = "&order=longest&limit=100";

/// Opens the page twice: from nothing, and again.
pub(crate) fn opening(servers: &Servers) -> Result<Value> {
    let server = Server::start(ServerOptions {
        source: Some(StoreLocation::open(servers.url())?),
        ..ServerOptions::new("127.0.0.1:0".parse()?, std::env::temp_dir())
    })?;
    let address = server.address();
    let mut rounds = Vec::new();
    for _ in 0..2 {
        let mut took = Took::default();
        let (choices, pictures) = took.run(servers, || {
            let choices = together(address, &["status".to_owned(), "paths".to_owned()])?;
            let pictures = together(
                address,
                &[format!("scatter?{ALL}{RASTER}"), format!("chains?{ALL}{LIST}")],
            )?;
            Ok((choices, pictures))
        })?;
        rounds.push(json!({
            "seconds": took.seconds(), "our_cpu_s": took.cpu_seconds(),
            "choices_s": choices, "picture_and_list_s": pictures,
        }));
    }
    server.stop();
    Ok(json!({ "first": rounds[0], "again": rounds[1] }))
}

/// Asks all at the same moment; seconds until the last byte of the last answer.
fn together(address: SocketAddr, questions: &[String]) -> Result<f64> {
    let began_ns = clock::monotonic_ns();
    std::thread::scope(|scope| {
        let asked: Vec<_> =
            questions.iter().map(|path| scope.spawn(move || get(address, path))).collect();
        asked.into_iter().try_for_each(|one| match one.join() {
            Ok(answered) => answered,
            Err(_) => bail!("a question ended in a panic"),
        })
    })?;
    Ok((clock::monotonic_ns() - began_ns) as f64 * 1e-9)
}

fn get(address: SocketAddr, path: &str) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    if !answer.starts_with(b"HTTP/1.1 200") {
        let words = String::from_utf8_lossy(&answer);
        bail!("{path}: {}", words.chars().take(600).collect::<String>());
    }
    Ok(())
}

//! `chronoscope net discover`: a topology to start from, by the gateways on the way to hosts.

use crate::args::net::path::Discover;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::duration;
use anyhow::{Context, Result, anyhow};
use chronoscope_formats::json;
use chronoscope_net::path::discover::{Traced, topology};
use chronoscope_net::path::trace::{Hop, Limits, trace};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

/// Runs the command.
pub(crate) fn discover(args: &Discover) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let limits = Limits { hops: args.hops, tries: args.tries, timeout: args.timeout };
    let mut traced = Vec::new();
    for name in &args.to {
        if interrupt.is_set() {
            say!("interrupted: {} of {} hosts were looked for", traced.len(), args.to.len());
            break;
        }
        let address = address(name)?;
        progress(&format!("looking for {name}"));
        let found = trace(address, &limits, interrupt.flag());
        let trace =
            found.with_context(|| format!("cannot trace the path to {name} ({address})"))?;
        progress("");
        traced.push(Traced { name: name.clone(), address, trace });
    }
    let text = file(args, &traced)?;
    match &args.output {
        Some(path) => {
            let cannot = || format!("cannot write {}: a file that exists is kept", path.display());
            let mut file =
                OpenOptions::new().write(true).create_new(true).open(path).with_context(cannot)?;
            file.write_all(text.as_bytes()).with_context(cannot)?;
            say!(
                "written to {}: name the types in it, and add links and bridges, which do not show",
                path.display()
            );
        }
        None if args.json => {}
        None => show(&text)?,
    }
    if args.json {
        let hosts: Vec<Value> = traced.iter().map(document).collect();
        show(&format!("{:#}\n", json::document("discover", json!({ "hosts": hosts }))))?;
    }
    let reached = traced.iter().any(|one| one.trace.host.is_some());
    Ok(if reached { Exit::Done } else { Exit::Nothing })
}

fn address(name: &str) -> Result<Ipv4Addr> {
    let found = (name, 0).to_socket_addrs().with_context(|| format!("cannot find {name}"))?;
    let mut v4 = found.filter_map(|address| match address {
        SocketAddr::V4(address) => Some(*address.ip()),
        SocketAddr::V6(_) => None,
    });
    v4.next()
        .ok_or_else(|| anyhow!("{name} has no IPv4 address; paths over IPv6 are not supported"))
}

/// The topology, with observations along the path as comments.
fn file(args: &Discover, traced: &[Traced]) -> Result<String> {
    let mut text =
        String::from("# Gateways that answered on the way, with their fastest answer:\n");
    for one in traced {
        let said = |hop: &Option<Hop>| {
            hop.map_or("?".to_owned(), |hop| {
                format!("{} ({})", hop.address, duration(hop.took_ns as f64))
            })
        };
        let mut hops: Vec<String> = one.trace.gateways.iter().map(said).collect();
        hops.push(match one.trace.host {
            Some(_) => said(&one.trace.host),
            None => "not reached".to_owned(),
        });
        let _ = writeln!(text, "# {}: {}", one.name, hops.join(", "));
    }
    text.push_str(
        "# Links and bridges do not show; give types what is known of them, and hosts the port of\n\
         # their `net answer`.\n\n",
    );
    text.push_str(&topology(&args.name, traced).written()?);
    Ok(text)
}

fn document(one: &Traced) -> Value {
    let hop =
        |hop: &Option<Hop>| hop.map(|hop| json!({"address": hop.address, "took_ns": hop.took_ns}));
    json!({
        "to": one.name,
        "address": one.address,
        "gateways": one.trace.gateways.iter().map(hop).collect::<Vec<_>>(),
        "host": hop(&one.trace.host),
    })
}

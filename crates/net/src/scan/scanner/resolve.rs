//! Hosts' addresses, looked up once, and their keys, made once: both take longer than a scan.

use super::super::hosts::{Auth, By, Secret, Target};
use super::super::snmp::{Passwords, Session};
use super::host::{Host, HostProtocol};
use super::scrape::Scrape;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::thread;

/// Names looked up at once: an unknown one takes seconds.
const LOOK_UPS: usize = 16;

/// An address, or why there is none.
type Address = Result<SocketAddr, String>;

/// The hosts that are asked.
pub(super) fn hosts(targets: &[Target]) -> io::Result<Vec<Host>> {
    let asked: Vec<(&Target, u16)> = targets
        .iter()
        .filter_map(|target| match target.by {
            By::Snmp { port, .. } | By::Snmp3 { port, .. } | By::NodeExporter { port } => {
                Some((target, port))
            }
            By::Agent => None,
        })
        .collect();
    let addresses = addresses(&asked)?;
    let mut keys = Keys::default();
    // Different in every run, and not to be guessed.
    let random = |n: usize| RandomState::new().hash_one(n);
    let host = |(index, ((target, _), address)): (usize, (&(&Target, u16), Address))| {
        let first = i32::try_from(random(index) >> 33).unwrap_or(0);
        let (by, kind) = match &target.by {
            By::Snmp { community, .. } => {
                ("snmp", HostProtocol::Snmp(Box::new(Session::v2c(&community.0, first))))
            }
            By::Snmp3 { user, auth, privacy, .. } => {
                let passwords = keys.of(auth.as_ref(), privacy.as_ref());
                let session = Session::v3(user, passwords, first, random(index));
                ("snmp3", HostProtocol::Snmp(Box::new(session)))
            }
            By::NodeExporter { .. } | By::Agent => {
                // Without an address it is never started.
                let at = address.clone().unwrap_or_else(|_| ([0; 4], 0).into());
                ("exporter", HostProtocol::Exporter(Box::new(Scrape::new(at))))
            }
        };
        Host::new(&target.name, by, kind, address)
    };
    Ok(asked.iter().zip(addresses).enumerate().map(host).collect())
}

/// Keys of passwords, each made once: hosts often share them.
#[derive(Default)]
struct Keys(HashMap<(bool, String, Option<String>), Passwords>);

impl Keys {
    fn of(&mut self, auth: Option<&(Auth, Secret)>, privacy: Option<&Secret>) -> Passwords {
        let Some((hash, word)) = auth else { return Passwords::new(None, None) };
        let privacy = privacy.map(|word| word.0.as_str());
        let key = (*hash == Auth::Sha256, word.0.clone(), privacy.map(str::to_owned));
        let make = || Passwords::new(Some((*hash, &word.0)), privacy);
        self.0.entry(key).or_insert_with(make).clone()
    }
}

/// Their addresses, in their order.
fn addresses(asked: &[(&Target, u16)]) -> io::Result<Vec<Address>> {
    let mut found: Vec<Option<Address>> = asked
        .iter()
        .map(|(target, port)| {
            target.address.parse::<IpAddr>().ok().map(|ip| Ok((ip, *port).into()))
        })
        .collect();
    let open: Vec<usize> = (0..asked.len()).filter(|index| found[*index].is_none()).collect();
    let part = open.len().div_ceil(LOOK_UPS).max(1);
    let looked_up = thread::scope(|scope| -> io::Result<Vec<(usize, Address)>> {
        let look_up = |part: &[usize]| {
            part.iter().map(|index| (*index, look_up(asked[*index]))).collect::<Vec<_>>()
        };
        let start = |part: &'_ [usize]| {
            let part = part.to_vec();
            thread::Builder::new()
                .name("look up".into())
                .spawn_scoped(scope, move || look_up(&part))
        };
        let threads = open.chunks(part).map(start).collect::<io::Result<Vec<_>>>()?;
        let panicked = |_| io::Error::other("a thread that looks names up panicked");
        let parts = threads.into_iter().map(|thread| thread.join().map_err(panicked));
        Ok(parts.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect())
    })?;
    for (index, address) in looked_up {
        found[index] = Some(address);
    }
    let none = || Err("no address".to_owned());
    Ok(found.into_iter().map(|address| address.unwrap_or_else(none)).collect())
}

fn look_up((target, port): (&Target, u16)) -> Address {
    let name = &target.address;
    let mut found = (name.as_str(), port)
        .to_socket_addrs()
        .map_err(|error| format!("{name} has no address: {error}"))?;
    found.next().ok_or_else(|| format!("{name} has no address"))
}

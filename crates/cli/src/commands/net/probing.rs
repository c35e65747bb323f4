//! Probing hosts of a topology from this one.

use anyhow::{Context, Result, bail};
use chronoscope_net::path::topology::Topology;
use chronoscope_net::probe::{Asking, Prober, Target};
use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

/// The host of the topology that this one is: as said, or the one whose address is here.
pub(crate) fn here(topology: &Topology, said: Option<&str>) -> Result<String> {
    if let Some(name) = said {
        topology.host(name)?;
        return Ok(name.to_owned());
    }
    let is_here = |name: &&String| {
        let target = target(topology, name).ok();
        let address: Option<IpAddr> = target.and_then(|target| target.host().parse().ok());
        address.is_some_and(|address| UdpSocket::bind((address, 0)).is_ok())
    };
    let found: Vec<&String> = topology.hosts.keys().filter(is_here).collect();
    match found[..] {
        [name] => Ok(name.clone()),
        [] => bail!(
            "no host of the topology has an address of this machine: say which one it is (--from)"
        ),
        _ => bail!(
            "hosts {} of the topology have an address of this machine: say which one it is (--from)",
            found.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// What is asked of a host: its address by our own echo over UDP, unless it names TCP
/// (`tcp:ADDRESS:PORT`). Nothing else: a topology may come from others, and may not run programs.
pub(crate) fn target(topology: &Topology, host: &str) -> Result<Target> {
    let address = topology.host(host)?.address.as_deref();
    let address = address.with_context(|| format!("host {host:?} has no address"))?;
    let words = match address.starts_with("tcp:") || address.starts_with("udp:") {
        true => address.to_owned(),
        false => format!("udp:{address}"),
    };
    let wrong = || format!("address of host {host:?}: expected ADDRESS:PORT of its `net answer`");
    words.parse().with_context(wrong)
}

/// A client of a host.
pub(crate) fn prober(
    topology: &Topology,
    host: &str,
    octets: u32,
    timeout: Duration,
) -> Result<Prober> {
    let octets = usize::try_from(octets).unwrap_or(usize::MAX);
    Ok(Prober::new(target(topology, host)?, Asking { octets, timeout }))
}

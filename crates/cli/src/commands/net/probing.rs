//! Probing hosts of a topology from this one.

use crate::args::net::path::By;
use anyhow::{Context, Result, bail};
use chronoscope_net::path::topology::Topology;
use chronoscope_net::probe::{ProbeOptions, Prober, Target};
use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

/// Name of this host in the topology: as given, or the host whose address is local.
pub(crate) fn here(topology: &Topology, said: Option<&str>) -> Result<String> {
    // `net discover` cannot know ports: they are requested before a later step fails without them.
    let without_port = without_port(topology);
    if !without_port.is_empty() {
        bail!(
            "the topology has no port for {}: add the port on which `chronoscope net answer` \
             listens on each host, as address = \"ADDRESS:PORT\"",
            without_port.join(", ")
        );
    }
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
            "no host of the topology has an address of this machine: {}name this host with --from",
            lacking(topology).map_or(String::new(), |lacking| format!("{lacking}; or "))
        ),
        _ => bail!(
            "hosts {} of the topology have an address of this machine: name one of them with \
             --from",
            found.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Hosts with an address but no port.
fn without_port(topology: &Topology) -> Vec<String> {
    let named =
        topology.hosts.iter().filter_map(|(name, host)| Some((name, host.address.as_ref()?)));
    let lacks = named.filter(|(_, address)| address.parse::<IpAddr>().is_ok());
    lacks.map(|(name, address)| format!("host {name:?} (address {address})")).collect()
}

/// The addresses that hosts lack for probing, and the remedy; `None` where all have one.
pub(crate) fn lacking(topology: &Topology) -> Option<String> {
    let lacks = topology.hosts.iter().filter(|(_, host)| host.address.is_none());
    let lacks: Vec<String> = lacks.map(|(name, _)| format!("{name:?}")).collect();
    (!lacks.is_empty()).then(|| {
        format!(
            "host {} has no address: add the address and port on which `chronoscope net answer` \
             listens there, as address = \"ADDRESS:PORT\"",
            lacks.join(", ")
        )
    })
}

/// Target of a host: its address by our own echo over UDP, or over TCP (`tcp:ADDRESS:PORT`). Other
/// kinds are refused: a topology may come from others, and must not run programs.
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

/// Protocol of probes of a host; one without an address would be asked by datagrams.
pub(crate) fn by(topology: &Topology, host: &str) -> By {
    let address = topology.hosts.get(host).and_then(|host| host.address.as_deref());
    if address.is_some_and(|address| address.starts_with("tcp:")) { By::Tcp } else { By::Udp }
}

/// A client of a host.
pub(crate) fn prober(
    topology: &Topology,
    host: &str,
    octets: u32,
    timeout: Duration,
) -> Result<Prober> {
    let octets = usize::try_from(octets).unwrap_or(usize::MAX);
    Ok(Prober::new(target(topology, host)?, ProbeOptions { octets, timeout }))
}

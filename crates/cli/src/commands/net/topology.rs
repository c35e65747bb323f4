//! Reader of the files that describe a network.

use crate::args::net::path::Network;
use anyhow::{Context, Result};
use chronoscope_net::path::topology::Topology;
use std::fs;

/// Reads the topology, and the measured properties of its types.
pub(crate) fn read(network: &Network) -> Result<Topology> {
    let text = |path: &std::path::Path| {
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    let topology = text(&network.topology)?;
    let measured = network.measured.as_deref().map(text).transpose()?;
    let files = match &network.measured {
        Some(measured) => format!("{} with {}", network.topology.display(), measured.display()),
        None => network.topology.display().to_string(),
    };
    Topology::read(&topology, measured.as_deref()).with_context(|| format!("in {files}"))
}

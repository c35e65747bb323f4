//! Command line of groups of hosts.

use clap::Args;
use std::path::PathBuf;

/// Groups of hosts, and what their links carry.
#[derive(Debug, Args)]
pub(crate) struct GroupArgs {
    /// Group of hosts, such as a ring: hosts by name, or by network (10.1.3.0/24); may be given
    /// several times
    #[arg(long, value_name = "NAME=HOST,…")]
    pub(crate) group: Vec<String>,
    /// What the links of the groups carry, in bits per second (4M), or of one group (PCR=4M); may be
    /// given several times [default: speed of the hosts' interfaces, where SNMP tells it]
    #[arg(long, value_name = "[NAME=]RATE")]
    pub(crate) capacity: Vec<String>,
}

/// Groups of hosts, also from a list of hosts.
#[derive(Debug, Args)]
pub(crate) struct ListedGroupArgs {
    #[command(flatten)]
    pub(crate) given: GroupArgs,
    /// List of hosts whose lines have group=NAME (docs/net-scan.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) groups: Option<PathBuf>,
}

//! One cluster: rows in, linked, and asked.

use crate::load::{self, Load};
use crate::pictures::acpd;
use crate::servers::{DATABASE, Servers};
use crate::took::{Best, Took};
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use chronoscope_query::{Limits, StoreLocation};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Time in which servers have nothing to do.
const IDLE: Duration = Duration::from_secs(3);

/// The size of a cluster and of what goes into it.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) shards: usize,
    pub(crate) chains: usize,
    /// Most rows of one insert.
    pub(crate) batch: usize,
}

/// What one cluster took. Processor times in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) shards: usize,
    pub(crate) rows: u64,
    /// Inserts, each of which goes to every shard.
    pub(crate) inserts: u64,
    /// The shards' processor time for the inserts, merges of all parts into one included.
    pub(crate) insert_servers_s: f64,
    pub(crate) insert_ours_s: f64,
    /// Bytes sent to the shards, and on their disks at the end.
    pub(crate) sent_bytes: f64,
    pub(crate) disk_bytes: f64,
    /// Rows that merges wrote.
    pub(crate) merged_rows: u64,
    /// Linking and sketches: the shards' processor time, and ours.
    pub(crate) link_servers_s: f64,
    pub(crate) link_ours_s: f64,
    /// Durations to a leaf over all rows: the shards' processor time, and ours.
    pub(crate) acpd_servers_s: f64,
    pub(crate) acpd_ours_s: f64,
    /// Statistics of all classes, out of sketches.
    pub(crate) classes_servers_s: f64,
    pub(crate) classes_ours_s: f64,
    /// Processors that a server takes which has nothing to do.
    pub(crate) idle_cores: f64,
}

/// Measures a cluster whose data are in `dir` meanwhile.
pub(crate) fn cluster(dir: &Path, sizes: Sizes) -> Result<Measured> {
    let Sizes { shards, chains, batch } = sizes;
    let servers = Servers::start(dir, shards)?;
    let mut idle = Took::default();
    idle.run(&servers, || {
        clock::sleep(IDLE);
        Ok(())
    })?;
    let load = Load { chains, displays: 4, batch, writers: 1 };
    let inserted = load::into_cluster(load, &servers, DATABASE)?;
    let merged_rows = servers.merged_rows()?;
    let linked = load::link(&servers, DATABASE)?;
    let number = |value: &Value, key: &str| value[key].as_f64().unwrap_or(f64::NAN);
    let counted = |key: &str| inserted[key].as_u64().with_context(|| format!("no number of {key}"));
    let rows = number(&inserted, "rows");
    let (mut acpds, mut classes) = (Best::default(), Best::default());
    for _ in 0..3 {
        let cluster = StoreLocation::open(servers.url())?;
        acpds.run(&servers, || Ok(cluster.ask(&acpd(), &Limits::default())?.counts.used))?;
        classes.run(&servers, || Ok(cluster.classes(&(i64::MIN..i64::MAX))?.0.len()))?;
    }
    let (acpds, classes) = (acpds.took()?, classes.took()?);
    let millions = rows * 1e-6;
    Ok(Measured {
        shards,
        rows: counted("rows")?,
        inserts: counted("inserts")?,
        insert_servers_s: number(&inserted, "servers_cpu_s_per_million") * millions,
        insert_ours_s: number(&inserted, "our_cpu_s_per_million") * millions,
        sent_bytes: number(&inserted, "sent_bytes_per_row") * rows,
        disk_bytes: number(&inserted, "bytes_per_row") * rows,
        merged_rows,
        link_servers_s: number(&linked["took"], "servers_cpu_s_per_million") * millions,
        link_ours_s: number(&linked["took"], "our_cpu_s_per_million") * millions,
        acpd_servers_s: acpds.servers_ns as f64 * 1e-9,
        acpd_ours_s: acpds.cpu_seconds(),
        classes_servers_s: classes.servers_ns as f64 * 1e-9,
        classes_ours_s: classes.cpu_seconds(),
        idle_cores: idle.servers_ns as f64 / idle.wall_ns as f64 / shards as f64,
    })
}

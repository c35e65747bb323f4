//! `GET /healthz` and `GET /readyz`, for supervisors, monitoring and load balancers.
//!
//! Both are answered without a token: they name failed checks, reveal no stored data, and do not
//! read the store.

use crate::collectors::Collectors;
use crate::metrics::follow::Follower;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use chronoscope_clock as clock;
use chronoscope_collect::Status;
use serde::Serialize;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

/// With less free space than this the disk counts as full: some seconds of a busy system.
const DISK_FREE_BYTES_MIN: u64 = 64 << 20;
/// A collector whose last status is older than this is not collecting.
const SAID_WITHIN_NS: u64 = 10_000_000_000;

/// Inputs of the readiness checks.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) data_dir: PathBuf,
    /// The folder of this host's rings.
    pub(crate) rings: PathBuf,
    /// All collectors before the cluster that the store is; `None` where it is files of this host,
    /// which have a collector.
    pub(crate) collectors: Option<Arc<Collectors>>,
    pub(crate) metrics: Arc<Follower>,
}

/// A failed check.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Failing {
    check: &'static str,
    reason: String,
}

/// The answer of `/readyz`.
#[derive(Debug, Serialize)]
struct Readiness {
    ready: bool,
    failing: Vec<Failing>,
}

/// Routes of both checks.
pub(crate) fn routes(ready: Ready) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(readyz))
        .with_state(ready)
}

async fn readyz(State(ready): State<Ready>) -> Response {
    let failing = match &ready.collectors {
        None => ready.failing(clock::utc_now_ns()),
        Some(collectors) if collectors.is_beating() => Vec::new(),
        Some(_) => {
            let reason = "the first shard has taken no heartbeat of this server within 10 s";
            vec![fails("cluster", reason)]
        }
    };
    let ready = failing.is_empty();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Readiness { ready, failing })).into_response()
}

impl Ready {
    fn failing(&self, now_ns: i64) -> Vec<Failing> {
        let read = std::fs::read_dir(&self.rings).map(drop);
        let mut failing: Vec<Failing> = rings(read.err().as_ref()).into_iter().collect();
        if !self.metrics.is_following() {
            failing.push(fails("store", "the log of the store cannot be read yet"));
        }
        match Status::read(&self.data_dir) {
            Ok(Some(status)) => failing.extend(collector(&status, now_ns)),
            Ok(None) => failing.push(fails("collector", "the collector has not reported yet")),
            Err(error) => {
                let reason = format!("the collector's report cannot be read: {}", error.kind());
                failing.push(fails("collector", reason));
            }
        }
        failing
    }
}

/// The check of the ring folder. It may be absent: the first program creates it.
fn rings(error: Option<&io::Error>) -> Option<Failing> {
    let error = error.filter(|error| error.kind() != ErrorKind::NotFound)?;
    Some(fails("rings", format!("the folder of rings cannot be read: {}", error.kind())))
}

/// The checks of the collector's own status.
fn collector(status: &Status, now_ns: i64) -> Vec<Failing> {
    let mut failing = Vec::new();
    if !status.running || now_ns.abs_diff(status.at_ns) > SAID_WITHIN_NS {
        failing.push(fails("collector", "no collector writes to this store"));
    }
    if status.disk_free_bytes.is_some_and(|free| free < DISK_FREE_BYTES_MIN) {
        let least = DISK_FREE_BYTES_MIN >> 20;
        failing.push(fails("disk", format!("less than {least} MiB are free on the store's disk")));
    }
    if status.refused {
        failing.push(fails("store", "rows are refused at present: GET /status gives the reason"));
    } else if status.error.is_some() {
        failing.push(fails("sync", "syncing or sealing fails: GET /status gives the reason"));
    }
    failing
}

fn fails(check: &'static str, reason: impl Into<String>) -> Failing {
    Failing { check, reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(change: impl FnOnce(&mut Status)) -> Vec<&'static str> {
        let free = Some(DISK_FREE_BYTES_MIN);
        let mut status =
            Status { running: true, at_ns: 5, disk_free_bytes: free, ..Status::default() };
        change(&mut status);
        collector(&status, 5).into_iter().map(|failing| failing.check).collect()
    }

    #[test]
    fn each_trouble_of_the_collector_is_named() {
        assert_eq!(checks(|_| ()), [""; 0]);
        assert_eq!(checks(|status| status.running = false), ["collector"]);
        assert_eq!(checks(|status| status.at_ns -= 11_000_000_000), ["collector"]);
        assert_eq!(checks(|status| status.disk_free_bytes = Some(1)), ["disk"]);
        assert_eq!(checks(|status| status.error = Some("fdatasync".into())), ["sync"]);
        assert_eq!(checks(|status| status.refused = true), ["store"]);
    }

    #[test]
    fn a_folder_of_rings_may_be_missing_but_not_unreadable() {
        assert_eq!(rings(None), None);
        assert_eq!(rings(Some(&ErrorKind::NotFound.into())), None);
        let denied = rings(Some(&ErrorKind::PermissionDenied.into())).unwrap();
        assert_eq!(denied.reason, "the folder of rings cannot be read: permission denied");
    }
}

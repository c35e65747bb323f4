//! Rows that `chronoscope net` recorded, out of any store.

use anyhow::{Context, Result};
use chronoscope_model::{ClassName, Excerpt};
use chronoscope_net::rows::{
    APPLICATION, ROUND_TRIP, RoundTrip, SCAN_HOST, ScanRow, TRANSFER, Transfer,
};
use chronoscope_query::StoreLocation;
use std::ops::Range;

/// Gives what scans learned in `range` (UTC, nanoseconds since 1970) to `each`, in about the order
/// of time.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn scans(
    source: &StoreLocation,
    range: &Range<i64>,
    each: &mut (dyn FnMut(ScanRow) + Send),
) -> Result<()> {
    rows(source, SCAN_HOST, range, &mut |row| ScanRow::from_excerpt(row).map(&mut *each))
}

/// Stored round trips; as [`scans`].
pub(crate) fn round_trips(
    source: &StoreLocation,
    range: &Range<i64>,
    each: &mut (dyn FnMut(RoundTrip) + Send),
) -> Result<()> {
    rows(source, ROUND_TRIP, range, &mut |row| RoundTrip::from_excerpt(row).map(&mut *each))
}

/// Stored bulk transfers; as [`scans`].
pub(crate) fn transfers(
    source: &StoreLocation,
    range: &Range<i64>,
    each: &mut (dyn FnMut(Transfer) + Send),
) -> Result<()> {
    rows(source, TRANSFER, range, &mut |row| Transfer::from_excerpt(row).map(&mut *each))
}

/// Rows of a class; those that `each` cannot use are counted and reported.
fn rows(
    source: &StoreLocation,
    class: &str,
    range: &Range<i64>,
    each: &mut (dyn FnMut(&Excerpt<'_>) -> Option<()> + Send),
) -> Result<()> {
    let class = ClassName { application: APPLICATION.to_owned(), class: class.to_owned() };
    let mut strange = 0_u64;
    let mut take = |row: &Excerpt<'_>| strange += u64::from(each(row).is_none());
    let damage = source.excerpts(&class, range, &mut take).with_context(|| {
        format!(
            "cannot read {source} (chronoscope net scan and net rtt fill a store; --data DIR or \
             --store URL name another one)"
        )
    })?;
    for damage in damage {
        say!("damaged: {damage}");
    }
    if strange > 0 {
        say!("{strange} rows of {class} say nothing of the kind and were left out");
    }
    Ok(())
}

//! When a service runs another version than before: changes of the attribute `service.version`.

use super::groups::GroupValue;
use super::names::{AttributeRows, Read, read, unsealed};
use super::rows::AttributeReader;
use super::values::GroupNumbers;
use chronoscope_chain::{AttributeKey, AttributePlace, AttributeSelection};
use chronoscope_model::schema::column;
use chronoscope_store::{Damage, Snapshot, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Pairs of a service and a version that are told apart; beyond, those with the fewest rows are
/// left out.
pub const SERVICE_VERSIONS_MAX: usize = 10_000;

/// The attributes that name a service and its version (OpenTelemetry's resource conventions).
const KEYS: [&str; 2] = ["service.name", "service.version"];

/// The versions that came to run in some rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceVersions {
    /// By their instant, then by service and version.
    pub changes: Vec<VersionChange>,
    /// Whether some were left out: [`SERVICE_VERSIONS_MAX`].
    pub cut: bool,
    /// Rows that were looked at.
    pub rows: u64,
    /// Whether older rows were not looked at, because enough newer ones were.
    pub newest_only: bool,
    /// Segments that could not be read.
    pub damage: Vec<Damage>,
}

/// The first row of a version of a service, where another version of it ran before. A version that
/// comes back after another is no change: only its first row counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionChange {
    /// Start of that row: UTC, nanoseconds since 1970.
    pub at_ns: i64,
    /// The service: the row's application.
    pub service: Arc<str>,
    /// The version.
    pub version: Arc<str>,
    /// The version that had come last before.
    pub before: Arc<str>,
}

/// Number of rows of a version, and the start of the first.
type Seen = (u64, i64);

/// Finds the versions that came to run in some rows.
///
/// # Errors
/// As [`attribute_names`](super::attribute_names).
pub fn service_versions(
    snapshot: &Snapshot,
    asked: &AttributeRows<'_>,
) -> Result<ServiceVersions, StoreError> {
    let key = |key: &str| AttributeKey { place: AttributePlace::Any, key: key.to_owned() };
    let selection = AttributeSelection::new(Vec::new(), KEYS.map(key).into());
    let selection = selection.unwrap_or_default(); // two keys are not too many
    let Some(reader) = AttributeReader::of(snapshot, &selection) else {
        return Ok(ServiceVersions::default());
    };
    let columns: Vec<&str> = reader.columns().into_iter().chain([column::START]).collect();
    let state = || (reader.rows(), Vec::new(), HashMap::<GroupNumbers, Seen>::new());
    let Read { states, rows, newest_only, damage } =
        read(snapshot, asked, &columns, state, |(rows, of_batch, seen), columns, wanted| {
            rows.read(columns, of_batch)?;
            let starts = columns.instants(column::START)?;
            for (row, attributes) in of_batch.iter().enumerate().filter(|(row, _)| wanted(*row)) {
                see(seen, attributes.values, (1, starts[row]));
            }
            Ok(())
        })?;
    let (mut row_reader, _, mut seen) = state();
    for record in unsealed(snapshot, asked) {
        see(&mut seen, row_reader.record(record).values, (1, record.start_ns));
    }
    for (numbers, one) in states.into_iter().flat_map(|(.., seen)| seen) {
        see(&mut seen, numbers, one);
    }
    let seen = seen.into_iter().map(|(numbers, (rows, first))| (numbers, rows, first)).collect();
    let ranked = reader.rank(seen, SERVICE_VERSIONS_MAX);
    let known = ranked.groups.into_iter().filter_map(|(values, first_ns)| match &values[..] {
        [GroupValue::Text(service), GroupValue::Text(version)] => {
            Some((service.clone(), version.clone(), first_ns))
        }
        _ => None,
    });
    let changes = changes(known);
    Ok(ServiceVersions { changes, cut: ranked.merged > 0, rows, newest_only, damage })
}

fn see(seen: &mut HashMap<GroupNumbers, Seen>, numbers: GroupNumbers, (rows, first): Seen) {
    let known = seen.entry(numbers).or_insert((0, first));
    *known = (known.0 + rows, known.1.min(first));
}

/// The changes, out of the first row of each service and version.
fn changes(known: impl Iterator<Item = (Arc<str>, Arc<str>, i64)>) -> Vec<VersionChange> {
    let mut services: BTreeMap<Arc<str>, Vec<(i64, Arc<str>)>> = BTreeMap::new();
    for (service, version, first_ns) in known {
        services.entry(service).or_default().push((first_ns, version));
    }
    let mut changes = Vec::new();
    for (service, mut versions) in services {
        versions.sort_unstable();
        changes.extend(versions.windows(2).map(|pair| VersionChange {
            at_ns: pair[1].0,
            service: service.clone(),
            version: pair[1].1.clone(),
            before: pair[0].1.clone(),
        }));
    }
    changes.sort_unstable();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_after_another_of_its_service_is_a_change() {
        let known = [("shop", "v2", 20), ("shop", "v1", 5), ("cart", "v7", 10), ("shop", "v3", 30)];
        let known = known.map(|(service, version, at)| (service.into(), version.into(), at));
        let found: Vec<(i64, String)> = changes(known.into_iter())
            .into_iter()
            .map(|change| {
                (change.at_ns, format!("{} {}→{}", change.service, change.before, change.version))
            })
            .collect();
        assert_eq!(found, [(20, "shop v1→v2".to_owned()), (30, "shop v2→v3".to_owned())]);
    }
}

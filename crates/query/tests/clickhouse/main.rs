//! A store of two ClickHouse shards gives the answers of files. A start of the servers serves what belongs
//! together: each part has a database of its own.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // helpers of tests

mod answers;
mod both;
#[path = "../cluster/mod.rs"]
mod cluster;
#[path = "../every/mod.rs"]
mod every;
mod foreign;
mod further_parents;
mod inserts;
mod native;
mod replaced;
#[path = "../../../store/tests/support/mod.rs"]
mod support;
#[path = "../world/mod.rs"]
mod world;

use cluster::Servers;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn two_shards() {
    let Some(servers) = Servers::start(2) else { return };
    answers::answers_are_those_of_files(&servers);
    answers::rows_that_come_later_are_seen(&servers);
    answers::aliases_are_those_of_files(&servers);
    every::assert_no_difference();
    answers::chains_and_classes_are_those_of_files(&servers);
    answers::excerpts_are_those_of_files(&servers);
}

#[test]
fn native_chains_of_two_shards() {
    let Some(servers) = Servers::start(2) else { return };
    native::answers_about_native_chains_are_those_of_files(&servers);
    native::durations_on_one_host_are_of_one_clock(&servers);
    every::assert_no_difference();
}

#[test]
fn chains_of_two_shards_that_are_linked_again() {
    let Some(servers) = Servers::start(2) else { return };
    foreign::late_rows_and_aliases_of_foreign_chains_are_linked(&servers);
    further_parents::further_parents_join_chains(&servers);
    every::assert_no_difference();
}

#[test]
fn rows_on_their_way_into_two_shards() {
    let Some(mut servers) = Servers::start(2) else { return };
    inserts::a_batch_is_taken_once(&servers);
    inserts::names_are_found_again(&servers);
    inserts::tables_belong_to_their_shard(&servers);
    inserts::a_shard_that_is_killed_keeps_what_was_acknowledged(&mut servers);
}

/// Tells a reader to end, also where a step fails.
pub(crate) struct End<'a>(pub(crate) &'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

//! Slow, silent and flooding clients.

use super::world::*;
use crate::engine::{Close, Input};
use std::time::Duration;

#[test]
fn a_client_that_reads_nothing_is_cut_and_counted() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "");
    let stuck = world.client(FULL, "OH7CC", "");
    world.out.room.insert(stuck, 10);
    for number in 0..100 {
        world.says(sender, &format!("SRC>DST,qAR,OH7AA:number {number}"));
        world.wait(Duration::from_millis(100));
    }
    assert_eq!(world.is_closed(stuck), None);
    assert!(world.row(stuck).queued_ns > 9_000_000_000);
    for number in 100..140 {
        world.says(sender, &format!("SRC>DST,qAR,OH7AA:number {number}"));
        world.wait(Duration::from_millis(100));
    }
    assert_eq!(world.is_closed(stuck), Some("reads too slowly"));
    let close = world.out.closed.iter().find(|(conn, ..)| *conn == stuck).unwrap();
    assert_eq!(close.1, Close::Reset);
    assert_eq!(world.server.status(world.now).stale_cuts, 1);
    assert_eq!(world.packets(reader).len(), 140);
    assert_eq!(world.worker.feed.first(), world.worker.feed.next(), "nothing is kept for it");
}

#[test]
fn what_the_kernel_holds_too_long_counts_as_well() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let deaf = world.client(FULL, "OH7BB", "");
    for number in 0..5 {
        world.says(sender, &format!("SRC>DST,qAR,OH7AA:number {number}"));
        *world.out.unacknowledged.entry(deaf).or_default() += 35;
        world.wait(Duration::from_secs(1));
        assert_eq!(world.is_closed(deaf), None, "after {number}");
    }
    // Everything but the last line is acknowledged: the clock begins anew.
    world.out.unacknowledged.insert(deaf, 1);
    world.wait(Duration::from_secs(7));
    assert_eq!(world.is_closed(deaf), None);
    world.wait(Duration::from_secs(5));
    assert_eq!(world.is_closed(deaf), Some("reads too slowly"));
}

#[test]
fn a_client_that_says_nothing_for_long_is_closed() {
    let mut world = World::new();
    let conn = world.client(FULL, "OH7BB", "");
    world.wait(Duration::from_secs(48 * 3600 - 5));
    assert_eq!(world.is_closed(conn), None);
    world.wait(Duration::from_secs(10));
    assert_eq!(world.is_closed(conn), Some("client is silent"));
}

#[test]
fn a_program_that_never_reads_is_sent_nothing() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let conn = world.open(FULL);
    world.says(conn, "user OH7BB pass -1 vers GW1000 1.6");
    world.hears(conn);
    world.says(sender, "SRC>DST,qAR,OH7AA:one");
    assert_eq!(world.packets(conn), [""; 0]);
}

#[test]
fn a_broken_program_is_repaired() {
    let mut world = World::new();
    let reader = world.client(FULL, "OH7AA", "");
    let conn = world.open(IGATE);
    let code = crate::passcode::of(b"OH7BB");
    world.says(conn, &format!("user OH7BB pass {code} vers Oww/ 1.0"));
    world.says_octets(conn, b"OH7BB>APRS,TCPIP*:>one\n\0OH7BB>APRS,TCPIP*:>two\n");
    let expected = ["OH7BB>APRS,TCPIP*,qAC,TESTING:>one", "OH7BB>APRS,TCPIP*,qAC,TESTING:>two"];
    assert_eq!(world.packets(reader), expected);
}

#[test]
fn lines_of_others_are_not_mixed_into_a_half_written_packet() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "");
    world.out.room.insert(reader, 12);
    world.says(sender, "SRC>DST,qAR,OH7AA:first");
    world.wait(Duration::from_millis(500));
    world.says(reader, "OH7BB>APRS::SERVER   :filter?");
    world.says(sender, "SRC>DST,qAR,OH7AA:second");
    world.wait(Duration::from_millis(500));
    world.out.room.remove(&reader);
    world.worker.input(world.now, Input::Writable { conn: reader }, &mut world.out);
    let lines = world.packets(reader);
    assert_eq!((lines[0].as_str(), lines.len()), ("SRC>DST,qAR,OH7AA:first", 3));
    assert!(lines[1].starts_with("SERVER>"), "{lines:?}");
    assert_eq!(lines[2], "SRC>DST,qAR,OH7AA:second");
}

#[test]
fn a_client_that_blocks_again_and_again_is_listed_once() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "");
    for number in 0..5 {
        world.says(sender, &format!("SRC>DST,qAR,OH7AA:number {number}"));
    }
    world.wait(Duration::from_millis(1));
    for _ in 0..20 {
        world.out.room.insert(reader, 1);
        world.worker.input(world.now, Input::Writable { conn: reader }, &mut world.out);
        world.says(reader, "OH7BB>APRS::SERVER   :filter?");
    }
    assert_eq!(world.worker.blocked.len(), 1);
    world.closed(reader);
    assert_eq!(world.worker.blocked.len(), 0);
}

/// An idle client is what most of thousands are.
#[test]
fn an_idle_client_is_small() {
    let size = size_of::<crate::engine::client::Client>();
    assert!(size <= 600, "{size} octets");
}

//! One program hands over to the next; a configuration to another.

use super::world::*;
use crate::engine::{ServerState, WorkerState};
use std::sync::Arc;
use std::time::Duration;

#[test]
fn clients_stay_through_a_live_upgrade() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "");
    let filtered = world.client(IGATE, "OH7CC", "filter p/S");
    let waiting = world.open(IGATE);
    world.says_octets(waiting, b"user OH7DD pass -1 ve");
    world.says(filtered, "HEARD>APRS,OH7CC,I:>on the air");
    world.says(sender, "SRC>DST,qAR,OH7AA:one");
    world.packets(reader);
    world.out.room.insert(reader, 5);
    world.says(sender, "SRC>DST,qAR,OH7AA:two");
    world.says_octets(sender, b"SRC>DST,qAR,OH7AA:thr");

    let clients = world.worker.save(world.now, &mut world.out);
    let state = world.server.save(world.now);
    let (written, room) = (std::mem::take(&mut world.out.written), world.out.room[&reader]);
    assert_eq!((&written[&reader][..], room), (&b"SRC>D"[..], 0));
    let json = serde_json::to_string(&(&clients, &state)).unwrap();
    let (clients, state): (WorkerState, ServerState) = serde_json::from_str(&json).unwrap();

    let mut next = World::new();
    next.wait(Duration::from_secs(5));
    next.server.restore(&state, next.now);
    next.worker.restore(next.now, clients, &mut next.out);
    next.says_octets(sender, b"ee\r\nSRC>DST,qAR,OH7AA:one\r\n");
    let told = next.hears(reader);
    let rest = "ST,qAR,OH7AA:two\r\nSRC>DST,qAR,OH7AA:three\r\n";
    assert_eq!(told, rest, "the rest, the next, and no duplicate");
    assert_eq!(next.packets(filtered), ["SRC>DST,qAR,OH7AA:three"]);
    next.says_octets(waiting, b"rs prog 1.0\r\n");
    assert!(next.hears(waiting).ends_with("# logresp OH7DD unverified, server TESTING\r\n"));
    next.says(sender, "XX1X>APRS,qAR,OH7AA::HEARD    :message{1");
    assert_eq!(next.packets(filtered), ["XX1X>APRS,qAR,OH7AA::HEARD    :message{1"]);
    let row = next.row(sender);
    assert_eq!((row.username.as_str(), row.traffic.packets_rx), ("OH7AA", 5));
    assert!(next.server.next_conn() > waiting);
    let status = next.server.status(next.now);
    assert_eq!((status.clients, status.started.utc_ns), (4, state.started_utc_ns));
    assert_eq!(status.listeners[IGATE].clients, 3);
}

#[test]
fn who_was_on_a_port_that_is_gone_is_closed() {
    let mut world = World::new();
    let conn = world.client(FORCED, "OH7AA", "");
    let clients = world.worker.save(world.now, &mut world.out);
    let mut config = config();
    config.listeners.truncate(FORCED);
    let mut next = World::with(config);
    next.worker.restore(next.now, clients, &mut next.out);
    assert_eq!(next.is_closed(conn), Some("port is not configured any more"));
    assert_eq!(next.server.status(next.now).clients, 0);
}

#[test]
fn a_changed_configuration_reaches_those_who_are_there() {
    let mut world = World::new();
    let sender = world.client(IGATE, "AA7AA", "");
    let forced = world.client(FORCED, "BB7BB", "");
    let core = world.uplink(0, "CORE1");
    let mut changed = config();
    changed.uplinks.remove(0);
    changed.listeners.swap(FULL, FORCED);
    Arc::make_mut(&mut changed.listeners[FULL]).filter = Some("p/XX".to_owned());
    changed.peer_groups.clear();
    world.server.reload(Arc::new(changed));
    world.worker.configure(world.now, &mut world.out);
    assert_eq!(world.is_closed(core), Some("uplink is not configured any more"));
    world.says(sender, "OH1A>APRS,qAR,AA7AA:>x");
    world.says(sender, "XX1X>APRS,qAR,AA7AA:>x");
    assert_eq!(world.packets(forced), ["XX1X>APRS,qAR,AA7AA:>x"]);
    assert!(world.out.sent.is_empty(), "no peer is left");
    let status = world.server.status(world.now);
    assert_eq!(status.listeners[FULL].clients, 1, "the port keeps its counters");
}

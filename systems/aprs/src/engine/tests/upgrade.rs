//! One program hands over to the next; a configuration to another.

use super::world::*;
use crate::config::{PortKind, Protocol};
use crate::engine::{DatagramPort, Input, ServerState, WorkerState};
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

/// Between a reload and the worker's own turn, what comes in still names the ports as they were.
#[test]
fn until_a_worker_is_configured_indices_are_those_it_knows() {
    let mut world = World::new();
    let sender = world.client(IGATE, "AA7AA", "");
    let reader = world.open(FULL);
    let code = crate::passcode::of(b"BB7BB");
    world.says(reader, &format!("user BB7BB pass {code} vers x 1 UDP 14580"));
    let mut changed = config();
    changed.listeners.remove(IGATE);
    world.server.reload(Arc::new(changed));
    let late = world.client(FORCED, "CC7CC", "");
    let body =
        format!("user TEST pass {}\r\nOH1A>APRS,TCPIP*,qAC,TEST:>x", crate::passcode::of(b"TEST"));
    let from = address("192.0.2.5:4000");
    let datagram = Input::Datagram { listener: SUBMIT, from, bytes: body.as_bytes() };
    world.worker.input(world.now, datagram, &mut world.out);
    assert_eq!(world.packets(late), ["OH1A>APRS,TCPIP*,qAU,TESTING:>x"]);
    world.worker.configure(world.now, &mut world.out);
    let status = world.server.status(world.now);
    let of = |name: &str, protocol: Protocol| {
        let is_it = |row: &&crate::status::ListenerStatus| {
            row.listener.name == name && row.listener.protocol == protocol
        };
        status.listeners.iter().find(is_it).unwrap()
    };
    assert_eq!(of("forced", Protocol::Tcp).clients, 1);
    assert_eq!(of("submit", Protocol::Udp).traffic.packets_rx, 1);
    assert_eq!(of("full", Protocol::Udp).traffic.packets_tx, 1);
    world.out.sent.clear();
    world.says(sender, "OH2A>APRS,qAR,AA7AA:>y");
    assert_eq!(world.out.sent[0].0, DatagramPort::Listener(FULL_UDP - 1), "the new index");
}

#[test]
fn clients_of_a_port_that_is_of_another_kind_now_are_closed() {
    let mut world = World::new();
    let reader = world.client(FULL, "OH7AA", "");
    let filtered = world.client(IGATE, "OH7BB", "filter p/OH");
    let mut changed = config();
    Arc::make_mut(&mut changed.listeners[FULL]).kind = PortKind::DupeFeed;
    world.server.reload(Arc::new(changed));
    world.worker.configure(world.now, &mut world.out);
    assert_eq!(world.is_closed(reader), Some("port is of another kind now"));
    assert_eq!(world.is_closed(filtered), None);
    let sender = world.client(CLIENT_ONLY, "OH7CC", "");
    world.says(sender, "OH7CC>APRS,TCPIP*:>x");
    assert_eq!(world.packets(filtered), ["OH7CC>APRS,TCPIP*,qAC,TESTING:>x"]);
}

#[test]
fn no_uplink_is_no_fault_once_none_is_configured() {
    let mut world = World::new();
    let core = world.uplink(0, "CORE1");
    world.server.uplink_is("ro", None, Some("refused".to_owned()), world.now);
    world.closed(core);
    assert_eq!(world.server.status(world.now).faults[0].name, "no_uplink");
    let core = world.uplink(0, "CORE1");
    let mut changed = config();
    changed.uplinks.clear();
    world.server.reload(Arc::new(changed));
    world.worker.configure(world.now, &mut world.out);
    assert_eq!(world.is_closed(core), Some("uplink is not configured any more"));
    world.server.uplink_attempt("ro");
    world.server.uplink_is("ro", None, Some("refused".to_owned()), world.now);
    assert!(world.server.status(world.now).faults.is_empty());
    // What was known of uplinks of these names is not what is known of new ones.
    world.server.reload(Arc::new(config()));
    let status = world.server.status(world.now);
    assert!(status.uplinks.iter().all(|row| row.attempts == 0 && row.error.is_none()));
}

#[test]
fn the_last_uplink_goes_and_its_fault_with_it() {
    let mut world = World::new();
    let core = world.uplink(0, "CORE1");
    world.closed(core);
    assert_eq!(world.server.status(world.now).faults.len(), 1);
    let mut changed = config();
    changed.uplinks.clear();
    world.server.reload(Arc::new(changed));
    assert!(world.server.status(world.now).faults.is_empty());
}

/// What had waited, here or in the kernel, goes on being as old as it is.
#[test]
fn a_live_upgrade_makes_nothing_young() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let [deaf, stuck] = ["OH7BB", "OH7CC"].map(|call| world.client(FULL, call, ""));
    world.out.room.insert(stuck, 0);
    world.out.unacknowledged.insert(deaf, 30);
    world.says(sender, "SRC>DST,qAR,OH7AA:one");
    world.wait(Duration::from_secs(7));
    let clients = world.worker.save(world.now, &mut world.out);
    let json = serde_json::to_string(&clients).unwrap();

    let mut next = World::new();
    next.wait(Duration::from_secs(3600));
    next.out.room.insert(stuck, 0);
    next.out.unacknowledged.insert(deaf, 30);
    next.worker.restore(next.now, serde_json::from_str(&json).unwrap(), &mut next.out);
    assert!(next.row(stuck).queued_ns > 6_000_000_000);
    next.wait(Duration::from_millis(500));
    assert_eq!((next.is_closed(deaf), next.is_closed(stuck)), (None, None));
    next.wait(Duration::from_secs(4));
    let late = Some("reads too slowly");
    assert_eq!((next.is_closed(deaf), next.is_closed(stuck)), (late, late));
}

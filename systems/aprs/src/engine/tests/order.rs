//! Nothing is lost, doubled or reordered, however the clients read.

use super::world::*;
use crate::engine::{ConnId, Input};
use proptest::prelude::*;
use std::time::Duration;

/// A step of the test.
#[derive(Clone, Debug)]
enum Step {
    /// A client with this index sends a packet of this kind.
    Send(usize, bool),
    /// A client may write so many octets more.
    Room(usize, usize),
    /// Time passes, milliseconds.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_usize..5, any::<bool>()).prop_map(|(from, kind)| Step::Send(from, kind)),
        3 => (0_usize..5, 0_usize..200).prop_map(|(of, octets)| Step::Room(of, octets)),
        2 => (0_u64..40).prop_map(Step::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_gets_what_it_should_once_and_in_order(steps in proptest::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        let ports = [(FULL, ""), (FULL, ""), (IGATE, "filter p/AA"), (IGATE, "filter p/AA -p/AAB"), (FULL, "")];
        let clients: Vec<ConnId> = ports
            .iter()
            .enumerate()
            .map(|(index, (port, more))| world.client(*port, &format!("N{index}CALL"), more))
            .collect();
        for conn in &clients {
            world.out.room.insert(*conn, 0);
        }
        let mut expected: Vec<String> = vec![String::new(); clients.len()];
        let mut sent = 0;
        for step in steps {
            match step {
                Step::Send(from, kind) => {
                    sent += 1;
                    let source = if kind { "AA1A" } else { "BB1B" };
                    let line = format!("{source}>APRS,qAR,N{from}CALL:>packet {sent}");
                    world.says(clients[from], &line);
                    for (to, expected) in expected.iter_mut().enumerate() {
                        let wants = ports[to].0 == FULL || kind;
                        if to != from && wants {
                            expected.push_str(&line);
                            expected.push_str("\r\n");
                        }
                    }
                }
                Step::Room(of, octets) => {
                    *world.out.room.entry(clients[of]).or_default() += octets;
                    let writable = Input::Writable { conn: clients[of] };
                    world.worker.input(world.now, writable, &mut world.out);
                }
                Step::Wait(ms) => world.wait(Duration::from_millis(ms)),
            }
        }
        world.out.room.clear();
        for conn in &clients {
            world.worker.input(world.now, Input::Writable { conn: *conn }, &mut world.out);
        }
        world.wait(Duration::from_millis(300));
        for (conn, expected) in clients.iter().zip(&expected) {
            let octets = world.out.written.remove(conn).unwrap_or_default();
            prop_assert_eq!(&String::from_utf8(octets).unwrap(), expected);
            let row = world.row(*conn);
            let lines = expected.lines().count() as u64;
            prop_assert_eq!((row.traffic.packets_tx, row.queued_bytes), (lines, 0));
        }
        prop_assert_eq!(world.worker.feed.first(), world.worker.feed.next());
    }
}

#[test]
fn packets_are_gathered_into_one_write() {
    let mut world = World::new();
    let sender = world.client(IGATE, "OH7AA", "");
    let reader = world.client(FULL, "OH7BB", "");
    let filtered = world.client(IGATE, "OH7CC", "filter p/S");
    let before = world.out.writes;
    for number in 0..50 {
        world.says(sender, &format!("SRC>DST,qAR,OH7AA:number {number}"));
        world.says(sender, &format!("XXX>DST,qAR,OH7AA:number {number}"));
    }
    world.wait(Duration::from_millis(10));
    assert_eq!(world.out.writes - before, 2);
    assert_eq!((world.packets(reader).len(), world.packets(filtered).len()), (100, 50));
}

#[test]
fn equal_inputs_make_equal_outputs() {
    let run = || {
        let mut world = World::new();
        let sender = world.client(IGATE, "OH7AA", "");
        let mut conns: Vec<ConnId> = (0..20)
            .map(|number| world.client(IGATE, &format!("N{number}CALL"), "filter p/A/B/C"))
            .collect();
        conns.push(sender);
        for number in 0..200_u32 {
            let source = ["AA1A", "BB1B", "XX1X"][number as usize % 3];
            world.says(sender, &format!("{source}>APRS,qAR,OH7AA:>packet {}", number / 2));
            world.wait(Duration::from_millis(3));
        }
        world.wait(Duration::from_secs(30));
        (world.out.written, world.out.writes, world.out.logged)
    };
    assert_eq!(run(), run());
}

/// Hundreds of clients are written to in groups, one after the other, while packets come: nobody
/// misses one, gets one twice, or waits longer than a round.
#[test]
fn in_groups_each_gets_all_in_order_and_in_time() {
    let mut world = World::new();
    let sender = world.client(IGATE, "S1CALL", "filter p/ZZ");
    let full: Vec<ConnId> =
        (0..300).map(|index| world.client(FULL, &format!("F{index}CALL"), "")).collect();
    let some: Vec<ConnId> = (0..300)
        .map(|index| world.client(IGATE, &format!("I{index}CALL"), "filter p/AA"))
        .collect();
    let (mut all, mut passed) = (Vec::new(), Vec::new());
    for number in 0..200 {
        let source = if number % 3 == 0 { "AA1A" } else { "BB1B" };
        let line = format!("{source}>APRS,qAR,S1CALL:>packet {number}");
        world.says(sender, &line);
        if number % 3 == 0 {
            passed.push(line.clone());
        }
        all.push(line);
        // Between 0 and 12 ms: some come while a round goes on, some when none does.
        world.wait(Duration::from_millis(number * 7 % 13));
    }
    // 600 clients at 90 us: no round takes longer.
    world.wait(Duration::from_millis(55));
    for (conns, expected) in [(full, all), (some, passed)] {
        for conn in conns {
            assert_eq!(world.packets(conn), expected, "{conn:?}");
        }
    }
}

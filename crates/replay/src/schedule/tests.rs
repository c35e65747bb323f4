//! Examples of order, and the promises as properties over random conversations.

use super::*;
use proptest::prelude::*;
use std::net::SocketAddr;

fn at(port: u16) -> Endpoint {
    SocketAddr::from(([127, 0, 0, 1], port)).into()
}

fn token(event: ConnectionEvent, count: u64, from: u16, to: u16) -> Token {
    Token { event, count, from: at(from), to: at(to) }
}

/// Two processes that have said hello and wait: 0 until 50 listening at 80, 1 until 30.
fn two(mode: ScheduleMode) -> Schedule {
    let mut schedule = Schedule::new(mode, 0);
    for (until_ns, waits) in [(50, Waits::OTHERS), (30, Waits::default())] {
        let who = schedule.announce(None);
        schedule.hello(who);
        assert_eq!(schedule.next(None), ScheduleStep::Run(vec![(who, vec![])]));
        schedule.quiescent(who, until_ns, waits);
    }
    schedule.token(Some(0), token(ConnectionEvent::Listen, 0, 80, 0));
    schedule
}

#[test]
fn time_moves_to_the_earliest_timeout_or_input() {
    let mut schedule = two(ScheduleMode::Serial);
    assert_eq!(schedule.next(Some(40)), ScheduleStep::Advance(30));
    assert_eq!(schedule.next(Some(20)), ScheduleStep::Advance(20));
    schedule.advance(20);
    assert_eq!(schedule.next(Some(20)), ScheduleStep::Input);
    schedule.advance(30);
    assert_eq!(
        schedule.next(Some(30)),
        ScheduleStep::Run(vec![(1, vec![])]),
        "timeouts before inputs"
    );
    schedule.quiescent(1, FOREVER, Waits::default());
    schedule.advance(50);
    assert_eq!(schedule.next(None), ScheduleStep::Run(vec![(0, vec![])]));
    schedule.quiescent(0, FOREVER, Waits::default());
    assert_eq!(schedule.next(None), ScheduleStep::Idle);
}

#[test]
fn octets_wake_their_reader_before_time_moves() {
    let mut schedule = two(ScheduleMode::Serial);
    schedule.advance(30);
    assert_eq!(schedule.next(None), ScheduleStep::Run(vec![(1, vec![])]));
    let connect = token(ConnectionEvent::Connect, 0, 1000, 80);
    let sent = token(ConnectionEvent::Sent, 5, 1000, 80);
    schedule.token(Some(1), connect);
    schedule.token(Some(1), sent);
    schedule.quiescent(1, FOREVER, Waits::OTHERS);
    assert_eq!(schedule.next(None), ScheduleStep::Run(vec![(0, vec![connect, sent])]));
    schedule.token(Some(0), token(ConnectionEvent::Accepted, 0, 80, 1000));
    schedule.token(Some(0), token(ConnectionEvent::Received, 2, 1000, 80));
    schedule.token(Some(0), token(ConnectionEvent::Sent, 7, 80, 1000));
    schedule.quiescent(0, 50, Waits::OTHERS);
    assert_eq!(
        schedule.next(None),
        ScheduleStep::Run(vec![(1, vec![token(ConnectionEvent::Sent, 7, 80, 1000)])])
    );
    schedule.token(Some(1), token(ConnectionEvent::Sent, 1, 1000, 80));
    schedule.quiescent(1, FOREVER, Waits::OTHERS);
    let left = token(ConnectionEvent::Sent, 4, 1000, 80);
    assert_eq!(
        schedule.next(None),
        ScheduleStep::Run(vec![(0, vec![left])]),
        "3 left unread and 1 new"
    );
    assert!(schedule.strangers().is_empty());
}

#[test]
fn a_dead_process_ends_its_connections_and_a_stranger_is_named() {
    let mut schedule = two(ScheduleMode::Serial);
    schedule.token(Some(1), token(ConnectionEvent::Connect, 0, 1000, 80));
    schedule.token(Some(0), token(ConnectionEvent::Accepted, 0, 80, 1000));
    schedule.token(Some(1), token(ConnectionEvent::Sent, 1, 1000, 53));
    assert_eq!(schedule.strangers().iter().collect::<Vec<_>>(), [&at(53)]);
    schedule.gone(1);
    let ScheduleStep::Run(granted) = schedule.next(None) else { panic!("the peer looks") };
    assert!(granted[0].1.contains(&token(ConnectionEvent::Closed, 0, 1000, 80)), "{granted:?}");
}

#[test]
fn an_announced_child_holds_time_and_shares_its_parents_sockets() {
    let mut schedule = two(ScheduleMode::Parallel);
    let child = schedule.announce(Some(0));
    assert_eq!(schedule.next(None), ScheduleStep::Await);
    schedule.hello(child);
    assert_eq!(schedule.next(None), ScheduleStep::Run(vec![(child, vec![])]));
    schedule.quiescent(child, FOREVER, Waits::OTHERS);
    let connect = token(ConnectionEvent::Connect, 0, 1000, 80);
    schedule.token(Some(1), connect);
    assert_eq!(
        schedule.next(None),
        ScheduleStep::Run(vec![(0, vec![connect]), (child, vec![connect])])
    );
}

/// Actions of a simulated process in one grant: octets to others, then a sleep.
type Act = (Vec<(usize, u8)>, Option<i64>);

/// A conversation of processes connected each with each; its trace of grants and times.
fn converse(
    mode: ScheduleMode,
    count: usize,
    acts: &[Act],
    inputs: &[(i64, usize)],
) -> Vec<String> {
    let mut schedule = Schedule::new(mode, 0);
    let port = |from: usize, to: usize| u16::try_from(100 + from * 10 + to).unwrap();
    for who in 0..count {
        schedule.announce(None);
        schedule.hello(who);
        let others = (0..=count).filter(|other| *other != who);
        others.for_each(|other| {
            let accepted = token(ConnectionEvent::Accepted, 0, port(who, other), port(other, who));
            schedule.token(Some(who), accepted);
        });
    }
    let (mut acts, mut inputs) = (acts.iter(), inputs.iter().peekable());
    let (mut queued, mut unread) = (vec![vec![0u64; count + 1]; count], 0);
    let mut trace = Vec::new();
    for _ in 0..10_000 {
        let due = inputs.peek().map(|(at, _)| *at);
        let step = schedule.next(due);
        trace.push(format!("{} {step:?}", schedule.now_ns()));
        match step {
            ScheduleStep::Run(granted) => {
                assert!(mode == ScheduleMode::Parallel || granted.len() == 1);
                let before = queued.clone();
                for (who, tokens) in granted {
                    for from in 0..=count {
                        let (n, from_port, to_port) =
                            (before[who][from], port(from, who), port(who, from));
                        if n > 0 {
                            let shown = token(ConnectionEvent::Sent, n, from_port, to_port);
                            assert!(tokens.contains(&shown), "{who} was not told of {n} octets");
                            let read = token(ConnectionEvent::Received, n, from_port, to_port);
                            schedule.token(Some(who), read);
                            queued[who][from] -= n;
                            unread -= n;
                        }
                    }
                    let (sends, sleep) = acts.next().cloned().unwrap_or_default();
                    for (to, n) in
                        sends.into_iter().filter(|(to, n)| *to < count && *to != who && *n > 0)
                    {
                        queued[to][who] += u64::from(n);
                        unread += u64::from(n);
                        schedule.token(
                            Some(who),
                            token(ConnectionEvent::Sent, n.into(), port(who, to), port(to, who)),
                        );
                    }
                    let until = sleep.map_or(FOREVER, |ns| schedule.now_ns() + ns);
                    schedule.quiescent(who, until, Waits::OTHERS);
                }
            }
            ScheduleStep::Input => {
                let (at, to) = inputs.next().unwrap();
                assert!(*at <= schedule.now_ns(), "delivered before its time");
                queued[*to][count] += 1;
                unread += 1;
                schedule.token(
                    None,
                    token(ConnectionEvent::Sent, 1, port(count, *to), port(*to, count)),
                );
            }
            ScheduleStep::Advance(to) => {
                assert_eq!(
                    (unread, schedule.unshown()),
                    (0, 0),
                    "octets in flight when time moves"
                );
                assert!(to > schedule.now_ns() && due.is_none_or(|due| to <= due));
                schedule.advance(to);
            }
            ScheduleStep::Idle => {
                assert_eq!((unread, due), (0, None));
                return trace;
            }
            ScheduleStep::Await => panic!("nobody runs, nobody was announced"),
        }
    }
    panic!("no end")
}

proptest! {
    #[test]
    fn nothing_is_in_flight_when_time_moves_and_order_is_fixed(
        parallel in any::<bool>(),
        count in 1usize..5,
        acts in prop::collection::vec((prop::collection::vec((0usize..5, any::<u8>()), 0..4), prop::option::of(1i64..100)), 0..60),
        inputs in prop::collection::vec((0i64..1000, 0usize..5), 0..20),
    ) {
        let mode = if parallel { ScheduleMode::Parallel } else { ScheduleMode::Serial };
        let mut inputs: Vec<_> = inputs.into_iter().map(|(at, to)| (at, to % count)).collect();
        inputs.sort_unstable();
        let first = converse(mode, count, &acts, &inputs);
        prop_assert_eq!(first, converse(mode, count, &acts, &inputs));
    }
}

//! Agent and collector as two hosts run them, and everything between them that can go wrong.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

mod certificates;
mod proxy;
mod refusals;
mod world;

use certificates::CertificateKind;
use chronoscope_statistics::Random;
use chronoscope_store::Snapshot;
use proxy::{Proxy, Way};
use std::time::Duration;
use world::{Collector, Host, Program, wait_until};

/// Numbers from a seed that is printed.
fn seeded() -> Random {
    let seed = chronoscope_clock::utc_now_ns().unsigned_abs();
    println!("seed {seed}");
    Random(seed)
}

fn pause(random: &mut Random, from_ms: u64, to_ms: u64) {
    let time = Duration::from_millis(from_ms + random.below(to_ms - from_ms));
    chronoscope_clock::sleep(time);
}

/// Chains of two rows that each of two hosts makes, about 1 ms apart.
const CHAINS: u64 = 6000;

/// Two hosts, one collector behind TLS and a token, and a network: each is killed, cut and stalled
/// again and again. In the end every row is in the store once.
#[test]
fn nothing_is_lost_or_doubled_whatever_is_killed_or_cut() {
    let mut random = seeded();
    let dir = tempfile::tempdir().unwrap();
    let collector = Collector::new(Some(certificates::make(dir.path(), CertificateKind::Good)));
    let proxy = Proxy::start();
    let hosts = [Host::new(), Host::new()];
    let files = collector.tls.as_ref().unwrap();
    let start = |host: &Host| Program::start(&mut host.trusted_agent(proxy.port, files));
    let mut agents: Vec<Program> = hosts.iter().map(start).collect();
    let (mut serve, address) = collector.serve();
    proxy.lead_to(Some(address));
    let mut measured: Vec<_> = hosts.iter().map(|host| host.measured(CHAINS, 1, 1 << 15)).collect();
    let mut did = [0; 6];
    while measured.iter_mut().any(|program| program.try_wait().unwrap().is_none()) {
        pause(&mut random, 10, 250);
        let what = random.below(6) as usize;
        did[what] += 1;
        let way = if random.below(2) == 0 { Way::There } else { Way::Back };
        match what {
            0 | 1 => {
                let which = random.below(2) as usize;
                agents[which].kill();
                pause(&mut random, 0, 100);
                agents[which] = start(&hosts[which]);
            }
            2 => {
                serve.kill();
                pause(&mut random, 0, 200);
                let (again, address) = collector.serve();
                serve = again;
                proxy.lead_to(Some(address));
            }
            3 => proxy.cut(),
            4 => proxy.half_close(way),
            _ => proxy.stall(way, Duration::from_millis(random.below(300))),
        }
    }
    wait_until("all is delivered", || hosts.iter().all(Host::is_done));
    for agent in agents {
        let last = agent.stop();
        assert_eq!((&last["lost_rows"], &last["delivery"]["dropped_rows"]), (&0.into(), &0.into()));
    }
    let last = serve.stop();
    assert_eq!((&last["lost_rows"], &last["damaged_rows"]), (&0.into(), &0.into()), "{last:#}");
    println!(
        "agents killed {}, serve {}, cut, half closed, stalled {:?}",
        did[0] + did[1],
        did[2],
        &did[3..]
    );
    collector.assert_all_once(2 * 2 * CHAINS as usize);
}

#[test]
fn what_a_full_spool_dropped_is_counted_at_the_collector() {
    let (host, collector) = (Host::new(), Collector::new(None));
    let proxy = Proxy::start();
    let url = format!("http://127.0.0.1:{}", proxy.port);
    // No collector for now: 12,000 rows of 120 bytes do not fit.
    let mut agent = Program::start(host.agent(&url).args(["--spool-size", "600000"]));
    for round in 1..=6 {
        assert!(host.measured(1000, 0, 1 << 15).wait().unwrap().success());
        wait_until("the rows are read", || host.status()["rows"].as_u64() == Some(round * 2000));
    }
    wait_until("rows are dropped", || {
        host.status()["delivery"]["dropped_rows"].as_u64() > Some(1000)
    });
    let error = host.status()["delivery"]["error"].as_str().unwrap_or_default().to_owned();
    assert!(error.starts_with("the connection broke: "), "{error}");
    // What was dropped stays counted when the agent dies.
    agent.kill();
    let agent = Program::start(host.agent(&url).args(["--spool-size", "600000"]));
    let (serve, address) = collector.serve();
    proxy.lead_to(Some(address));
    wait_until("all is delivered", || host.is_done());
    let dropped = agent.stop()["delivery"]["dropped_rows"].as_u64().unwrap();
    wait_until("the collector knows that it is gone", || {
        collector.status()["agents"][0]["connected"] == false
    });
    let last = serve.stop();
    assert_eq!(last["lost_rows"].as_u64(), Some(dropped), "{last:#}");
    let [heard] = &last["agents"].as_array().unwrap()[..] else { panic!("{last:#}") };
    assert_eq!(
        (heard["connected"].as_bool(), heard["next_row"].as_u64()),
        (Some(false), Some(12_000))
    );
    collector.assert_all_once(12_000 - usize::try_from(dropped).unwrap());
}

#[test]
fn a_collector_that_comes_late_gets_everything() {
    let (host, collector) = (Host::new(), Collector::new(None));
    let proxy = Proxy::start();
    let agent = Program::start(&mut host.agent(&format!("http://127.0.0.1:{}", proxy.port)));
    assert!(host.measured(20_000, 0, 1 << 15).wait().unwrap().success());
    wait_until("the ring is read", || {
        host.status()["processes"].as_array().is_some_and(Vec::is_empty)
    });
    // Stopped without a collector, it keeps what it has.
    let last = agent.stop();
    assert_eq!(last["delivery"]["waiting_rows"], 40_000);
    let (serve, address) = collector.serve();
    let last = Program::start(&mut host.agent(&format!("http://{address}")));
    wait_until("all is delivered", || host.is_done());
    assert_eq!(last.stop()["delivery"]["waiting_rows"], 0);
    assert_eq!(serve.stop()["durable_rows"], 40_000);
    collector.assert_all_once(40_000);
}

/// As supervisors ask: of an agent that waits for its collector, of one that has it, and of none.
#[test]
fn a_probe_tells_an_agent_that_delivers_from_one_that_is_alive() {
    let (host, collector) = (Host::new(), Collector::new(None));
    let proxy = Proxy::start();
    assert_eq!(host.probe("alive").0, Some(1));
    let agent = Program::start(&mut host.agent(&format!("http://127.0.0.1:{}", proxy.port)));
    wait_until("it reads rings", || host.probe("alive").0 == Some(0));
    let (code, reason) = host.probe("delivering");
    assert!(code == Some(1) && reason.contains("not connected to http://127.0.0.1"), "{reason}");
    let (serve, address) = collector.serve();
    proxy.lead_to(Some(address));
    wait_until("it delivers", || host.probe("delivering").0 == Some(0));
    agent.stop();
    let (code, reason) = host.probe("alive");
    assert!(code == Some(1) && reason.contains("it has ended"), "{reason}");
    serve.stop();
}

/// A stop delivers what is in rings and spool.
#[test]
fn a_stopped_agent_delivers_first() {
    let (host, collector) = (Host::new(), Collector::new(None));
    let (serve, address) = collector.serve();
    let agent = Program::start(&mut host.agent(&format!("http://{address}")));
    wait_until("it is connected", || host.status()["delivery"]["connected"] == true);
    // No more than a busy machine delivers in the seconds that a stop may take.
    assert!(host.measured(1000, 0, 1 << 15).wait().unwrap().success());
    let last = agent.stop();
    assert_eq!(last["delivery"]["waiting_rows"], 0, "{last:#}");
    // The collector's log says who came and who went.
    wait_until("it is said to be gone", || serve.said().contains(" info agent_disconnected "));
    let said = serve.said();
    let connected = said.lines().find(|line| line.contains(" info agent_connected ")).unwrap();
    assert!(connected.contains(" peer=127.0.0.1:") && connected.contains(" host="), "{said}");
    assert_eq!(serve.stop()["durable_rows"], 2000);
    collector.assert_all_once(2000);
}

/// The host's clock is 3 s ahead: the collector knows by how much, within the bound that the
/// exchange allows.
#[test]
fn a_wrong_clock_is_known_with_its_bound() {
    const AHEAD_NS: i64 = 3_000_000_000;
    let (host, collector) = (Host::new(), Collector::new(None));
    let (serve, address) = collector.serve();
    let mut command = host.agent(&format!("http://{address}"));
    let agent = Program::start(command.env("CHRONOSCOPE_CLOCK_OFFSET_NS", AHEAD_NS.to_string()));
    wait_until("a clock is told", || collector.status()["agents"][0]["clock_offset_ns"].is_i64());
    assert!(host.measured(100, 0, 1 << 15).wait().unwrap().success());
    drop(agent.stop());
    serve.stop();
    let snapshot = Snapshot::open(&collector.data()).unwrap();
    let hosts: Vec<_> = snapshot.clocks().hosts().collect();
    let [(_, track)] = &hosts[..] else { panic!("{} hosts", hosts.len()) };
    for knot in track.knots() {
        let off = knot.estimate.offset_ns.abs_diff(AHEAD_NS);
        assert!(off <= knot.estimate.error_ns, "{knot:?}");
        // Loopback within one machine: a bound of a second would say nothing.
        assert!(knot.estimate.error_ns < 1_000_000_000, "{knot:?}");
    }
    assert!(!track.knots().is_empty());
}

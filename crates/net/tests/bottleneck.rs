//! The verdict on networks whose bottleneck is known: a slow link, a slow gateway, a slow host.
#![allow(clippy::unwrap_used)]

use chronoscope_lab::{Element, Joint, Lab, LabError, Plan};
use chronoscope_net::answer::request::Bulk;
use chronoscope_net::answer::{AnswerClient, Options as Answering, Server, Token};
use chronoscope_net::path::topology::Topology;
use chronoscope_net::survey::{self, Options};
use chronoscope_net::verdict::{self, PathLocation, Verdict};
use std::net::Ipv4Addr;
use std::time::Duration;

const HERE: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(10, 2, 0, 1);
const SECRET: &str = "a-secret-of-some-length";

/// The slow element, if any, and the gateway as the topology describes it.
#[derive(Default)]
struct Slow {
    link: Element,
    gateway: Element,
    gateway_type: &'static str,
    work: Duration,
}

/// Two segments and a gateway; a server on the far side. `None`: not allowed here.
fn judge(slow: &Slow) -> Option<Verdict> {
    let plan = Plan {
        segments: vec![Element::default(), slow.link],
        joints: vec![Joint { element: slow.gateway, joins: vec![0, 1], address: None }],
        hosts: vec![(HERE, 0), (THERE, 1)],
    };
    let lab = match Lab::new(plan) {
        Ok(lab) => lab,
        Err(error @ LabError::Forbidden { .. }) => {
            eprintln!("SKIPPED: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let token = Some(Token::new(SECRET));
    let answering =
        Answering { token: token.clone(), work: slow.work, ..Answering::new((THERE, 0).into()) };
    let server = lab.hosts()[1].run(|| Server::start(answering)).unwrap().unwrap();
    let caller = AnswerClient { server: server.address(), token };
    let bulk = Some(Bulk { octets: 400_000, at_most_ms: 1500 });
    let timeout = Duration::from_secs(2);
    let options = Options { count: 10, timeout, bulk: [bulk; 2], ..Options::default() };
    let found = lab.hosts()[0].run(|| survey::survey(&caller, &options, &mut |_| ())).unwrap();
    let survey = found.unwrap();
    assert_eq!(survey.troubles, Vec::<String>::new());
    let topology = format!(
        "[types]\npc = {{ kind = \"host\" }}\nwire = {{ kind = \"link\" }}\n\
         router = {{ kind = \"gateway\", {} }}\n\
         [segments]\nnear = {{ type = \"wire\" }}\nfar = {{ type = \"wire\" }}\n\
         [joints]\ngw = {{ type = \"router\", joins = [\"near\", \"far\"] }}\n\
         [hosts]\nhere = {{ type = \"pc\", segment = \"near\" }}\n\
         there = {{ type = \"pc\", segment = \"far\" }}\n",
        slow.gateway_type
    );
    let topology = Topology::read(&topology, None).unwrap();
    let elements = verdict::elements(&topology, "here", "there", survey.octets).unwrap();
    let seen = survey.seen(["here", "there"].map(str::to_owned));
    Some(verdict::verdict(&seen, Some(&elements)))
}

/// A real element has not much room: with much, the end of a transfer waits for it.
fn slow_element(delay_ms: u64) -> Element {
    Element {
        delay: Duration::from_millis(delay_ms),
        bits_per_s: Some(4_000_000),
        octets_max: 64_000,
        ..Element::default()
    }
}

fn assert_all(verdict: &Verdict, place: PathLocation, name: &str) {
    let requests = (verdict.requests.place, verdict.requests.name.as_str());
    assert_eq!(requests, (place, name), "{verdict:#?}");
    for bulk in verdict.bulk.iter().flatten() {
        assert_eq!((bulk.place, bulk.name.as_str()), (place, name), "{verdict:#?}");
    }
}

#[test]
fn a_slow_link_is_named() {
    let gateway_type = "delay_us = 100, rate_bits = 1e9";
    let link = slow_element(20);
    let Some(found) = judge(&Slow { link, gateway_type, ..Slow::default() }) else { return };
    assert_all(&found, PathLocation::Link, "near, far");
}

#[test]
fn a_slow_gateway_is_named() {
    // There and back.
    let gateway_type = "delay_us = 40_000, rate_bits = 4e6";
    let gateway = slow_element(20);
    let Some(found) = judge(&Slow { gateway, gateway_type, ..Slow::default() }) else { return };
    assert_all(&found, PathLocation::Gateway, "gw");
}

#[test]
fn a_slow_host_is_named() {
    let gateway_type = "delay_us = 100, rate_bits = 1e9";
    // So much for each reply, and for each piece of bulk data.
    let work = Duration::from_millis(30);
    let Some(found) = judge(&Slow { work, gateway_type, ..Slow::default() }) else { return };
    assert_all(&found, PathLocation::Host, "there");
}

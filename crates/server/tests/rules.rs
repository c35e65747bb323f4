//! Rules over stored rows and in a running server.

#![allow(clippy::unwrap_used, clippy::cast_possible_wrap, reason = "helpers of tests")]

mod world;

use chronoscope_clock as clock;
use chronoscope_query::StoreLocation;
use chronoscope_rules::{Change, Rule, RuleFile};
use chronoscope_server::{RuleHistory, rule_histories};
use chronoscope_store::MINUTE_NS;
use serde_json::Value;
use std::ops::Range;
use std::time::Duration;
use world::{BEGIN_NS, Chain, MINUTE_CHAINS as CHAINS, World, fill_with, live, minutes as chains};

const SUBJECT: &str = "[[limit]]\nroot = 'A::in'\nleaf = 'B::out'\n";

fn rule(more: &str) -> Rule {
    RuleFile::parse(&format!("{SUBJECT}{more}")).unwrap().rules.remove(0)
}

/// Changes of an alarm, with their minutes.
type Changes = Vec<(i64, Change)>;

/// Transitions that a rule would have made on these chains.
fn history(chains: impl Iterator<Item = Chain>, rule: &Rule) -> (RuleHistory, Changes) {
    let mut all = histories(chains, rule);
    let (_, found, changes) = all.remove(0);
    assert!(all.is_empty(), "a rule without groups");
    (found, changes)
}

/// The same of each group of a rule, with the groups' names.
fn histories(
    chains: impl Iterator<Item = Chain>,
    rule: &Rule,
) -> Vec<(String, RuleHistory, Changes)> {
    let dir = tempfile::tempdir().unwrap();
    let now_ns = BEGIN_NS + 300 * MINUTE_NS;
    fill_with(dir.path(), chains, now_ns).seal_all(now_ns).unwrap();
    let store = StoreLocation::Files(dir.path().to_owned());
    let found = store.with(|view| rule_histories(view, rule, i64::MIN..i64::MAX)).unwrap();
    let minute = |at_ns: i64| (at_ns - BEGIN_NS).div_euclid(MINUTE_NS);
    let one = |(rule, history): (Rule, RuleHistory)| {
        let changes = history.transitions.iter().map(|it| (minute(it.at_ns), it.change)).collect();
        (rule.name, history, changes)
    };
    found.histories.into_iter().map(one).collect()
}

/// Chains of which every third is on the host `slow`, and takes 50 ms there in these minutes.
fn slow_on_one_host(minutes: Range<i64>, slow: Range<i64>) -> impl Iterator<Item = Chain> {
    chains(BEGIN_NS, minutes, slow).map(|chain| {
        let on_slow = chain.id % 3 == 0;
        Chain { on_slow, wait_ns: if on_slow { chain.wait_ns } else { 100_000 }, ..chain }
    })
}

#[test]
fn each_group_has_an_alarm_of_its_own() {
    let rule = rule("name = 'slow'\nlimit = '10ms'\nshare = 0.9\nby = 'host.name'");
    let of = |host: &str| format!("slow[host.name={host}]");
    let found = histories(slow_on_one_host(0..20, 5..10), &rule);
    let [(quick, held, none), (slow, _, changes)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((quick, held.held, &none[..]), (&of("quick"), 20, &[][..]));
    // A third of all chains is far below the share: of all together the rule would hold.
    assert_eq!(
        (slow, &changes[..]),
        (&of("slow"), &[(6, Change::Fired), (11, Change::Cleared)][..])
    );
}

#[test]
fn a_filter_leaves_the_others_out() {
    let broken = |host: &str| {
        let rule = rule(&format!("limit = '10ms'\nshare = 0.9\nwhere = ['host.name={host}']"));
        history(slow_on_one_host(0..20, 5..10), &rule).1
    };
    assert_eq!(broken("slow"), [(6, Change::Fired), (11, Change::Cleared)]);
    assert_eq!(broken("quick"), []);
    assert_eq!(broken("other"), [], "nothing ended: it is not judged");
}

#[test]
fn a_share_fires_and_clears_with_hysteresis() {
    let rule = rule("limit = '10ms'\nfires_after = 2\nclears_after = 3");
    let (found, changes) = history(chains(BEGIN_NS, 0..20, 5..10), &rule);
    // Minutes 5 and 6 are broken: it fires at the end of minute 6. Minutes 10, 11 and 12 hold.
    assert_eq!(changes, [(7, Change::Fired), (13, Change::Cleared)]);
    assert_eq!((found.held, found.broken, found.not_judged, found.is_firing), (15, 5, 0, false));
}

#[test]
fn a_quantile_is_taken_over_its_window() {
    // One slow minute of ten is a tenth of the window: the 0.9 quantile is still quick.
    let over = |quantile: &str| {
        let rule = rule(&format!("limit = '10ms'\nwindow = '10min'\nquantile = {quantile}"));
        history(chains(BEGIN_NS, 0..30, 15..16), &rule).1
    };
    assert_eq!(over("0.9"), []);
    assert_eq!(over("0.95"), [(16, Change::Fired), (26, Change::Cleared)]);
}

#[test]
fn absence_is_told_within_seconds() {
    let rule = rule("absence = '10s'");
    let chains = chains(BEGIN_NS, 0..3, 0..0).chain(chains(BEGIN_NS, 4..6, 0..0));
    let (found, changes) = history(chains, &rule);
    assert_eq!(changes, [(3, Change::Fired), (4, Change::Cleared)]);
    // The last chain before the gap ends at 2:59.4: ten seconds without any end at 3:10.
    assert_eq!(found.transitions[0].at_ns, BEGIN_NS + 3 * MINUTE_NS + 10_000_000_000);
    assert_eq!(found.transitions[1].at_ns, BEGIN_NS + 4 * MINUTE_NS + 2_000_000_000);
}

#[test]
fn a_burn_rate_fires_early_and_clears_when_the_burning_ends() {
    let rule = rule(
        "limit = '10ms'\nobjective = 0.997\nperiod = '30d'\n\
         burn = [{ long = '1h', short = '5min', factor = 14.4 }]",
    );
    let (_, changes) = history(chains(BEGIN_NS, 0..150, 100..110), &rule);
    // 4.32 % of an hour are 2.6 of its minutes; of five minutes a quarter of one.
    assert_eq!(changes, [(103, Change::Fired), (115, Change::Cleared)]);
}

/// This store has no collector's notes on what its sources delivered: an earlier leaf of a root
/// whose leaf is late may be missing.
#[test]
fn arrivals_are_not_judged_where_a_leaf_may_still_come() {
    let text = format!("{SUBJECT}limit = '10ms'\narrivals = 'each-root'");
    let rules = RuleFile::parse(&text).unwrap().rules;
    assert_eq!(rules.len(), 2);
    let (found, changes) = history(chains(BEGIN_NS, 0..6, 2..4), &rules[1]);
    assert_eq!((changes, found.held, found.not_judged), (Vec::new(), 4, 2));
    let reason = found.not_judged_reason.unwrap();
    assert!(reason.starts_with("100 may be above the limit"), "{reason}");
}

/// The rules as the API has them, when all have been judged.
fn standings(world: &World) -> Vec<Value> {
    for _ in 0..100 {
        let rules = world.answer("rules")["rules"].as_array().unwrap().clone();
        if rules.iter().all(|rule| !rule["judged_ns"].is_null()) {
            return rules;
        }
        clock::sleep(Duration::from_millis(100));
    }
    panic!("not judged within 10 s: {}", world.answer("rules"));
}

#[test]
fn a_server_knows_the_past_of_its_windows_when_it_starts() {
    let file = format!(
        "{SUBJECT}name = 'half hour'\nlimit = '10ms'\nshare = 0.01\nwindow = '30min'\n\
         {SUBJECT}name = 'never'\nlimit = '10s'\nwindow = '30min'"
    );
    let world = live(true, &file);
    let rules = standings(&world);
    assert_eq!((&rules[0]["state"], &rules[1]["state"]), (&"firing".into(), &"quiet".into()));
    let window = &rules[0]["windows"][0];
    assert!(window["count"].as_u64().unwrap() >= 28 * CHAINS, "{window}");
    assert!(window["above"].as_u64().unwrap() >= 2 * CHAINS, "{window}");
    let now = world.answer("now");
    let alarms = now["alarms"].as_array().unwrap().iter().filter(|it| it["kind"] == "rule");
    let sentences: Vec<_> = alarms.map(|alarm| alarm["sentence"].as_str().unwrap()).collect();
    let [sentence] = sentences[..] else { panic!("one is expected: {sentences:?}") };
    assert!(sentence.starts_with("half hour: A::in → B::out: longer than 10 ms: "), "{sentence}");
    let (_, metrics) = world.outside("/metrics");
    let firing = "chronoscope_alarm_firing{rule=\"half hour\",severity=\"page\"} 1";
    assert!(metrics.contains(firing), "{metrics}");
}

#[test]
fn a_server_judges_each_group() {
    let file = format!(
        "{SUBJECT}name = 'slow'\nlimit = '10ms'\nwindow = '30min'\nby = 'host.name'\n\
         {SUBJECT}name = 'nobody'\nlimit = '10ms'\nby = 'tenant'"
    );
    let world = live(true, &file);
    let of_quick = || {
        let rules = world.answer("rules")["rules"].as_array().unwrap().clone();
        rules.into_iter().find(|rule| rule["name"] == "slow[host.name=quick]")
    };
    let found = (0..100).find_map(|_| {
        clock::sleep(Duration::from_millis(100));
        of_quick()
    });
    let quick = found.expect("judged within 10 s");
    assert_eq!(
        (&quick["state"], &quick["what"]),
        (&"firing".into(), &"A::in → B::out with host.name=quick".into())
    );
    let rules = world.answer("rules");
    let nobody = rules["rules"].as_array().unwrap().last().unwrap();
    assert_eq!((&nobody["name"], &nobody["state"]), (&"nobody".into(), &"quiet".into()));
    assert!(nobody["not_judged"].as_str().unwrap().contains("nothing"), "{nobody}");
}

#[test]
fn without_a_collector_nothing_is_absent() {
    let world = live(false, &format!("{SUBJECT}absence = '10s'"));
    let rules = standings(&world);
    assert_eq!(rules[0]["state"], "quiet");
    let reason = rules[0]["not_judged"].as_str().unwrap();
    assert!(reason.starts_with("no collector has reported"), "{reason}");
}

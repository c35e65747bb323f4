//! What happens to orders, and what is asked of it.

use crate::ask::{Asked, Asker, Dice, Question, VerdictState};
use crate::judge::{check_counts, wrong};
use crate::shop::{EXPORT_DELAY, EXPORT_TIMEOUT, Shop};
use crate::world::wait_until;
use chronoscope_clock::sleep;
use std::time::Duration;

// Where spans of others are lost or do not come, orders are placed for 5 s afterwards: what a source
// of spans ended shortly before its latest span is not taken to be here.

/// Spans are taken to be here 15 s after they ended.
const SPANS_WITHIN: Duration = Duration::from_secs(17);

/// Questions about cuts of time, once a scenario is over.
const QUESTIONS_AFTER: usize = 20;
/// Wrong verdicts that are printed.
const SHOWN_MAX: usize = 5;

/// Whether everything is known once a scenario is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Afterwards {
    /// Every verdict is decided.
    Known,
    /// Spans are lost, or links are not followed.
    NotAllKnown,
}

/// Asks about cuts of time until now, and compares every answer with what happened.
fn check(asker: &Asker<'_>, dice: &mut Dice, mut asked: Vec<Asked>, afterwards: Afterwards) {
    sleep(SPANS_WITHIN);
    let truth = asker.truth();
    for _ in 0..QUESTIONS_AFTER {
        let question = dice.question(&truth);
        let nothing = truth.placed(&question.range_ns).is_empty();
        let answer = asker.ask(question);
        assert_eq!(answer.state == VerdictState::Nothing, nothing, "{answer:#?}");
        let open = answer.state == VerdictState::Undetermined && afterwards == Afterwards::Known;
        assert!(!open, "still undetermined: {answer:#?}");
        asked.push(answer);
    }
    let count = |state| asked.iter().filter(|asked| asked.state == state).count();
    let states = [
        VerdictState::Holds,
        VerdictState::DoesNotHold,
        VerdictState::Undetermined,
        VerdictState::Nothing,
    ];
    println!("{states:?}: {:?} of {} answers", states.map(count), asked.len());
    let wrong: Vec<String> = asked.iter().filter_map(|asked| wrong(&truth, asked)).collect();
    let first = wrong.iter().take(SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} wrong verdicts, among them:\n{first}", wrong.len());
}

/// 300 orders are lost in a queue that somebody purges; the 200 after them are shipped.
#[test]
fn a_purged_queue_is_no_requirement_that_holds() {
    let Some(shop) = Shop::open("purge") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "purge.parcels receive", leaves: 1 };
    let mut publisher = shop.publisher(&server);
    let _consumer = shop.consumer(&server, "consumer", "parcels");
    let mut worker = None;
    let asked = asker.watch(&mut dice, || {
        publisher.tell("declare purge.orders");
        publisher.tell("publish purge.orders 1 300 5");
        assert_eq!(publisher.tell("purge purge.orders"), "300");
        worker = Some(shop.worker(&server, "orders", "parcels", 0));
        publisher.tell("publish purge.orders 301 200 25");
        wait_until("200 are shipped", || asker.truth().shipped() == 200);
    });
    asker.wait_for(VerdictState::DoesNotHold);
    wait_until("all spans are there", || asker.ask(Question::ALL).count("arrived") == 200);
    sleep(SPANS_WITHIN);
    check_counts(&asker.truth(), &asker.ask(Question::ALL));
    check(&asker, &mut dice, asked, Afterwards::Known);
}

/// A batch of ten is one span with ten links. Only the first is followed: of the others nobody
/// knows whether they arrived, so that they are neither in time nor missing.
#[test]
fn messages_of_a_batch_are_unknown_and_not_missing() {
    let Some(shop) = Shop::open("batch") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "ship orders", leaves: 1 };
    let mut publisher = shop.publisher(&server);
    let _batch = shop.batch(&server, "orders");
    let asked = asker.watch(&mut dice, || {
        publisher.tell("publish batch.orders 1 300 10");
        wait_until("all are shipped", || asker.truth().shipped() == 300);
    });
    wait_until("all spans are there", || {
        let asked = asker.ask(Question::ALL);
        (asked.count("roots"), asked.count("unfollowed_links")) == (300, 270)
    });
    let last = asker.ask(Question::ALL);
    assert_eq!((last.state, last.count("roots")), (VerdictState::Undetermined, 300), "{last:#?}");
    assert_eq!((last.count("arrived"), last.count("unknown")), (30, 270), "{last:#?}");
    check(&asker, &mut dice, asked, Afterwards::NotAllKnown);
}

/// The orders of one tenant are worked on for longer than the limit; those of the others are not.
#[test]
fn a_slow_tenant_is_late_and_the_others_are_not() {
    let Some(shop) = Shop::open("slow") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "slow.parcels receive", leaves: 1 };
    let mut publisher = shop.publisher(&server);
    let _consumer = shop.consumer(&server, "consumer", "parcels");
    let _worker = shop.worker(&server, "orders", "parcels", 0);
    let _slow = shop.worker(&server, "tenant", "parcels", 1500);
    let asked = asker.watch(&mut dice, || {
        publisher.tell("publish slow.orders 1 80 10");
        for first in [81, 92, 103] {
            publisher.tell(&format!("publish slow.tenant {first} 1 10"));
            publisher.tell(&format!("publish slow.orders {} 10 10", first + 1));
        }
        publisher.tell("publish slow.orders 114 80 10");
        wait_until("all are shipped", || asker.truth().shipped() == 193);
    });
    asker.wait_for(VerdictState::DoesNotHold);
    wait_until("all spans are there", || asker.ask(Question::ALL).count("arrived") == 193);
    check_counts(&asker.truth(), &asker.ask(Question::ALL));
    // Before the slow tenant's first order the requirement holds, if the machine was as quick.
    let (truth, until_ns) = (asker.truth(), asker.truth().0[&81].placed_ns.start);
    let range_ns = i64::MIN..until_ns;
    let before = asker.ask(Question { range_ns, ..Question::ALL });
    assert_eq!(wrong(&truth, &before), None);
    assert_ne!(before.state, VerdictState::Undetermined, "all of these arrived: {before:#?}");
    check(&asker, &mut dice, asked, Afterwards::Known);
}

/// A consumer is killed with what it had not exported yet, and another takes its place: its
/// orders are shipped although their spans are lost.
#[test]
fn a_killed_consumer_is_no_broken_requirement() {
    let Some(shop) = Shop::open("consumer") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "consumer.parcels receive", leaves: 1 };
    let mut publisher = shop.publisher(&server);
    let _worker = shop.worker(&server, "orders", "parcels", 0);
    let victim = shop.consumer(&server, "victim", "parcels");
    let _other = shop.consumer(&server, "other", "parcels");
    let mut replacement = None;
    let asked = asker.watch(&mut dice, || {
        publisher.begin("publish consumer.orders 1 300 10");
        wait_until("some are shipped", || asker.truth().shipped() > 100);
        victim.kill();
        replacement = Some(shop.consumer(&server, "replacement", "parcels"));
        publisher.reply();
        wait_until("all are shipped", || asker.truth().shipped() == 300);
        // The other consumer has delivered everything up to later than the lost ones.
        publisher.tell("publish consumer.orders 301 30 170");
        wait_until("all are shipped", || asker.truth().shipped() == 330);
    });
    check(&asker, &mut dice, asked, Afterwards::NotAllKnown);
}

/// A second consumer is started, whose first spans come seconds after what they tell of: nobody can
/// know of it until then, and the orders that it ships are shipped nevertheless.
#[test]
fn a_consumer_that_nobody_knows_yet_is_no_broken_requirement() {
    let Some(shop) = Shop::open("second") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "second.parcels receive", leaves: 1 };
    let mut publisher = shop.publisher(&server);
    let _worker = shop.worker(&server, "orders", "parcels", 0);
    let _first = shop.consumer(&server, "first", "parcels");
    let mut second = None;
    let asked = asker.watch(&mut dice, || {
        publisher.tell("publish second.orders 1 100 10");
        second = Some(shop.consumer_with(&server, ("second", "parcels"), (EXPORT_DELAY, "5000")));
        publisher.tell("publish second.orders 101 150 20");
        wait_until("all are shipped", || asker.truth().shipped() == 250);
        wait_until("all spans are there", || asker.ask(Question::ALL).count("arrived") == 250);
    });
    check_counts(&asker.truth(), &asker.ask(Question::ALL));
    check(&asker, &mut dice, asked, Afterwards::Known);
}

/// A worker is killed with what it had not exported yet: of some orders the chain has a hole
/// between the root and the shipment, which is known.
#[test]
fn a_killed_worker_is_no_broken_requirement() {
    let Some(shop) = Shop::open("worker") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "worker.parcels receive", leaves: 1 };
    let mut publisher = shop.publisher(&server);
    let _consumer = shop.consumer(&server, "consumer", "parcels");
    let victim = shop.worker(&server, "orders", "parcels", 0);
    let _other = shop.worker(&server, "orders", "parcels", 0);
    let asked = asker.watch(&mut dice, || {
        publisher.begin("publish worker.orders 1 300 10");
        wait_until("some are shipped", || asker.truth().shipped() > 100);
        victim.kill();
        publisher.reply();
        wait_until("all are shipped", || asker.truth().shipped() == 300);
        publisher.tell("publish worker.orders 301 30 170");
        wait_until("all are shipped", || asker.truth().shipped() == 330);
    });
    check(&asker, &mut dice, asked, Afterwards::NotAllKnown);
}

/// Two displays show every order. One is cut off from the exchange for a while: half an arrival is
/// none.
#[test]
fn what_one_of_two_displays_misses_did_not_arrive() {
    let Some(shop) = Shop::open("display") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "display.news receive", leaves: 2 };
    let mut publisher = shop.publisher(&server);
    publisher.tell("exchange display.news");
    let _one = shop.consumer(&server, "one", "one");
    let _other = shop.consumer(&server, "other", "other");
    publisher.tell("bind display.one display.news");
    publisher.tell("bind display.other display.news");
    let asked = asker.watch(&mut dice, || {
        publisher.tell("announce display.news 1 100 10");
        publisher.tell("unbind display.other display.news");
        publisher.tell("announce display.news 101 20 10");
        publisher.tell("bind display.other display.news");
        publisher.tell("announce display.news 121 180 30");
        wait_until("all others are shown", || asker.truth().shipped() == 280);
    });
    asker.wait_for(VerdictState::DoesNotHold);
    wait_until("all spans are there", || asker.ask(Question::ALL).count("arrived") == 280);
    sleep(SPANS_WITHIN);
    check_counts(&asker.truth(), &asker.ask(Question::ALL));
    check(&asker, &mut dice, asked, Afterwards::Known);
}

/// The collector is killed and started again while orders are placed, three of which get lost:
/// RabbitMQ drops what no queue is bound for.
#[test]
fn a_killed_collector_hides_no_lost_order() {
    let Some(shop) = Shop::open("collector") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "collector.parcels receive", leaves: 1 };
    let mut publisher = shop.publisher(&server);
    let _consumer = shop.consumer(&server, "consumer", "parcels");
    let _worker = shop.worker(&server, "orders", "parcels", 0);
    let port = server.port();
    let mut again = None;
    let asked = asker.watch(&mut dice, || {
        publisher.tell("publish collector.orders 1 100 10");
        drop(server); // killed
        publisher.tell("publish collector.orders 101 20 10");
        publisher.tell("publish collector.typo 121 3 10");
        publisher.tell("publish collector.orders 124 77 10");
        sleep(Duration::from_millis(500));
        again = Some(shop.world.serve(port));
        publisher.tell("publish collector.orders 201 100 50");
        wait_until("all others are shipped", || asker.truth().shipped() == 297);
    });
    wait_until("all spans are there", || asker.ask(Question::ALL).count("arrived") == 297);
    // Spans that ended while it was away may have been dropped, for all that anybody knows.
    check(&asker, &mut dice, asked, Afterwards::NotAllKnown);
}

/// The collector is away for longer than the consumer's exporter tries: spans are dropped, nobody
/// says so, and the orders that they tell of are shipped nevertheless.
#[test]
fn spans_that_an_exporter_dropped_are_no_broken_requirement() {
    let Some(shop) = Shop::open("dropped") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "dropped.parcels receive", leaves: 1 };
    let mut publisher = shop.publisher(&server);
    let _worker = shop.worker(&server, "orders", "parcels", 0);
    let timeout = (EXPORT_TIMEOUT, "1");
    let _consumer = shop.consumer_with(&server, ("consumer", "parcels"), timeout);
    let port = server.port();
    let mut again = None;
    let asked = asker.watch(&mut dice, || {
        publisher.tell("publish dropped.orders 1 100 10");
        drop(server); // killed
        publisher.tell("publish dropped.orders 101 100 30");
        again = Some(shop.world.serve(port));
        publisher.tell("publish dropped.orders 201 100 30");
        wait_until("all are shipped", || asker.truth().shipped() == 300);
    });
    wait_until("all roots are there", || asker.ask(Question::ALL).count("roots") == 300);
    check(&asker, &mut dice, asked, Afterwards::NotAllKnown);
}

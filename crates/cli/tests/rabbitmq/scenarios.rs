//! What happens to orders, and what is asked of it.

use crate::ask::{ALL, Asked, Asker, Dice, State};
use crate::judge::{check_counts, wrong};
use crate::shop::Shop;
use crate::world::wait_until;
use chronoscope_clock::sleep;
use std::time::Duration;

/// Questions about cuts of time, once a scenario is over.
const QUESTIONS_AFTER: usize = 20;
/// Wrong verdicts that are printed.
const SHOWN_MAX: usize = 5;

/// Asks about cuts of time until now, and compares every answer with what happened.
fn check(asker: &Asker<'_>, dice: &mut Dice, mut asked: Vec<Asked>) {
    for _ in 0..QUESTIONS_AFTER {
        asked.push(asker.ask(dice.cut(&asker.shop.truth())));
    }
    let truth = asker.shop.truth();
    let count = |state| asked.iter().filter(|asked| asked.state == state).count();
    let states = [State::Holds, State::DoesNotHold, State::Undetermined, State::Nothing];
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
    let asker = Asker { shop: &shop, leaf: "purge.parcels receive" };
    let mut publisher = shop.publisher(&server);
    let _consumer = shop.consumer(&server, "consumer", "parcels");
    let mut worker = None;
    let asked = asker.watch(&mut dice, || {
        publisher.tell("declare purge.orders");
        publisher.tell("publish purge.orders 1 300 5");
        assert_eq!(publisher.tell("purge purge.orders"), "300");
        worker = Some(shop.worker(&server, "orders", "parcels", 0));
        publisher.tell("publish purge.orders 301 200 10");
        wait_until("200 are shipped", || shop.truth().shipped() == 200);
    });
    let last = asker.wait_for(State::DoesNotHold);
    check_counts(&shop.truth(), &last);
    check(&asker, &mut dice, asked);
}

/// A batch of ten is one span with ten links. Only the first is followed: of the others nobody
/// knows whether they arrived, so that they are neither in time nor missing.
#[test]
fn messages_of_a_batch_are_unknown_and_not_missing() {
    let Some(shop) = Shop::open("batch") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "ship orders" };
    let mut publisher = shop.publisher(&server);
    let _batch = shop.batch(&server, "orders");
    let asked = asker.watch(&mut dice, || {
        publisher.tell("publish batch.orders 1 300 10");
        wait_until("all are shipped", || shop.truth().shipped() == 300);
    });
    wait_until("all spans are there", || asker.ask(ALL).count("unfollowed_links") == 270);
    let last = asker.ask(ALL);
    assert_eq!((last.state, last.count("roots")), (State::Undetermined, 300), "{last:#?}");
    assert_eq!((last.count("arrived"), last.count("unknown")), (30, 270), "{last:#?}");
    check(&asker, &mut dice, asked);
}

/// The orders of one tenant are worked on for longer than the limit; those of the others are not.
#[test]
fn a_slow_tenant_is_late_and_the_others_are_not() {
    let Some(shop) = Shop::open("slow") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "slow.parcels receive" };
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
        wait_until("all are shipped", || shop.truth().shipped() == 193);
    });
    asker.wait_for(State::DoesNotHold);
    wait_until("all spans are there", || asker.ask(ALL).count("arrived") == 193);
    check_counts(&shop.truth(), &asker.ask(ALL));
    // Before the slow tenant's first order the requirement holds, if the machine was as quick.
    let (truth, until_ns) = (shop.truth(), shop.truth().0[&81].placed_ns.start);
    let before = asker.ask(ALL.start..until_ns);
    assert_eq!(wrong(&truth, &before), None);
    assert_ne!(before.state, State::Undetermined, "all of these arrived: {before:#?}");
    check(&asker, &mut dice, asked);
}

/// A consumer is killed with what it had not exported yet, and another takes its place: its
/// orders are shipped although their spans are lost.
#[test]
fn a_killed_consumer_is_no_broken_requirement() {
    let Some(shop) = Shop::open("consumer") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "consumer.parcels receive" };
    let mut publisher = shop.publisher(&server);
    let _worker = shop.worker(&server, "orders", "parcels", 0);
    let victim = shop.consumer(&server, "victim", "parcels");
    let _other = shop.consumer(&server, "other", "parcels");
    let mut replacement = None;
    let asked = asker.watch(&mut dice, || {
        publisher.begin("publish consumer.orders 1 300 10");
        wait_until("some are shipped", || shop.truth().shipped() > 100);
        victim.kill();
        replacement = Some(shop.consumer(&server, "replacement", "parcels"));
        publisher.reply();
        wait_until("all are shipped", || shop.truth().shipped() == 300);
        // The other consumer has delivered everything up to later than the lost ones.
        publisher.tell("publish consumer.orders 301 30 100");
        wait_until("all are shipped", || shop.truth().shipped() == 330);
    });
    check(&asker, &mut dice, asked);
}

/// A worker is killed with what it had not exported yet: of some orders the chain has a hole
/// between the root and the shipment, which is known.
#[test]
fn a_killed_worker_is_no_broken_requirement() {
    let Some(shop) = Shop::open("worker") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "worker.parcels receive" };
    let mut publisher = shop.publisher(&server);
    let _consumer = shop.consumer(&server, "consumer", "parcels");
    let victim = shop.worker(&server, "orders", "parcels", 0);
    let _other = shop.worker(&server, "orders", "parcels", 0);
    let asked = asker.watch(&mut dice, || {
        publisher.begin("publish worker.orders 1 300 10");
        wait_until("some are shipped", || shop.truth().shipped() > 100);
        victim.kill();
        publisher.reply();
        wait_until("all are shipped", || shop.truth().shipped() == 300);
        publisher.tell("publish worker.orders 301 30 100");
        wait_until("all are shipped", || shop.truth().shipped() == 330);
    });
    check(&asker, &mut dice, asked);
}

/// The collector is killed and started again while orders are placed, three of which get lost:
/// RabbitMQ drops what no queue is bound for.
#[test]
fn a_killed_collector_hides_no_lost_order() {
    let Some(shop) = Shop::open("collector") else { return };
    let (server, mut dice) = (shop.world.serve(0), Dice::new());
    let asker = Asker { shop: &shop, leaf: "collector.parcels receive" };
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
        publisher.tell("publish collector.orders 201 100 10");
        wait_until("all others are shipped", || shop.truth().shipped() == 297);
    });
    asker.wait_for(State::DoesNotHold);
    wait_until("all spans are there", || asker.ask(ALL).count("arrived") == 297);
    check_counts(&shop.truth(), &asker.ask(ALL));
    check(&asker, &mut dice, asked);
}

//! `docs/walk-through-kafka.md`: Java, Kafka, batches and PostgreSQL, until the durations over links
//! are those of Kafka's own time stamps. What they are compared by is on the page.

use crate::reader::{Reader, addresses, has_programs, tool};
use crate::service::Service;

#[test]
fn batches_from_kafka_are_followed_until_their_durations_agree() {
    let Some(jars) = tool("kafka", &[]) else { return };
    if !has_programs(&["java", "javac", "python3"]) {
        return;
    }
    let Some(postgres) = Service::start("postgres") else { return };
    let [collector, kafka, controller] = addresses();
    let mut reader = Reader::begin(
        "walk-through-kafka.md",
        &[
            ("COLLECTOR", &collector),
            ("KAFKA", &kafka),
            ("KAFKA_CONTROLLER", &controller),
            ("PGPORT", &postgres.port),
            ("PGUSER", "postgres"),
        ],
    );
    reader.link("jars", jars);
    reader.follow_until("Stop everything");
    // The page's script counts with the database; the database counts with the shop.
    let orders = reader.ask("wc -l <shop.txt");
    assert_eq!(reader.ask("psql -qtA -c 'SELECT count(*) FROM parcels'"), orders);
    let batches = reader.ask("psql -qtA -c 'SELECT count(DISTINCT batch) FROM parcels'");
    assert!(batches.trim().parse::<u32>().unwrap() < 250, "no batches: {batches}");
    reader.follow_to_the_end();
}

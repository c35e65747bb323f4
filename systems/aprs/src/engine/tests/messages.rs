//! Messages: to SERVER, to a login, to stations that a client hears.

use super::world::*;

const FILTER: &str = "filter r/60.4752/25.0947/1";

#[test]
fn a_message_to_the_server_changes_the_filter() {
    let mut world = World::new();
    let client = world.client(IGATE, "N5CAL-2", "");
    world.says(client, "N5CAL-2>APRS::SERVER   :filter p/OZ/ZZ{ax");
    let lines = world.packets(client);
    assert_eq!(lines[0], "SERVER>APSC01,TCPIP*,qAZ,TESTING::N5CAL-2  :ackax");
    let reply = "SERVER>APSC01,TCPIP*,qAZ,TESTING::N5CAL-2  :filter p/OZ/ZZ active{";
    assert!(lines[1].starts_with(reply), "{}", lines[1]);
    world.says(client, "N5CAL-2>APRS::SERVER   :hello");
    assert!(world.packets(client)[0].contains(":Unknown command{"));
    world.says(client, "N5CAL-2>APRS::SERVER   :ack0002");
    assert_eq!(world.packets(client), [""; 0]);
    assert_eq!(world.row(client).filter, "p/OZ/ZZ");
    world.says(client, "N5CAL-2>APRS::SERVER   :filter?");
    let lines = world.packets(client);
    assert!(lines[0].starts_with(reply), "{lines:?}");
}

#[test]
fn messages_to_the_server_go_nowhere_else() {
    let mut world = World::new();
    let reader = world.client(FULL, "OH7BB", "");
    let client = world.client(IGATE, "N5CAL-2", "");
    world.says(client, "N5CAL-2>APRS::SERVER   :filter?");
    world.says(client, "OTHER>APRS,qAR,N5CAL-2::SERVER   :filter p/OZ{1");
    assert_eq!(world.packets(reader), [""; 0]);
    assert_eq!(world.packets(client).len(), 1);
}

#[test]
fn a_query_to_one_station_reaches_it_like_a_message() {
    let mut world = World::new();
    let sender = world.client(FULL, "OH7AA", "");
    let client = world.client(IGATE, "OH7BB-5", "");
    let queries = world.client(IGATE, "OH7CC", "filter t/q");
    world.says(sender, "OH7AA>APRS,TCPIP*::OH7BB-5  :?APRSD");
    world.says(sender, "OH7AA>APRS,TCPIP*::OH7BB-5  :hello");
    world.says(sender, "OH7AA>APRS,TCPIP*:?APRS?");
    let query = "OH7AA>APRS,TCPIP*,qAC,TESTING::OH7BB-5  :?APRSD";
    assert_eq!(world.packets(client)[0], query);
    assert_eq!(world.packets(queries), [query]);
}

/// Every callsign is another one, as a flood of forged ones would be.
#[test]
fn what_was_heard_long_ago_does_not_stay_in_the_index() {
    let mut world = World::new();
    let client = world.client(IGATE, "OH7AA", "");
    for number in 0..60_000 {
        world.says(client, &format!("S{number}>DST,qAR,OH7AA:x"));
    }
    let known = world.worker.interest.len();
    // A client is known to have heard 8192 at most.
    assert!(known <= 2 * 8193 + 4096 + 1, "{known}");
    let reader = world.client(IGATE, "OH7BB", "");
    world.says(reader, "OH7BB>APRS,TCPIP*::S59999   :still heard");
    assert_eq!(world.packets(client).len(), 1);
}

#[test]
fn a_message_to_a_login_reaches_it_on_a_filtered_port() {
    let mut world = World::new();
    let sender = world.client(FULL, "OH7AA", "");
    let client = world.client(IGATE, "OH7BB-5", "");
    let other = world.client(IGATE, "OH7CC", "");
    world.says(sender, "OH7AA>APRS,TCPIP*::OH7BB-5  :hello{1");
    assert_eq!(world.packets(client), ["OH7AA>APRS,TCPIP*,qAC,TESTING::OH7BB-5  :hello{1"]);
    assert_eq!(world.packets(other), [""; 0]);
}

/// aprsc's test of messaging, step by step.
#[test]
fn messages_go_where_the_addressee_was_heard() {
    let mut world = World::new();
    let tx = world.client(IGATE, "N0GATE", FILTER);
    let rx = world.client(IGATE, "N1GATE", FILTER);
    let message = "M1SRC>APRS,OH2RDG*,WIDE,N0GATE,I::M1DST    :message";
    world.says(tx, message);
    world.says(tx, "M1SRC>APRS,OH2RDG*,WIDE,N0GATE,I:!6428.51N/02545.98E#");
    assert_eq!(world.packets(rx), [""; 0], "nobody heard M1DST");

    world.says(rx, "M1DST>APRS,OH2RDG*,WIDE,N1GATE,I:!6028.51N/02505.68E# heard");
    world.packets(tx);
    world.says(tx, "M1SRC>APRS,OH2RDG*,WIDE,N0GATE,I::M1DST    :message{1");
    assert_eq!(world.packets(rx), ["M1SRC>APRS,OH2RDG*,WIDE,qAR,N0GATE::M1DST    :message{1"]);
    world.says(tx, "M1SRC>APRS,OH2RDG*,WIDE,N0GATE,I::M1DST-5  :other SSID{a");
    assert_eq!(world.packets(rx), [""; 0]);

    world.says(tx, "M1SRC>APRS,OH2RDG*,WIDE,N0GATE,I:!5528.51N/00505.68E# courtesy");
    let courtesy = "M1SRC>APRS,OH2RDG*,WIDE,qAR,N0GATE:!5528.51N/00505.68E# courtesy";
    assert_eq!(world.packets(rx), [courtesy]);
    world.says(tx, "M1SRC>APRS,OH2RDG*,WIDE,N0GATE,I:!5628.51N/00505.68E# second");
    assert_eq!(world.packets(rx), [""; 0], "once");

    let internet = "M1SRC>APRS,TCPIP*,qAC,M1SRC:!5528.51N/00505.68E# by TCPIP";
    world.says(rx, internet);
    assert_eq!(world.packets(tx), [internet], "tx heard M1SRC on the air");
}

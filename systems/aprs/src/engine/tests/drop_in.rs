//! What a client notices when aprsc's place is taken: the behaviours that the protocol's pages
//! (www.aprs-is.net), aprsc's documentation and its maintainer's answers describe.

use super::world::*;
use std::time::Duration;

const SENDER: &str = "N5CAL-1";

/// A verified client of a port with filters, and a full feed to send into.
fn with_filter(filter: &str) -> (World, crate::engine::ConnId, crate::engine::ConnId) {
    let mut world = World::new();
    let sender = world.client(FULL, SENDER, "");
    let reader = world.client(IGATE, "N5CAL-2", &format!("filter {filter}"));
    (world, sender, reader)
}

/// "m/ looks up the position from the client struct": a client without a passcode reports where it
/// is, and its packets go nowhere (<https://github.com/hessu/aprsc/issues/26>).
#[test]
fn the_filter_m_is_for_clients_without_passcode_too() {
    let mut world = World::new();
    let sender = world.client(FULL, SENDER, "");
    let full = world.client(FULL, "N5CAL-3", "");
    let reader = world.open(IGATE);
    world.says(reader, "user N0PASS pass -1 vers test 1.0 filter m/20");
    world.hears(reader);
    world.says(sender, "NE4R>APRS,qAR,N5CAL-1:!6028.51N/02505.68E# before");
    assert_eq!(world.packets(reader), [""; 0], "where it is is not known");
    world.packets(full);

    world.says(reader, "N0PASS>APRS:!6029.51N/02505.68E-");
    assert_eq!(world.packets(full), [""; 0], "it goes nowhere");
    let near = "NE4R>APRS,qAR,N5CAL-1:!6028.51N/02505.68E# near";
    world.says(sender, near);
    world.says(sender, "FA4R>APRS,qAR,N5CAL-1:!6128.51N/02505.68E# far");
    assert_eq!(world.packets(reader), [near]);
    let row = world.row(reader).traffic;
    assert_eq!((row.dropped, row.drops[crate::packet::DropReason::Unverified.index()]), (1, 1));

    // It stays known when the filter is another one.
    world.says(reader, "#filter m/30");
    world.hears(reader);
    let again = "NE4R>APRS,qAR,N5CAL-1:!6028.51N/02505.68E# again";
    world.says(sender, again);
    assert_eq!(world.packets(reader), [again]);
}

#[test]
fn a_client_without_passcode_may_ask_the_server_by_message() {
    let mut world = World::new();
    let reader = world.open(IGATE);
    world.says(reader, "user N0PASS pass -1 vers test 1.0");
    world.hears(reader);
    world.says(reader, "N0PASS>APRS::SERVER   :filter p/OZ{ax");
    let answer = world.packets(reader);
    assert_eq!(answer[0], "SERVER>APSC01,TCPIP*,qAZ,TESTING::N0PASS   :ackax");
    assert!(answer[1].contains("filter p/OZ active"), "{answer:?}");
    // Not for others, and no fault of a packet is hidden by that its sender is not verified.
    world.says(reader, "OTHER>APRS::SERVER   :filter p/OH{ay");
    world.says(reader, "N0PASS>APRS,WIDE1-:>x");
    world.says(reader, "OTHER>APRS:>x");
    let why = world.server.why(b"N0PASS", 9);
    let mut reasons = why.as_client.by_reason;
    reasons.sort_unstable();
    let one = |name| (name, 1);
    assert_eq!(
        reasons,
        [one("disallow_msg_dst"), one("disallow_unverified"), one("inv_path_call")]
    );
}

/// One connection may serve several SSIDs of its callsign: messages for them go to it, though they
/// are on the Internet and were not heard by radio.
#[test]
fn messages_for_other_ssids_of_a_login_that_it_sent_by_tcpip() {
    let (mut world, sender, reader) = with_filter("b/NOBODY");
    world.says(reader, "N5CAL-7>APRS,TCPIP*,qAC,N5CAL-2:>mine");
    world.says(reader, "M1DST>APRS,TCPIP*,qAC,N5CAL-2:>somebody else's");
    let message = "M1SRC>APRS,qAR,N5CAL-1::N5CAL-7  :hello{1";
    world.says(sender, message);
    world.says(sender, "M1SRC>APRS,qAR,N5CAL-1::M1DST    :hello{2");
    world.says(sender, "M1SRC>APRS,qAR,N5CAL-1::N5CAL-8  :hello{3");
    assert_eq!(world.packets(reader), [message]);
}

/// "Note: the weather type filter also passes positions packets for positionless weather packets."
#[test]
fn the_filter_for_weather_passes_weather_and_positions_alone() {
    let (mut world, sender, reader) = with_filter("t/w");
    let say = |world: &mut World, payload: &str| {
        world.says(sender, &format!("W1XXX>APRS,qAR,N5CAL-1:{payload}"));
        world.packets(reader).len()
    };
    assert_eq!(say(&mut world, "!6028.51N/02505.68E#"), 0, "no weather station yet");
    assert_eq!(say(&mut world, "_10090556c220s004g005t077"), 1);
    assert_eq!(say(&mut world, "!6028.51N/02505.68E# its position"), 1);
    for payload in [">status", "T#931,113,000,000,000,000,00000000", ":DST      :message{1"] {
        assert_eq!(say(&mut world, payload), 0, "{payload}");
    }
}

#[test]
fn weather_may_have_any_table_and_overlay() {
    let (mut world, sender, reader) = with_filter("t/w");
    for (number, table) in ["/", "\\", "W", "7", "A"].iter().enumerate() {
        for symbol in ["_", "@"] {
            let packet = format!("SRC{number}>APRS,qAR,N5CAL-1:!6028.51N{table}02505.68E{symbol}");
            world.says(sender, &packet);
            assert_eq!(world.packets(reader), [packet]);
        }
    }
}

#[test]
fn a_query_to_a_station_is_a_message_as_well() {
    for filter in ["t/m", "t/q", "g/IGCALL", "t/*"] {
        let (mut world, sender, reader) = with_filter(filter);
        let query = "SRC>APRS,qAR,N5CAL-1::IGCALL   :?APRSD";
        world.says(sender, query);
        assert_eq!(world.packets(reader), [query], "{filter}");
    }
    let (mut world, sender, reader) = with_filter("t/q -t/m");
    world.says(sender, "SRC>APRS,qAR,N5CAL-1::IGCALL   :?APRSD");
    assert_eq!(world.packets(reader), [""; 0]);
}

#[test]
fn who_sends_a_megabyte_without_an_end_of_line_is_cut() {
    let mut world = World::new();
    let sender = world.client(FULL, SENDER, "");
    let long = vec![b'x'; 32 << 10];
    for _ in 0..4 {
        world.says_octets(sender, &long);
        assert_eq!(world.is_closed(sender), None);
    }
    world.says_octets(sender, &long);
    assert_eq!(world.is_closed(sender), Some("sends a line without an end"));
}

/// At the level `info` an operator reads who came, as whom, and with what result it went.
#[test]
fn the_log_says_who_came_and_what_it_did() {
    let mut world = World::new();
    let conn = world.client(IGATE, SENDER, "filter p/OH");
    world.says(conn, "N5CAL-1>APRS,TCPIP*:>hello");
    world.says(conn, "no packet at all");
    world.wait(Duration::from_secs(3));
    world.closed(conn);
    let lines: Vec<&str> = world.out.logged.iter().map(String::as_str).collect();
    let of = |what: &str| *lines.iter().find(|line| line.contains(what)).unwrap_or(&"");
    assert!(of("connected to").ends_with(": connected to \"igate\""), "{lines:?}");
    let login = of("logged in");
    assert!(login.contains(" N5CAL-1: logged in to \"igate\", verified, test 1.0, filter p/OH"));
    let closed = of("closed");
    for part in
        ["N5CAL-1: closed: eof; \"igate\" after 3 s, received 2 packets", "1 dropped", ", test 1.0"]
    {
        assert!(closed.contains(part), "{closed}");
    }
}

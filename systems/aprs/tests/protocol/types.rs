//! The filter `t`: what a packet is.

use crate::common::{Client, Sends, Server, drops, passes_as_is};

const POSITION: &str = "!6028.51N/02505.68E# x";
const OBJECT: &str = ";OBJ1     *090902z6010.78N/02451.11E-x";
const ITEM: &str = ")OBJ1!4903.50N/07201.75WA";
const MESSAGE: &str = ":DSTC     :normal message{ac";
/// To one station. Queries to everybody go nowhere.
const QUERY: &str = ":IGCALL   :?APRSD";
const STATUS: &str = ">status";
const TELEMETRY: &str = "T#931,113,000,000,000,000,00000000";
const USER_DEFINED: &str = "{Q1qwerty";
const WEATHER: &str = "@100857z5241.73N/00611.14E_086/002g008t064r000p000P000h63b10102L810.DsIP-VP";
const CAPABILITIES: &str = "<IGATE,MSG_CNT=43,LOC_CNT=14";

/// Every payload of `passed` comes, none of `dropped` does.
fn check(filter: &str, passed: &[&str], dropped: &[&str]) {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::filtered(server.port("client"), "N5CAL-2", filter);
    let mut number = 0;
    for dropped in dropped {
        for passed in passed {
            // The source keeps equal payloads apart.
            number += 1;
            let packet =
                |kind: &str, payload: &str| format!("{kind}{number}>APRS,qAR,N5CAL-1:{payload}");
            tx.send(packet("DR", dropped));
            passes_as_is(&mut tx, &mut rx, packet("PA", passed));
        }
    }
}

#[test]
fn half_of_the_types() {
    let dropped = [STATUS, TELEMETRY, USER_DEFINED, WEATHER];
    check("t/poimq -t/nw", &[POSITION, OBJECT, ITEM, MESSAGE, QUERY], &dropped);
}

#[test]
fn the_other_half() {
    let passed = [STATUS, TELEMETRY, USER_DEFINED, WEATHER];
    check("t/stunw", &passed, &[POSITION, OBJECT, ITEM, MESSAGE, QUERY]);
}

#[test]
fn each_alone() {
    let each = [
        ("p", POSITION),
        ("o", OBJECT),
        ("i", ITEM),
        ("m", MESSAGE),
        ("q", QUERY),
        ("s", STATUS),
        ("t", TELEMETRY),
        ("u", USER_DEFINED),
        ("w", WEATHER),
    ];
    for (letter, payload) in each {
        check(&format!("t/{letter}"), &[payload], &[CAPABILITIES]);
    }
    let all: Vec<&str> = each.iter().map(|(_, payload)| *payload).collect();
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::filtered(server.port("client"), "N5CAL-2", "t/*");
    for (number, payload) in all.iter().chain([&CAPABILITIES]).enumerate() {
        let packet = format!("SRC{number}>APRS,qAR,N5CAL-1:{payload}");
        passes_as_is(&mut tx, &mut rx, packet);
    }
}

/// A type within a distance of a station.
#[test]
fn within_a_distance_of_a_station() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut full = Client::login(server.port("full"), "N5CAL-3");
    let centre = "C3NTR>APRS,qAR,N5CAL-1:!6028.51N/02505.68E#";
    passes_as_is(&mut tx, &mut full, centre);
    let mut rx = Client::filtered(server.port("client"), "N5CAL-2", "t/p/C3NTR/50");
    let near = "NE4R>APRS,qAR,N5CAL-1:!6030.51N/02505.68E#";
    drops(&mut tx, &mut rx, near.replace("6030", "6230"), near);
    drops(&mut tx, &mut rx, "C3NTR>APRS,qAR,N5CAL-1:>not a position", near);
}

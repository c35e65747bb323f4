//! Packets of somebody else inside of packets.

use crate::common::{Client, Server, drops, passes_as_is};

#[test]
fn the_inner_packet_matches_filters_too() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let filter = "r/60.228/24.8495/5 p/OG p/OI p/K b/BB7LZB";
    let mut rx = Client::filtered(server.port("client"), "N5CAL-2", filter);
    for packet in [
        "UU0AA>TEST,qAR,IGATE:}OG7LZB>DST,NET,GATE*:>inner prefix",
        "UU0AA>TEST,qAR,IGATE:}BB7LZB>DST,NET,GATE*:>inner buddy",
        "OI0AA>TEST,qAR,IGATE:}ZZ7LZB>DST,NET,GATE*:>outer prefix",
        "UU1AA>TEST,qAR,IGATE:}OF7LZB>DST,NET,GATE:!6013.69NR02450.97E&",
        "UU1AA>TEST,qAR,IGATE:}OF7LZB>DST,NET,GATE:}OF7LZC>DST,NET2,GATE2:!6013.69NR02450.97E&",
        "UU1AA>TEST,qAR,IGATE:}OF7LZB>DST,NET,GATE:}OF7LZC>DST,NET2,GATE2:}OF7LZD>DST,NET2,GATE2:\
         }OF7LZE>DST,NET2,GATE2:!6013.69NR02450.97E&",
    ] {
        passes_as_is(&mut tx, &mut rx, packet);
    }
}

#[test]
fn an_inner_header_needs_two_hops_at_least() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::filtered(server.port("client"), "N5CAL-2", "p/K");
    // Two are the network and the gateway; digipeaters may be before them.
    passes_as_is(
        &mut tx,
        &mut rx,
        "KG4LAA>APWW08,TCPIP*,qAS,n3wax:}KB3ONM>APK102,KV3B-1,WIDE1,WIDE2,KV3B-1,WIDE1,KG4LAA*\
         ::N3HEV-9  :ack26",
    );
    for packet in [
        "KG4LAA>APWW08,TCPIP*,qAS,n3wax:}KB3ONM>APK102,KV3B-1::N3HEV-9  :ack26",
        "KG4LAA>APWW08,TCPIP*,qAS,n3wax:}KB3ONM>APK102::N3HEV-9  :ack26",
    ] {
        drops(&mut tx, &mut rx, packet, "K2SRC>APRS,qAR,N5CAL-1:>dummy");
    }
    // Without a header in it, it is only a payload that begins with a brace.
    passes_as_is(&mut tx, &mut rx, "K3SRC>APWW08,TCPIP*,qAR,IGA:}blah blah");
}

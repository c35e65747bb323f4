//! Programs that are known to be broken get repairs.

use crate::common::{Client, Sends, Server, drops, passcode, passes};

#[test]
fn blanks_and_nuls_around_the_source_are_taken_away() {
    let server = Server::basic();
    let mut tx = Client::connect(server.port("igate"));
    tx.send(format!("user N5CAL-1 pass {} vers HR-IXPWINDi-123 1.0", passcode("N5CAL")));
    tx.logresp();
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    let line = "SRC>DST,qAR,N5CAL-1:>blanks";
    passes(&mut tx, &mut rx, format!("   {line}"), line);
    let line = "SRC>DST,qAR,N5CAL-1:>nul";
    passes(&mut tx, &mut rx, format!("\0{line}"), line);
    passes(&mut tx, &mut rx, "SRC  >DST,qAR,N5CAL-1:>end", "SRC>DST,qAR,N5CAL-1:>end");
}

#[test]
fn others_do_not_get_them() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N5CAL-1");
    let mut rx = Client::login(server.port("full"), "N5CAL-2");
    drops(&mut tx, &mut rx, "  SRC>DST,qAR,N5CAL-1:>blanks", "SRC>DST:dummy");
}

//! Thousands of packets: all of them, once, in their order.

use crate::common::{Client, Sends, Server, text};

/// In one piece, of 32 kB.
#[test]
fn many_packets_in_one_piece() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N0GAT");
    let mut rx = Client::login(server.port("full"), "N1GAT");
    let filler = "blaa ".repeat(10);
    let lines: Vec<String> = (10..400)
        .map(|number| format!("M{number}>APRS,qAR,N0GAT:!6028.51N/02505.68E#{filler}END"))
        .collect();
    tx.write(lines.join("\r\n") + "\r\n");
    for line in lines {
        assert_eq!(text(&rx.packet()), line);
    }
}

/// Several senders, several receivers of every kind, while the senders' packets wait for nobody.
#[test]
fn many_packets_to_many_clients() {
    const COUNT: usize = 5000;
    let server = Server::basic();
    let full: Vec<Client> =
        (0..5).map(|at| Client::login(server.port("full"), &format!("FULL-{at}"))).collect();
    let filtered: Vec<Client> = (0..5)
        .map(|at| Client::filtered(server.port("igate"), &format!("FILT-{at}"), "p/SA/SB"))
        .collect();
    let senders: Vec<_> = ["SA", "SB", "SC"]
        .map(|source| {
            let mut tx = Client::login(server.port("igate"), &format!("{source}TX"));
            std::thread::spawn(move || {
                for number in 0..COUNT {
                    tx.send(format!("{source}{}>APRS,qAR,{source}TX:>{number}", number % 90));
                }
                tx
            })
        })
        .into();
    let receive = |mut rx: Client, sources: &'static [&'static str]| {
        std::thread::spawn(move || {
            let mut next = vec![0; sources.len()];
            for _ in 0..COUNT * sources.len() {
                let line = text(&rx.packet());
                let at = sources.iter().position(|source| line.starts_with(source)).unwrap();
                let source = sources[at];
                let expected =
                    format!("{source}{}>APRS,qAR,{source}TX:>{}", next[at] % 90, next[at]);
                assert_eq!(line, expected);
                next[at] += 1;
            }
            rx
        })
    };
    let mut receivers: Vec<_> =
        full.into_iter().map(|rx| receive(rx, &["SA", "SB", "SC"])).collect();
    receivers.extend(filtered.into_iter().map(|rx| receive(rx, &["SA", "SB"])));
    let _senders: Vec<Client> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
    for receiver in receivers {
        receiver.join().unwrap();
    }
}

/// A client that comes late gets what comes after it, and whole lines only.
#[test]
fn a_client_that_comes_late() {
    let server = Server::basic();
    let mut tx = Client::login(server.port("igate"), "N0GAT");
    let mut first = Client::login(server.port("full"), "N1GAT");
    for number in 0..100 {
        tx.send(format!("SRC>APRS,qAR,N0GAT:>early {number}"));
    }
    for _ in 0..100 {
        first.packet();
    }
    let mut late = Client::login(server.port("full"), "N2GAT");
    tx.send("SRC>APRS,qAR,N0GAT:>late");
    assert_eq!(text(&late.packet()), "SRC>APRS,qAR,N0GAT:>late");
}

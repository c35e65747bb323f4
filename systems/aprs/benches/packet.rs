//! Benchmark of parsing, classifying and rebuilding a packet for sending.
//!
//! `cargo bench -p chronoscope-aprs --bench packet`. CPU time of the thread; the mix is that of
//! APRS-IS: positions as text, compressed and of trackers, objects, weather, telemetry, messages,
//! status, a third-party packet.

use chronoscope_aprs::packet::parse;
use chronoscope_clock as clock;
use std::hint::black_box;

const ROUNDS: u32 = 20_000;

const LINES: [&[u8]; 12] = [
    b"OH2RDP-1>BEACON-15,OH2RDG*,WIDE,qAR,OH7AA-1:!6028.51N/02505.68E#PHG7220/RELAY,WIDE",
    b"OH7FDN>APZMDR,OH7AA-1*,WIDE2-1,qAR,OH7AA:!6253.52N/02739.47E>036/010/A=000465",
    b"OH2KKU-15>APRS,TCPIP*,qAC,FOURTH:!I0-X;T_Wv&{-Aigate testing",
    b"SV4IKL-2>APU25N,WIDE2-2,qAR,SV6EXB-1:@011444z/:JF!T/W-_e!bg000t054r000p010P010h65b10073",
    b"N3HF-9>S7PU3R,WIDE1-1,WIDE2-2,qAR,N3HF-10:`h7Oq+F>/`\"3{}_",
    b"OH7LZB-2>TQ4W2V,WIDE2-1,qAo,OH7LZB:`c51!f?>/]\"3x}=",
    b"OH2KKU-1>APRS,TCPIP*,qAC,FIRST:;SRAL HQ  *100927zS0%E/Th4_a  AKaupinmaenpolku9",
    b"FW0727>APRS,TCPIP*,qAC,CWOP-2:@234517z4903.50N/07201.75W_220/004g005t077r000p000P000",
    b"N0QBF-11>APRS,WIDE2-1,qAR,N0QBF:T#005,199,000,255,073,123,01101001",
    b"N3HEV-9>APWW08,TCPIP*,qAC,T2TEXAS::KB3ONM   :Are you there?{26",
    b"KH2Z>APRS,TCPIP*,qAC,T2TEXAS:>092345zNet Control Center without any position",
    b"UU0AA>TEST,WIDE1-1,qAR,IGATE:}OG7LZB>DST,NET,GATE*:!6013.69NR02450.97E&",
];

fn main() {
    let lines = LINES;
    let octets: usize = lines.iter().map(|line| line.len()).sum();
    println!("{} packets of {} octets on average", lines.len(), octets / lines.len());
    let parsed = ns_each(&lines, |line| {
        let _ = black_box(parse(black_box(line)));
    });
    println!("parse          {parsed:>8.0} ns");
    let built = ns_each(&lines, |line| {
        if let Ok(parsed) = parse(black_box(line)) {
            let _ = black_box(parsed.build(parsed.path));
        }
    });
    println!("parse + build  {built:>8.0} ns");
}

/// Nanoseconds of CPU time for each line.
fn ns_each(lines: &[&[u8]], mut run: impl FnMut(&[u8])) -> f64 {
    for line in lines {
        run(line);
    }
    let begin = clock::thread_cpu_ns();
    for _ in 0..ROUNDS {
        for line in lines {
            run(line);
        }
    }
    (clock::thread_cpu_ns() - begin) as f64 / (f64::from(ROUNDS) * lines.len() as f64)
}

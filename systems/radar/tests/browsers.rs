//! The working position as browsers see it, by sockets.

#![allow(clippy::unwrap_used, reason = "a test helper may panic")]

#[path = "support/programs.rs"]
mod programs;

use chronoscope_clock as clock;
use chronoscope_origin::AllowedHosts;
use chronoscope_radar::asterix::cat062::{Position, Track};
use chronoscope_radar::asterix::encode_block;
use chronoscope_radar::display::browser::{
    Air, BrowserCounts, Browsers, Limits, SharedAir, listen,
};
use chronoscope_radar::display::{Policy, WorkingPosition};
use chronoscope_radar::geodesy::Wgs84;
use programs::{Chain, wait_for};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tungstenite::{Message, WebSocket};

/// Octets of a frame before its first record.
const HEAD: usize = 20;

/// A working position that is served, without a message server.
struct Bench {
    air: SharedAir,
    position: WorkingPosition,
    browsers: Browsers,
}

impl Bench {
    fn new(silent: Duration) -> Self {
        let air = Arc::new(Mutex::new(Air::new(Wgs84::new(51.0, 10.0, 0.0))));
        let limits = Limits { silent, ping_every: Duration::from_millis(50) };
        let address = "127.0.0.1:0".parse().unwrap();
        let map = "{\"version\":1}".to_owned();
        let browsers =
            listen(address, Arc::clone(&air), map, limits, AllowedHosts::default()).unwrap();
        let position = WorkingPosition::new(Arc::clone(&air), Policy::Never, 0);
        Self { air, position, browsers }
    }

    fn update(&mut self, numbers: std::ops::Range<u16>) {
        for number in numbers {
            let track = Track {
                track_number: Some(number),
                position: Some(Position { lat_deg: 50.0, lon_deg: 10.0 }),
                ..Track::default()
            };
            let mut block = Vec::new();
            encode_block(&[track], &mut block).unwrap();
            self.position.block(&block, clock::monotonic_ns());
        }
        self.position.hand_over();
    }

    fn page(&self) -> Page {
        Page::open(&self.browsers.address().to_string())
    }

    fn counts(&self) -> BrowserCounts {
        self.air.lock().unwrap().counts()
    }

    /// The answer to octets that may be anything, until the other side closes.
    fn raw(&self, octets: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.browsers.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(octets).unwrap();
        // A request that is whole is answered, and the connection closed as it asks for. After half
        // a one nothing more comes.
        if !octets.windows(4).any(|end| end == b"\r\n\r\n") {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let (mut answer, mut some) = (Vec::new(), [0; 4096]);
        while !answer.starts_with(b"HTTP/1.1 101") {
            match stream.read(&mut some) {
                Ok(0) | Err(_) => break,
                Ok(octets) => answer.extend_from_slice(&some[..octets]),
            }
        }
        answer
    }
}

/// A page without a screen.
struct Page {
    socket: WebSocket<TcpStream>,
}

impl Page {
    fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let url = format!("ws://{address}/socket");
        let (socket, _) = tungstenite::client(url, stream).unwrap();
        Self { socket }
    }

    fn say(&mut self, words: &str) {
        self.socket.send(Message::text(words)).unwrap();
    }

    fn shown(address: &str) -> Self {
        let mut page = Self::open(address);
        page.say(r#"{"visible":true}"#);
        page
    }

    /// The next frame; answers questions on the way. `None` when the connection is over.
    fn frame(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.socket.read() {
                Ok(Message::Binary(octets)) => return Some(octets.to_vec()),
                Ok(Message::Text(words)) => {
                    let words: serde_json::Value = serde_json::from_str(&words).unwrap();
                    if let Some(ping) = words["ping"].as_u64() {
                        let _ = self.socket.send(Message::text(format!("{{\"pong\":{ping}}}")));
                    }
                }
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    fn acknowledge(&mut self, frame: &[u8]) {
        self.say(&format!("{{\"ack\":{}}}", number_of(frame)));
    }
}

fn number_of(frame: &[u8]) -> u32 {
    u32::from_le_bytes(frame[4..8].try_into().unwrap())
}

fn records_of(frame: &[u8]) -> u32 {
    u32::from_le_bytes(frame[8..12].try_into().unwrap())
}

#[test]
fn every_browser_gets_all_tracks_and_then_what_changes() {
    let mut bench = Bench::new(Duration::from_secs(20));
    bench.update(1..4);
    let mut pages = [bench.page(), bench.page()];
    for page in &mut pages {
        page.say(r#"{"visible":true}"#);
        let frame = page.frame().unwrap();
        assert_eq!((frame[2], number_of(&frame), records_of(&frame)), (1, 1, 3));
        page.acknowledge(&frame);
    }
    bench.update(2..3);
    for page in &mut pages {
        let frame = page.frame().unwrap();
        assert_eq!((frame[2], number_of(&frame), records_of(&frame)), (0, 2, 1));
        assert_eq!(frame[HEAD + 1..HEAD + 3], [2, 0]);
        page.acknowledge(&frame);
    }
    wait_for("both acknowledgements", || bench.counts().sent.acknowledged == 4);
    let counts = bench.counts();
    assert_eq!((counts.sent.updates, counts.sent.shown), (2, 2));
    wait_for("a round trip", || {
        pages.iter_mut().for_each(|page| page.say(r#"{"visible":true}"#));
        pages.iter_mut().for_each(|page| drop(page.frame()));
        bench.counts().round_trip_us.is_some()
    });
}

#[test]
fn a_browser_that_shows_nothing_is_cut_and_the_others_are_not() {
    let mut bench = Bench::new(Duration::from_secs(3));
    let address = bench.browsers.address().to_string();
    let (mut stuck, mut deaf, mut good) =
        (Page::shown(&address), Page::shown(&address), Page::shown(&address));
    let first = good.frame().unwrap();
    good.acknowledge(&first);
    // One reads and acknowledges nothing; one does not even read.
    wait_for("two cuts", || {
        bench.update(1..2000);
        let frame = good.frame().unwrap();
        good.acknowledge(&frame);
        bench.counts().cut_slow == 2
    });
    while stuck.frame().is_some() {}
    let _ = deaf.socket.close(None);
    let counts = bench.counts();
    assert_eq!((counts.connected, counts.cut_protocol), (3, 0));
    // Nobody waited for them in vain: what was not shown is not counted as shown.
    assert!(counts.sent.shown < counts.sent.updates);
}

#[test]
fn garbage_is_answered_or_cut_and_nothing_hangs() {
    let mut bench = Bench::new(Duration::from_secs(20));
    bench.update(1..10);
    let page = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let pages: [&[u8]; 6] = [
        b"\x00\xff\x16\x03\x01",
        b"GET",
        b"GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        &[b'a'; 100_000],
    ];
    let answers = pages.map(|octets| bench.raw(octets));
    let begins = |answer: &[u8], with: &str| answer.starts_with(with.as_bytes());
    assert!(begins(&answers[2], "HTTP/1.1 426"), "{:?}", String::from_utf8_lossy(&answers[2]));
    assert!(begins(&answers[3], "HTTP/1.1 405"), "{:?}", String::from_utf8_lossy(&answers[3]));
    assert!(begins(&answers[4], "HTTP/1.1 404"), "{:?}", String::from_utf8_lossy(&answers[4]));
    let answer = String::from_utf8_lossy(&bench.raw(page.as_bytes())).to_lowercase();
    assert!(answer.starts_with("http/1.1 200"), "{answer}");
    assert!(answer.contains("content-security-policy: default-src 'none'"), "{answer}");

    let long = format!("{{\"ack\":1,\"x\":\"{}\"}}", "x".repeat(5000));
    let words =
        ["", "[]", "{\"ack\":-1}", "{\"ack\":99}", "{\"launch\":1}", "{\"ack\":1e400}", &long];
    for (cut, words) in (1..).zip(words) {
        let mut page = bench.page();
        page.say(words);
        while page.frame().is_some() {}
        wait_for("a cut", || bench.counts().cut_protocol == cut);
    }
    let mut page = bench.page();
    page.socket.send(Message::binary(vec![1, 2, 3])).unwrap();
    while page.frame().is_some() {}
    // A frame of a reserved kind, past the library.
    let mut page = bench.page();
    page.socket.get_mut().write_all(&[0x8B, 0x80, 0, 0, 0, 0]).unwrap();
    while page.frame().is_some() {}

    let mut page = bench.page();
    page.say(r#"{"visible":true}"#);
    assert_eq!(records_of(&page.frame().unwrap()), 9);
}

#[test]
fn a_page_of_another_origin_is_refused() {
    let bench = Bench::new(Duration::from_secs(20));
    let of = |origin: &str| {
        bench.raw(
            format!(
                "GET /socket HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n\
                 Connection: close, Upgrade\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                bench.browsers.address()
            )
            .as_bytes(),
        )
    };
    assert!(of("https://elsewhere.example").starts_with(b"HTTP/1.1 403"));
    assert!(of("null").starts_with(b"HTTP/1.1 403"));
    // A name that was given this address later (DNS rebinding) gets the map and the page neither.
    for path in ["/", "/map.json", "/socket"] {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\r\n");
        assert!(bench.raw(request.as_bytes()).starts_with(b"HTTP/1.1 421"), "{path}");
    }
    let own = format!("http://{}", bench.browsers.address());
    assert!(of(&own).starts_with(b"HTTP/1.1 101"));
}

/// From the plot to the browser: every update that was shown has its redraw, and every redraw its
/// whole line of parents.
#[test]
fn a_redraw_ends_when_the_browser_has_shown_it() {
    let chain = Chain::new(1 << 16);
    let tracker = chain.tracker();
    let generator = chain.generator(&[
        "--scenario",
        "circles",
        "--circles",
        "2",
        "--flights",
        "10",
        "--radars",
        "3",
        "--speed",
        "5",
        "--duration",
        "8",
    ]);
    let messages = chain.messages(None);
    let display = chain.browser_display();
    let mut page = Page::shown(&chain.port("browsers"));
    let (done, ends) = std::sync::mpsc::channel();
    let screen = std::thread::spawn(move || {
        while let Some(frame) = page.frame() {
            // A slow screen, of which every redraw knows.
            clock::sleep(Duration::from_millis(20));
            if ends.try_recv().is_ok() {
                break;
            }
            page.acknowledge(&frame);
        }
    });
    generator.finish();
    clock::sleep(Duration::from_secs(2));
    let summary = display.end();
    let _ = done.send(());
    screen.join().unwrap();
    messages.end();
    tracker.end();

    let all = chain.transactions();
    let (by_id, shown) = (all.by_id(), summary["browsers"]["shown"].as_u64().unwrap());
    let redraws: Vec<_> = all.of("CWP", "TargetView_redraw");
    let good: Vec<_> = redraws.iter().filter(|r| r.elapsed_ns >= 20_000_000).collect();
    assert!(shown > 20, "{summary}");
    assert!(good.len() as u64 >= shown, "{} of {shown} waited for the screen", good.len());
    for redraw in redraws {
        assert_eq!(
            all.lineage(redraw, &by_id),
            "MRTS:decodePlots MRTS:Correlate MSG:TrackStore_updateTrack \
             CWP:TrackStore_updateTrack CWP:TargetView_redraw"
        );
    }
    assert!(summary["browsers"]["round_trip_us"].as_f64().unwrap() > 0.0, "{summary}");
}

/// As many idle connections as there were places kept every page out.
#[test]
fn a_crowd_of_idle_connections_keeps_no_page_out() {
    let bench = Bench::new(Duration::from_secs(10));
    raise_open_files();
    let page = bench.page();
    let connect = |_| TcpStream::connect(bench.browsers.address()).unwrap();
    let crowd: Vec<TcpStream> = (0..1024).map(connect).collect();
    let answer = bench.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    let _second = bench.page();
    wait_for("both pages", || bench.counts().connected == 2);
    assert_eq!(bench.counts().refused, 0);
    drop((page, crowd));
}

/// Both ends of the crowd are in this process.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

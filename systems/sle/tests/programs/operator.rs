//! An operator's orders, by the control port and by standard input.

use crate::station::{Station, until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn an_operator_works_the_production() {
    let station = Station::new();
    assert_eq!(station.order("interrupt cltu1"), "ok");
    let refused = station.user(&["-i", "cltu1", "send", "--generate", "1"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("START was refused: unable to comply"), "{said}");
    assert!(station.order("status").contains("production Interrupted"));
    assert_eq!(station.order("resume"), "ok");
    station.json(&["-i", "cltu1", "send", "--generate", "1"]);
    assert_eq!(station.order("out-of-service cltu1"), "ok");
    let refused = station.user(&["-i", "cltu1", "send", "--generate", "1"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("BIND was refused: OutOfService"), "{said}");
    assert!(station.order("nonsense").starts_with("error: "));
}

/// A page can make a browser send an HTTP request here, and lines of its own behind it.
#[test]
fn an_http_request_gives_no_orders() {
    let station = Station::new();
    let mut page = TcpStream::connect(&station.control).unwrap();
    let request = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n\r\n\
                   interrupt cltu1\nquit\n";
    page.write_all(request.as_bytes()).unwrap();
    let mut said = Vec::new();
    let _ = page.read_to_end(&mut said); // closed with lines unread
    assert_eq!(station.order("status").matches("production Operational").count(), 1);
    assert!(station.order("nonsense").starts_with("error: "), "it goes on for others");
}

/// Eight idle connections kept every operator out.
#[test]
fn a_crowd_of_idle_connections_keeps_no_operator_out() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, maximum) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, maximum, maximum).unwrap();
    let station = Station::new();
    let mut operator = BufReader::new(TcpStream::connect(&station.control).unwrap());
    let mut order = |line: &str| {
        operator.get_mut().write_all(line.as_bytes()).unwrap();
        let mut said = String::new();
        while !said.ends_with("ok\n") {
            assert!(operator.read_line(&mut said).unwrap() > 0, "cut off after {said:?}");
        }
    };
    order("interrupt cltu1\n");
    let connect = |_| TcpStream::connect(&station.control).unwrap();
    let crowd: Vec<TcpStream> = (0..1024).map(connect).collect();
    assert!(station.order("status").contains("production Interrupted"), "a new one");
    order("resume cltu1\n");
    let threads = format!("/proc/{}/task", station.child.id());
    let threads = std::fs::read_dir(threads).unwrap().count();
    assert!(threads < 64, "{threads} threads");
    drop(crowd);
}

/// The same by standard input, as `--operate` has it.
#[test]
fn orders_by_standard_input_are_obeyed_and_answered() {
    let mut station = Station::of(&Station::new().instances, &["--operate"]);
    let mut orders = station.child.stdin.take().unwrap();
    let mut order = |line: &str| {
        writeln!(orders, "{line}").unwrap();
        let mut answer = Vec::new();
        loop {
            let said = station.lines.next().unwrap().unwrap();
            let is_last = said == "ok" || said.starts_with("error: ");
            answer.push(said);
            if is_last {
                return answer;
            }
        }
    };
    assert_eq!(order("status").len(), 4, "three instances");
    assert_eq!(order("halt cltu1"), ["ok"]);
    assert!(order("status")[0].contains("production Halted"));
    assert_eq!(
        order("nonsense"),
        ["error: \"nonsense\" is not a command: enter help for the commands"]
    );
    assert_eq!(order("halt nobody"), ["error: there is no service instance \"nobody\""]);
    assert_eq!(order("resume"), ["ok"]);
    assert_eq!(order("quit"), ["ok"]);
    assert_eq!(station.child.wait().unwrap().code(), Some(0));
}

/// What an operator does to an association that is at work, and what its user sees of it.
#[test]
fn orders_reach_the_users_who_are_bound() {
    let station = Station::new();
    let mut terminal = station.command(&["-i", "cltu1", "--json", "terminal"]);
    let mut user = terminal.stdin(Stdio::piped()).spawn().unwrap();
    let mut says = user.stdin.take().unwrap();
    let (tell, said) = mpsc::channel();
    let results = BufReader::new(user.stdout.take().unwrap()).lines();
    std::thread::spawn(move || results.map_while(Result::ok).try_for_each(|line| tell.send(line)));
    let heard = |wanted: &str| {
        loop {
            let line = said.recv_timeout(Duration::from_secs(30)).unwrap();
            if line.contains(wanted) {
                return line;
            }
        }
    };
    says.write_all(b"bind\nstart 0\nsend 0102030405060708\ndrain\nstatus\n").unwrap();
    heard("\"acknowledged\":1");
    assert_eq!(station.order("halt cltu1"), "ok");
    says.write_all(b"wait 5\n").unwrap();
    heard("production-halted");
    assert_eq!(station.order("uplink nominal cltu1"), "ok");
    assert_eq!(station.order("resume cltu1"), "ok");
    says.write_all(b"wait 5\n").unwrap();
    let said = heard("production-operational");
    assert!(said.contains("nominal"), "{said}");
    assert_eq!(station.order("abort cltu1"), "ok");
    says.write_all(b"wait 5\nstatus\nquit\n").unwrap();
    heard("OperationalRequirement");
    drop(says);
    user.wait().unwrap();
    until(|| station.status("cltu1").contains("no user bound"));
}

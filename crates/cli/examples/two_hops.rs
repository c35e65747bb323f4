//! A measured program in its smallest form: requests go through a queue to a worker thread, and
//! the correlator travels with them.
//!
//! `two_hops [COUNT [PAUSE_MS [LOST]]]` makes COUNT chains (default 1000), PAUSE_MS apart (default
//! 0), then LOST requests that nobody answers (default 0), waits until any answer would be late, and
//! prints how many chains it made.

use chronoscope_record::{self as record, Class, Correlator, Status, class};
use std::sync::mpsc;
use std::time::Duration;

static REQUEST: Class = class!("request");
static ANSWER: Class = class!("answer");

fn main() {
    record::init("hops");
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let count = numbers.next().unwrap_or(1_000);
    let pause = Duration::from_millis(numbers.next().unwrap_or(0));
    let lost = numbers.next().unwrap_or(0);
    let (queue, requests) = mpsc::channel::<(u64, Correlator)>();
    let worker = std::thread::spawn(move || {
        for (number, correlator) in requests {
            let mut answer = ANSWER.begin_with(&correlator);
            answer.metric("number", number as f64);
            answer.stop(if number % 100 == 99 { Status::Failed } else { Status::Good });
        }
    });
    for number in 0..count {
        let request = REQUEST.begin();
        let message = (number, request.correlator().with_flags(true, false));
        queue.send(message).expect("the worker lives until the queue is closed");
        drop(request);
        if !pause.is_zero() {
            chronoscope_clock::sleep(pause);
        }
    }
    for _ in 0..lost {
        drop(REQUEST.begin());
    }
    if lost > 0 {
        // A limit of a second, and how long a record may take into the ring.
        chronoscope_clock::sleep(Duration::from_millis(1500));
    }
    drop(queue);
    worker.join().expect("the worker ends with the queue");
    println!("{count}");
}

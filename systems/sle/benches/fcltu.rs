//! Cost of a CLTU in the state machines of FCLTU: the user's, the provider's, the buffer between
//! two threads, and the check of its code blocks. No associations, no sockets.
//!
//! `cargo bench -p chronoscope-sle --bench fcltu`. CLTUs of 1544 octets. Nanoseconds of CPU time,
//! of both threads together where there are two, the best of five runs. The limit beside the
//! buffer is a lock taken and left, which a CLTU in it costs at least twice.

use std::hint::black_box;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::cltu;
use chronoscope_sle::pdu::{
    CltuTransferData, CltuTransferDataReturn, Pdu, PositiveStartReturn, StartRequest,
};
use chronoscope_sle::service::ServiceAction;
use chronoscope_sle::service::fcltu::{
    CltuTransfer, FcltuConfig, FcltuProvider, FcltuUser, RadiationQueue, RadiationStep,
};
use chronoscope_sle::time::{Now, Time};

const RUNS: usize = 5;
const CLTUS: u32 = 200_000;
const OCTETS: usize = 1544;

fn main() {
    println!("{:<52} {:>8} {:>14}", "", "ns", "a second");
    let row = |what: &str, ns: f64| println!("{what:<52} {ns:>8.0} {:>14.0}", 1e9 / ns);
    row("a lock (the limit of the buffer: two)", best(lock));
    row("user: TRANSFER-DATA and its return", best(user));
    row("provider: TRANSFER-DATA, return, radiated here", best(|| provider(1)));
    row("provider, 64 at a time", best(|| provider(64)));
    for batch in [1, 16, 64] {
        let name = format!("two threads, {batch} received at a time");
        row(&name, best(|| two_threads(batch)));
    }
    row("check of the code blocks", best(check));
}

fn best(run: impl Fn() -> f64) -> f64 {
    (0..RUNS).map(|_| run()).fold(f64::MAX, f64::min)
}

/// CPU nanoseconds of this thread for each of `CLTUS`.
fn each(mut act: impl FnMut(u32)) -> f64 {
    let begin_ns = clock::thread_cpu_ns();
    for number in 0..CLTUS {
        act(number);
    }
    let ns = clock::thread_cpu_ns() - begin_ns;
    ns as f64 / f64::from(CLTUS)
}

fn lock() -> f64 {
    let lock = Mutex::new(0u32);
    each(|number| *black_box(&lock).lock().expect("nobody panics") = number)
}

fn user() -> f64 {
    let now = Now::read();
    let mut user = FcltuUser::new(64);
    user.bound();
    let Ok(Pdu::Start { invoke_id, .. }) = user.start(0) else { panic!("ready") };
    let start_radiation = Time::from_utc_ns(now.utc_ns);
    let result = Ok(PositiveStartReturn::Cltu { start_radiation, stop_radiation: None });
    user.pdu(Pdu::StartReturn { invoke_id, result }, now).expect("it was asked");
    let data = Bytes::from(vec![0; OCTETS]);
    each(|number| {
        let cltu = CltuTransfer { data: data.clone(), ..CltuTransfer::default() };
        let Ok(Pdu::CltuTransferData(sent)) = user.transfer(cltu) else { panic!("active") };
        let returned = CltuTransferDataReturn {
            invoke_id: sent.invoke_id,
            next_cltu: number + 1,
            buffer_available: 1,
            result: Ok(()),
        };
        black_box(user.pdu(Pdu::CltuTransferDataReturn(returned), now).expect("it was sent"));
    })
}

/// An active provider that expects number 0.
fn active() -> FcltuProvider {
    let config = FcltuConfig { notify_buffer_empty: false, ..FcltuConfig::default() };
    let queue = Arc::new(RadiationQueue::new(&config));
    let mut provider = FcltuProvider::new(config, queue);
    provider.bound(5, Now::read());
    let start = StartRequest::Cltu { first_cltu: 0 };
    provider.pdu(Pdu::Start { invoke_id: 0, start }, Now::read(), &mut Vec::new());
    provider
}

fn invocation(cltu: u32, data: &Bytes) -> Pdu {
    Pdu::CltuTransferData(CltuTransferData {
        invoke_id: 1,
        cltu,
        earliest: None,
        latest: None,
        delay_us: 0,
        notify_radiated: false,
        data: data.clone(),
    })
}

/// Gives it a CLTU, and says whether it was taken.
fn give(provider: &mut FcltuProvider, cltu: Pdu, now: Now, out: &mut Vec<ServiceAction>) -> bool {
    out.clear();
    provider.pdu(cltu, now, out);
    matches!(&out[..], [ServiceAction::Send(Pdu::CltuTransferDataReturn(r))] if r.result.is_ok())
}

fn provider(batch: u32) -> f64 {
    let mut provider = active();
    let queue = Arc::clone(provider.queue());
    let data = Bytes::from(vec![0; OCTETS]);
    let mut out = Vec::new();
    each(|number| {
        let taken = give(&mut provider, invocation(number, &data), Now::read(), &mut out);
        assert!(taken, "there is room");
        if number % batch == 0 {
            while let RadiationStep::Radiate(cltu) = queue.next(Now::read()) {
                black_box(cltu);
            }
        }
    })
}

/// One thread receives `batch` at a time, and for as long as that takes in an association (3 µs
/// each) does other things; another radiates.
fn two_threads(batch: u32) -> f64 {
    let mut provider = active();
    let queue = Arc::clone(provider.queue());
    let radiating = std::thread::spawn({
        let queue = Arc::clone(&queue);
        move || {
            loop {
                match queue.next(Now::read()) {
                    RadiationStep::Radiate(cltu) => drop(black_box(cltu)),
                    RadiationStep::Wait(_) | RadiationStep::Idle => queue.wait(None),
                    RadiationStep::Closed => return clock::thread_cpu_ns(),
                }
            }
        }
    });
    let data = Bytes::from(vec![0; OCTETS]);
    let mut out = Vec::new();
    let mut idle_ns = 0;
    let receiving = each(|number| {
        if number % batch == 0 {
            provider.tick(Now::read(), &mut out);
            let until_ns = clock::thread_cpu_ns() + 3000 * u64::from(batch);
            while clock::thread_cpu_ns() < until_ns {}
            idle_ns += 3000 * u64::from(batch);
        }
        let mut taken = false;
        while !taken {
            taken = give(&mut provider, invocation(number, &data), Now::read(), &mut out);
        }
    });
    provider.tick(Now::read(), &mut out);
    queue.with(chronoscope_sle::service::fcltu::Radiation::close);
    let radiating_ns = radiating.join().expect("it does not panic");
    receiving + (radiating_ns as f64 - idle_ns as f64) / f64::from(CLTUS)
}

fn check() -> f64 {
    let data = cltu::encode(&[7; OCTETS * 7 / 8 - 9]);
    each(|_| black_box(cltu::check(black_box(&data))).expect("it is one"))
}

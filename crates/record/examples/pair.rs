//! Scratch.
use chronoscope_clock as clock;
use chronoscope_record::{self as record, Class, class};
static A: Class = class!("a");
fn time(name: &str, n: u64, mut f: impl FnMut()) {
    let mut best = f64::MAX;
    let mut all = vec![];
    for _ in 0..9 {
        let t = clock::monotonic_ns();
        for _ in 0..n {
            f();
        }
        let d = (clock::monotonic_ns() - t) as f64 / n as f64;
        best = best.min(d);
        all.push(d);
    }
    all.sort_by(|a, b| a.total_cmp(b));
    println!("{name:30} min {best:7.2} median {:7.2}", all[4]);
}
fn main() {
    record::init("PAIR");
    println!("{:?}", record::cpu_method());
    let n = 2_000_000;
    for _ in 0..2 {
        time("two ticks", n, || {
            std::hint::black_box(clock::ticks());
            std::hint::black_box(clock::ticks());
        });
        time("pair", n, || {
            drop(A.begin());
        });
        time("nested4/4", n / 4, || {
            let a = A.begin();
            let b = A.begin();
            let c = A.begin();
            let d = A.begin();
            drop(d);
            drop(c);
            drop(b);
            drop(a);
        });
        time("start/stop", n / 4, || {
            A.start().stop(record::Status::Good);
        });
        time("correlator", n / 4, || {
            let a = A.begin();
            std::hint::black_box(a.correlator().to_bytes(512));
        });
        let c = A.begin().correlator();
        time("begin_with", n / 4, || {
            drop(A.begin_with(&c));
        });
    }
    if let Some(p) = record::ring_path() {
        let _ = std::fs::remove_file(p);
    }
}

//! A Rust program that reads time through `chronoscope_clock` and nothing else takes part.
#![allow(clippy::unwrap_used)]

mod support;

use chronoscope_clock as clock;
use chronoscope_replay::coordinator::Settings;
use std::time::Duration;
use support::Replay;

const CHILD: &str = "CHRONOSCOPE_TEST_CHILD";
const HOUR: Duration = Duration::from_secs(3600);

/// What the process of the replay runs: three threads that wait on the clock.
#[test]
fn child_that_waits_on_the_clock() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let start_ns = clock::monotonic_ns();
    let other = std::thread::spawn(move || {
        clock::sleep_until(start_ns + 1_500_000_000);
        println!("\nother {}", clock::utc_now_ns());
    });
    let (tell, told) = std::sync::mpsc::channel::<()>();
    let silent = std::thread::spawn(move || {
        clock::sleep(23 * HOUR);
        drop(tell);
    });
    assert!(told.recv_timeout(2 * HOUR).is_err());
    println!("\npatient {}", clock::utc_now_ns());
    clock::sleep(20 * HOUR);
    other.join().unwrap();
    silent.join().unwrap();
    println!("\njoined {} {}", clock::utc_now_ns(), clock::monotonic_ns() - start_ns);
}

#[test]
fn a_program_of_ours_lives_a_day_on_the_virtual_clock() {
    let runs = [1, 2].map(|_| {
        let replay = Replay::new();
        let this = std::env::current_exe().unwrap();
        let test = "child_that_waits_on_the_clock";
        let command = [this.to_str().unwrap(), "--exact", test, "--nocapture"];
        let mut program = replay.program("ours", &command);
        program.environment.push((CHILD.into(), "1".into()));
        let mut coordinator = replay.coordinator(Settings::default());
        coordinator.start(&program).unwrap();
        let outcome = coordinator.run(&mut chronoscope_replay::player::Player::none());
        assert_eq!(outcome.failure, None, "{outcome:#?}");
        assert_eq!(outcome.elapsed, 23 * HOUR, "{}", replay.output("ours"));
        let text = replay.output("ours");
        let said = ["other", "patient", "joined"].map(|word| {
            text.lines().find(|line| line.starts_with(word)).unwrap_or(&text).to_owned()
        });
        (said, outcome.processes[0].activity, outcome.grants)
    });
    let ([other, patient, joined], activity, _) = &runs[0];
    assert_eq!(other, "other 1600000001500000000");
    assert_eq!(patient, "patient 1600007200000000000");
    assert_eq!(joined, "joined 1600082800000000000 82800000000000");
    assert!(activity.waits >= 5, "the preload library saw them: {activity:?}");
    assert_eq!(runs[0], runs[1], "the same every time");
}

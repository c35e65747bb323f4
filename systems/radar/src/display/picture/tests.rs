use super::*;
use crate::asterix::cat062::{FlightPlan, ModeA, Position, Track, Velocity};
use crate::display::map::{MapLayers, SEA, draw};
use crate::geodesy::Wgs84;
use proptest::prelude::*;

fn picture() -> Picture {
    let view = View::new(640, 480, Wgs84::new(51.0, 10.0, 0.0), 60.0);
    let map = draw(&view, &MapLayers { rings: Some((51.0, 10.0)), ..MapLayers::default() });
    Picture::new(view, map)
}

/// A track somewhere in or just outside the picture.
fn track(number: u16, lat: f64, lon: f64, heading: f64, known: bool) -> Track {
    Track {
        track_number: Some(number),
        position: Some(Position { lat_deg: lat, lon_deg: lon }),
        velocity: Some(Velocity { x_m_s: 220.0 * heading.sin(), y_m_s: 220.0 * heading.cos() }),
        mode_a: Some(ModeA { code: if number == 3 { 0o7700 } else { number }, ..ModeA::default() }),
        measured_flight_level: Some(f64::from(number)),
        flight_plan: known.then(|| FlightPlan {
            callsign: Some(format!("DLH{number}")),
            destination: Some("EDDF".to_owned()),
            ..FlightPlan::default()
        }),
        ..Track::default()
    }
}

#[derive(Clone, Debug)]
enum Event {
    Update { number: u16, lat: f64, lon: f64, heading: f64, known: bool },
    Remove(u16),
    Wait(u64),
    RedrawMany,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (0u16..40, 50.4f64..51.6, 9.0f64..11.0, 0.0f64..6.2, any::<bool>()).prop_map(
            |(number, lat, lon, heading, known)| Event::Update { number, lat, lon, heading, known }
        ),
        1 => (0u16..40).prop_map(Event::Remove),
        2 => (1u64..30).prop_map(Event::Wait),
        1 => Just(Event::RedrawMany),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The promise at the head of the file, for any sequence of updates, removals, coasting and
    /// batches, with targets crowded enough to overlap everywhere.
    #[test]
    fn the_incremental_picture_is_the_picture(events in prop::collection::vec(event(), 1..120)) {
        let mut picture = picture();
        let mut now_ns = 1;
        for event in events {
            match event {
                Event::Update { number, lat, lon, heading, known } => {
                    picture.recalculate(&track(number, lat, lon, heading, known), now_ns);
                    picture.redraw();
                }
                Event::Remove(number) => {
                    picture.remove(number);
                    picture.redraw();
                }
                Event::Wait(seconds) => {
                    now_ns += seconds * 1_000_000_000;
                    picture.sweep(now_ns);
                    picture.redraw();
                }
                Event::RedrawMany => {
                    for number in 0..10 {
                        let at = 50.8 + 0.01 * f64::from(number);
                        picture.recalculate(&track(number, at, 10.0, 1.0, true), now_ns);
                    }
                    picture.redraw_all();
                }
            }
        }
        prop_assert!(*picture.frame() == picture.drawn_anew());
    }
}

#[test]
fn a_target_that_leaves_takes_all_its_pixels_along() {
    let mut picture = picture();
    let empty = picture.frame().clone();
    for step in 0..50 {
        let now_ns = 1 + step * 9_000_000_000;
        let lon = 9.5 + 0.01 * step as f64;
        picture.recalculate(&track(7, 51.0, lon, 1.57, true), now_ns);
        picture.redraw();
    }
    assert!(*picture.frame() != empty);
    picture.remove(7);
    picture.redraw();
    assert!(*picture.frame() == empty);
    assert!(empty.octets().chunks(4).any(|p| p[..3] != SEA));
}

#[test]
fn labels_of_neighbours_do_not_cover_each_other() {
    let mut picture = picture();
    for round in 0..4u64 {
        for (number, lon) in [(1, 9.99), (2, 10.0), (4, 10.01)] {
            let now_ns = 1 + round * 6_000_000_000;
            picture.recalculate(&track(number, 51.0, lon, 0.0, true), now_ns);
            picture.redraw();
        }
    }
    let labels: Vec<Rect> = picture.targets().map(Target::label_text).collect();
    for (i, a) in labels.iter().enumerate() {
        assert!(labels[i + 1..].iter().all(|b| !a.touches(*b)), "{labels:?}");
    }
}

#[test]
fn silence_is_shown_and_then_the_target_is_gone() {
    let mut picture = picture();
    picture.recalculate(&track(7, 51.0, 10.0, 0.0, true), 1);
    picture.sweep(COAST_NS + 2);
    assert_eq!(picture.targets().next().unwrap().look, crate::display::TargetStyle::Coasting);
    picture.sweep(GONE_NS + 2);
    assert_eq!(picture.target_count(), 0);
}

#[test]
fn a_crowd_shows_fewer_words_and_an_emergency_all_of_its_own() {
    let mut picture = picture();
    for round in 0..3u64 {
        for number in 0..400u16 {
            let (lat, lon) =
                (50.6 + 0.05 * f64::from(number / 20), 9.3 + 0.08 * f64::from(number % 20));
            picture.recalculate(&track(number, lat, lon, 0.0, true), 1 + round * 6_000_000_000);
            picture.redraw();
        }
    }
    let shown = |detail| picture.targets().filter(|t| t.detail == detail).count();
    assert!(shown(Detail::Hidden) > 100 && shown(Detail::Name) > 10, "{}", shown(Detail::Name));
    let emergency = picture.targets().find(|t| t.number == 3).unwrap();
    assert_eq!(emergency.detail, Detail::Full);
}

//! What the tracker says about itself (category 065) and its sensors (category 063).

use super::ClockVerdict;
use super::processor::Processor;
use super::sensor_state::SensorState;
use crate::asterix::{AsterixError, DataSource, TimeOfDay, cat063, cat065, encode_block};
use crate::geodesy::METRES_PER_NM;

/// A sensor of which nothing came for so long is not connected, ns.
const SILENT_NS: i64 = 30_000_000_000;
/// I065/000 and I065/050 of a status message of the tracker.
const STATUS_OF_SYSTEM: u8 = 1;
const SERVICE: u8 = 1;

/// Status messages as blocks: one about the tracker, and one about all its sensors where it has any.
/// `selected` is the number of the tracker in operation, 0 where there is only one.
///
/// # Errors
/// [`AsterixError`] when an estimate is beyond what its item can carry.
pub(super) fn blocks(
    processor: &Processor,
    source: DataSource,
    selected: u8,
    utc_ns: i64,
) -> Result<Vec<Vec<u8>>, AsterixError> {
    let time_of_day = Some(TimeOfDay::from_utc_ns(utc_ns));
    let system = cat065::SystemStatus {
        source,
        kind: Some(STATUS_OF_SYSTEM),
        service_id: Some(SERVICE),
        time_of_day,
        status: Some(cat065::Status { selected, ..cat065::Status::default() }),
        ..cat065::SystemStatus::default()
    };
    let sensors: Vec<cat063::SensorStatus> = processor
        .sensor_states()
        .iter()
        .map(|sensor| cat063::SensorStatus {
            source,
            service_id: Some(SERVICE),
            time_of_day,
            ..status(sensor, utc_ns)
        })
        .collect();
    let mut blocks = vec![Vec::new()];
    encode_block(&[system], &mut blocks[0])?;
    if !sensors.is_empty() {
        blocks.push(Vec::new());
        encode_block(&sensors, &mut blocks[1])?;
    }
    Ok(blocks)
}

fn status(sensor: &SensorState, utc_ns: i64) -> cat063::SensorStatus {
    let verdict = sensor.clock.map(|clock| clock.verdict);
    let connection = match verdict {
        _ if utc_ns - sensor.heard_ns > SILENT_NS => 3,
        Some(ClockVerdict::Retimed | ClockVerdict::SetAside) => 1,
        _ => 0,
    };
    let wrong_clock = sensor.clock.filter(|clock| clock.verdict != ClockVerdict::Agrees);
    let late_s = wrong_clock.map_or(0.0, |clock| clock.offset_s)
        + sensor.bias.map_or(0.0, |bias| bias.time_s);
    cat063::SensorStatus {
        sensor: Some(sensor.source),
        status: Some(cat063::Status {
            connection,
            time_invalid: wrong_clock.is_some(),
            ..cat063::Status::default()
        }),
        // An hour is beyond what the item can say: the most is said.
        time_bias_ms: (late_s != 0.0)
            .then_some((late_s * 1000.0).round().clamp(-32_768.0, 32_767.0)),
        ssr_range: sensor
            .bias
            .map(|bias| cat063::RangeBias { gain: 0.0, bias_nm: bias.range_m / METRES_PER_NM }),
        ssr_azimuth_deg: sensor.bias.map(|bias| bias.azimuth_deg),
        ..cat063::SensorStatus::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::RadarClock;

    const NOW_NS: i64 = 1_700_000_000_000_000_000;

    fn sensor() -> SensorState {
        let source = DataSource { sac: 25, sic: 7 };
        SensorState { source, heard_ns: NOW_NS, clock: None, bias: None }
    }

    #[test]
    fn a_silent_sensor_is_not_connected_and_a_wrong_clock_is_degraded() {
        assert_eq!(status(&sensor(), NOW_NS).status.unwrap().connection, 0);
        assert_eq!(status(&sensor(), NOW_NS + 31_000_000_000).status.unwrap().connection, 3);
        let clock = RadarClock {
            sac: 25,
            sic: 7,
            verdict: ClockVerdict::Retimed,
            offset_s: 3_600.0,
            retimed: 1,
            refused: 0,
        };
        let found = status(&SensorState { clock: Some(clock), ..sensor() }, NOW_NS);
        let state = found.status.unwrap();
        assert!(state.connection == 1 && state.time_invalid, "{found:?}");
        assert_eq!(found.time_bias_ms, Some(32_767.0));
    }
}

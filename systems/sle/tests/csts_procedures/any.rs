//! What holds for any operations in any order.

use crate::station::{MS, Provider, Station};
use chronoscope_sle::csts::pdu::{DataTransferMode, Pdu};
use chronoscope_sle::csts::procedure::{ProcedureAction, ProcedureState};
use chronoscope_sle::pdu::CltuProductionStatus;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Start(u32),
    Stop,
    Unit(u32, usize),
    Next,
    Block(u32),
    Production(CltuProductionStatus),
    Radiate,
    Pass(u64),
    Unbind,
}

fn step() -> impl Strategy<Value = Step> {
    use CltuProductionStatus::{Configured, Halted, Interrupted, Operational};
    prop_oneof![
        2 => (0..3u32).prop_map(Step::Start),
        1 => Just(Step::Stop),
        1 => (0..5u32, 0..10usize).prop_map(|(unit, octets)| Step::Unit(unit, octets)),
        6 => Just(Step::Next),
        3 => (1..4u32).prop_map(Step::Block),
        2 => prop::sample::select(vec![Configured, Halted, Interrupted, Operational, Operational])
            .prop_map(Step::Production),
        5 => Just(Step::Radiate),
        3 => (0..3u64).prop_map(Step::Pass),
        1 => Just(Step::Unbind),
    ]
}

/// Does it; what is radiated.
fn take(
    station: &mut Station,
    step: Step,
    number: &mut u32,
) -> (Option<u32>, Vec<ProcedureAction>) {
    let out = match step {
        Step::Start(first) => {
            *number = first;
            station.pdu(station.start_pdu(first))
        }
        Step::Stop => station.pdu(station.stop_pdu()),
        Step::Unit(unit, octets) => station.pdu(Pdu::ProcessData(station.unit(unit, octets))),
        Step::Next => {
            *number += 1;
            station.pdu(Pdu::ProcessData(station.unit(*number - 1, 1)))
        }
        Step::Block(count) => {
            let all: Vec<u32> = (*number..*number + count).collect();
            *number += count;
            station.pdu(station.block(&all))
        }
        Step::Production(status) => station.production(status),
        Step::Radiate => {
            let radiated = station.radiates();
            let out = station.told();
            return (radiated, out);
        }
        Step::Pass(ms) => {
            station.pass(ms * MS);
            Vec::new()
        }
        Step::Unbind => {
            match &mut station.provider {
                Provider::Buffered(provider) => provider.unbound(),
                Provider::Sequenced(provider) => provider.unbound(),
            }
            Vec::new()
        }
    };
    (None, out)
}

fn rebind(station: &mut Station) {
    if station.state() == ProcedureState::Unbound {
        match &mut station.provider {
            Provider::Buffered(provider) => provider.bound(),
            Provider::Sequenced(provider) => provider.bound(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever comes: an abort is the last word, the queue keeps its bounds, a sequence is
    /// radiated without a gap, and what locks says so.
    #[test]
    fn a_sequence_has_no_gap(steps in prop::collection::vec(step(), 0..120)) {
        let mut station = Station::sequenced(4);
        let (mut number, mut last) = (0, None);
        for step in steps {
            rebind(&mut station);
            let before = station.state();
            let (radiated, out) = take(&mut station, step, &mut number);
            if matches!(step, Step::Start(_) | Step::Stop | Step::Unbind) {
                last = None;
            }
            if let Some(unit) = radiated {
                prop_assert!(last.is_none_or(|last: u32| unit == last + 1), "{last:?} {unit}");
                last = Some(unit);
            }
            check(&station, &out)?;
            if before == ProcedureState::Active && station.state() == ProcedureState::Locked {
                let said = format!("{out:?}");
                prop_assert!(said.contains("Notify"), "{said}");
            }
        }
    }

    /// In complete mode every data unit is radiated, cut short, or discarded by STOP or the end;
    /// in timely mode the provider never stops reading.
    #[test]
    fn what_is_taken_is_accounted_for(
        steps in prop::collection::vec(step(), 0..120),
        is_timely: bool,
    ) {
        let mode = if is_timely { DataTransferMode::Timely } else { DataTransferMode::Complete };
        let mut station = Station::buffered(mode, 4, 2);
        let (mut number, mut radiated) = (0, 0u64);
        for step in steps {
            rebind(&mut station);
            let (unit, out) = take(&mut station, step, &mut number);
            radiated += u64::from(unit.is_some());
            check(&station, &out)?;
            let Provider::Buffered(provider) = &station.provider else { unreachable!() };
            prop_assert!(!(is_timely && provider.is_suspended()));
            prop_assert!(station.state() != ProcedureState::Locked);
            let (waiting, discarded) =
                station.queue.look(|radiation| (radiation.waiting() as u64, radiation.discarded()));
            prop_assert_eq!(provider.counts().taken, radiated + waiting + discarded);
        }
    }
}

fn check(station: &Station, out: &[ProcedureAction]) -> Result<(), TestCaseError> {
    let aborts = out.iter().position(|action| matches!(action, ProcedureAction::Abort(_)));
    if let Some(at) = aborts {
        prop_assert_eq!(at + 1, out.len());
        prop_assert_eq!(station.state(), ProcedureState::Unbound);
    }
    let waiting = station.queue.look(chronoscope_sle::service::fcltu::Radiation::waiting);
    prop_assert!(waiting <= 4);
    Ok(())
}

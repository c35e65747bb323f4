//! Any sequence of calls, with any numbers in them: nothing ends or hangs, nothing that was good is
//! lost, nothing that was bad is recorded.
#![allow(clippy::unwrap_used, unsafe_code)]

use arm4::types::{Buffer4, CorrelatorOctets, Id, SubBuffer};
use arm4::{
    arm_bind_thread, arm_block_transaction, arm_discard_transaction, arm_generate_correlator,
    arm_get_correlator_flags, arm_get_correlator_length, arm_register_application,
    arm_register_transaction, arm_report_transaction, arm_start_application, arm_start_transaction,
    arm_stop_application, arm_stop_transaction, arm_unbind_thread, arm_unblock_transaction,
    arm_update_transaction,
};
use chronoscope_record::read::Ring;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ptr::{null, null_mut};

/// Handle for a call: one that was given out before (and may have ended), or any number.
#[derive(Clone, Debug)]
enum Which {
    Given(usize),
    Any(i64),
}

/// A sub-buffer of any kind whose counts are anything and whose pointers are NULL; or no list.
type Sub = Option<(i32, i32)>;

#[derive(Clone, Debug)]
enum Call {
    Start { app: Which, id: Option<[u64; 2]>, parent: Option<Vec<u8>>, flags: i32, sub: Sub },
    Stop { which: Which, status: i32, flags: i32, sub: Sub },
    Update { which: Which, sub: Sub },
    Discard { which: Which },
    Block { which: Which, sub: Sub },
    Unblock { which: Which, block: Which },
    Bind { which: Which, on: bool },
    Report { ns: i64, stop: i64, status: i32, current: Option<Vec<u8>>, sub: Sub },
    Generate { parent: Option<Vec<u8>>, flags: i32 },
    Look { octets: Vec<u8>, number: i32 },
    StopApplication { any: i64 },
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![4 => (0usize..8).prop_map(Which::Given), 1 => any::<i64>().prop_map(Which::Any)]
}

fn sub() -> impl Strategy<Value = Sub> {
    let format = prop_oneof![Just(3), 4i32..19, 102i32..108, any::<i32>()];
    prop::option::of((format, prop_oneof![-2i32..10, any::<i32>()]))
}

/// Octets that say their length rightly or not, of our format or not.
fn correlator() -> impl Strategy<Value = Vec<u8>> {
    (any::<[u8; 6]>(), any::<bool>(), any::<bool>(), any::<u8>()).prop_map(
        |(head, fits, ours, rest)| {
            let mut octets = vec![rest; 512];
            octets[..6].copy_from_slice(&head);
            if fits {
                octets[..2].copy_from_slice(&[0, 64]);
            }
            if ours {
                octets[2..6].copy_from_slice(&[0x43, head[3], 1, 1]);
            }
            octets
        },
    )
}

/// Any number, or one that is not far from those that times are.
fn time() -> impl Strategy<Value = i64> {
    prop_oneof![any::<i64>(), -2i64..2_000_000_000_000]
}

fn call() -> impl Strategy<Value = Call> {
    let parent = || prop::option::of(correlator());
    let id = || prop::option::weighted(0.2, any::<[u64; 2]>());
    prop_oneof![
        6 => (which(), id(), parent(), any::<i32>(), sub()).prop_map(|(app, id, parent, flags, sub)| {
            Call::Start { app, id, parent, flags: flags & 7, sub }
        }),
        5 => (which(), any::<i32>(), any::<i32>(), sub())
            .prop_map(|(which, status, flags, sub)| Call::Stop { which, status, flags, sub }),
        2 => (which(), sub()).prop_map(|(which, sub)| Call::Update { which, sub }),
        1 => which().prop_map(|which| Call::Discard { which }),
        2 => (which(), sub()).prop_map(|(which, sub)| Call::Block { which, sub }),
        2 => (which(), which()).prop_map(|(which, block)| Call::Unblock { which, block }),
        2 => (which(), any::<bool>()).prop_map(|(which, on)| Call::Bind { which, on }),
        1 => (time(), time(), any::<i32>(), parent(), sub()).prop_map(
            |(ns, stop, status, current, sub)| Call::Report { ns, stop, status, current, sub }
        ),
        1 => (parent(), any::<i32>()).prop_map(|(parent, flags)| Call::Generate { parent, flags }),
        1 => (correlator(), any::<i32>()).prop_map(|(octets, number)| Call::Look { octets, number }),
        1 => any::<i64>().prop_map(|any| Call::StopApplication { any }),
    ]
}

/// Applications, transactions and handles that the calls use.
struct World {
    app: i64,
    id: Id,
    given: Vec<i64>,
    blocks: Vec<i64>,
    /// Handles that are open by what the calls have said.
    open: BTreeSet<i64>,
    recorded: u64,
}

impl World {
    fn new() -> Self {
        let (mut app_id, mut id, mut app) = (Id::default(), Id::default(), 0);
        // SAFETY: texts that end, places for results.
        unsafe {
            arm_register_application(c"Any".as_ptr(), null(), 0, null(), &mut app_id);
            arm_register_transaction(&app_id, c"good".as_ptr(), null(), 0, null(), &mut id);
            arm_start_application(&app_id, null(), null(), 0, null(), &mut app);
        }
        assert!(app != 0);
        let (given, blocks) = (Vec::new(), Vec::new());
        Self { app, id, given, blocks, open: BTreeSet::new(), recorded: 0 }
    }

    fn pick(list: &[i64], which: &Which) -> i64 {
        match which {
            Which::Given(at) if !list.is_empty() => list[at % list.len()],
            Which::Given(_) => 0,
            Which::Any(number) => *number,
        }
    }

    /// Makes a call. Those that need an open transaction succeed exactly where there is one.
    fn make(&mut self, call: &Call) {
        let handle = |which: &Which| Self::pick(&self.given, which);
        // SAFETY: every pointer is NULL or good, as `arm4.h` wants it.
        unsafe {
            match call {
                Call::Start { app, id, parent, flags, sub } => {
                    let app = if let Which::Any(any) = app { *any } else { self.app };
                    let id = id.map_or(self.id, Id);
                    let (mut handle, mut own) = (-5, CorrelatorOctets([0; 512]));
                    with(sub, |buffer| {
                        let parent = at(parent);
                        arm_start_transaction(
                            app,
                            &id,
                            parent,
                            *flags,
                            buffer,
                            &mut handle,
                            &mut own,
                        );
                    });
                    let good = app == self.app && id == self.id;
                    assert_eq!(handle > 1, good, "{handle}");
                    if good {
                        assert!(self.open.insert(handle), "a handle that was open already");
                        self.given.push(handle);
                    }
                }
                Call::Stop { which, status, flags, sub } => {
                    let handle = handle(which);
                    let mut code = 0;
                    with(sub, |buffer| {
                        code = arm_stop_transaction(handle, *status, *flags, buffer)
                    });
                    let was = self.open.remove(&handle);
                    assert!(was != (code == arm4::codes::TRAN_HANDLE) || handle == 1);
                    self.recorded += u64::from(was);
                }
                Call::Update { which, sub } => {
                    with(sub, |buffer| drop_code(arm_update_transaction(handle(which), 0, buffer)));
                }
                Call::Discard { which } => {
                    let handle = handle(which);
                    let code = arm_discard_transaction(handle, 0, null());
                    assert!(self.open.remove(&handle) == (code == 0) || handle == 1);
                }
                Call::Block { which, sub } => {
                    let handle = handle(which);
                    let mut block = -5;
                    with(sub, |buffer| {
                        drop_code(arm_block_transaction(handle, 0, buffer, &mut block));
                    });
                    assert_eq!(block > 0, self.open.contains(&handle) || handle == 1);
                    self.blocks.push(block);
                }
                Call::Unblock { which, block } => {
                    let block = Self::pick(&self.blocks, block);
                    arm_unblock_transaction(handle(which), block, 0, null());
                }
                Call::Bind { which, on: true } => {
                    let handle = handle(which);
                    let code = arm_bind_thread(handle, 0, null());
                    assert_eq!(code == 0, self.open.contains(&handle) || handle == 1);
                }
                Call::Bind { which, on: false } => {
                    arm_unbind_thread(handle(which), 0, null());
                }
                Call::Report { ns, stop, status, current, sub } => {
                    with(sub, |buffer| {
                        let (app, id, current) = (self.app, &raw const self.id, at(current));
                        let code = arm_report_transaction(
                            app,
                            id,
                            *status,
                            *ns,
                            *stop,
                            null(),
                            current,
                            0,
                            buffer,
                        );
                        self.recorded += u64::from(code != arm4::codes::TIME);
                    });
                }
                Call::Generate { parent, flags } => {
                    let mut own = CorrelatorOctets([0; 512]);
                    let (app, id) = (self.app, &raw const self.id);
                    arm_generate_correlator(app, id, at(parent), *flags, null(), &mut own);
                    let mut length = 0;
                    assert_eq!(arm_get_correlator_length(&own, &mut length), 0);
                    assert!((48..=512).contains(&length));
                }
                Call::Look { octets, number } => {
                    let (mut length, mut flag) = (0, 0);
                    let octets: *const CorrelatorOctets = octets.as_ptr().cast();
                    arm_get_correlator_length(octets, &mut length);
                    assert!(length == 0 || (4..=512).contains(&length));
                    arm_get_correlator_flags(octets, *number, &mut flag);
                }
                Call::StopApplication { any } if *any != self.app => {
                    assert!(arm_stop_application(*any, 0, null()) != 0);
                }
                Call::StopApplication { .. } => {}
            }
        }
    }
}

fn drop_code(_: i32) {}

fn at(octets: &Option<Vec<u8>>) -> *const CorrelatorOctets {
    octets.as_ref().map_or(null(), |octets| octets.as_ptr().cast())
}

/// Calls with a list of the one sub-buffer, or without any.
fn with(sub: &Sub, call: impl FnOnce(*const Buffer4)) {
    let Some((format, count)) = sub else { return call(null()) };
    // The longest has 60 octets; what follows the count is NULL wherever it is a pointer.
    let mut words = [0u64; 8];
    words[0] = u64::from(format.cast_unsigned()) | u64::from(count.cast_unsigned()) << 32;
    let mut list = [words.as_mut_ptr().cast::<SubBuffer>(), null_mut()];
    let buffer = Buffer4 { count: 2, array: list.as_mut_ptr() };
    call(&raw const buffer);
}

/// How many transactions of the class were recorded so far.
fn count() -> u64 {
    let path = chronoscope_record::ring_path().unwrap();
    let mut ring = Ring::open(&path).unwrap();
    let statistics = ring.statistics().unwrap();
    statistics.iter().filter(|own| own.name.class == "good").map(|own| own.count).sum()
}

#[test]
fn any_calls_are_survived_and_good_ones_arrive() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    // SAFETY: the only test of its process, before anything reads the environment.
    unsafe { std::env::set_var("CHRONOSCOPE_DIR", folder.path()) };
    let sequences = prop::collection::vec(call(), 1..60);
    proptest!(ProptestConfig::with_cases(400), |(calls in sequences)| {
        let mut world = World::new();
        let before = count();
        calls.iter().for_each(|call| world.make(call));
        prop_assert_eq!(count() - before, world.recorded);
        // Whatever is open still can be stopped, once.
        for handle in &world.open {
            // SAFETY: no pointers.
            let codes = unsafe { [0, 1].map(|_| arm_stop_transaction(*handle, 0, 0, null())) };
            prop_assert_eq!(codes, [0, arm4::codes::TRAN_HANDLE]);
        }
    });
}

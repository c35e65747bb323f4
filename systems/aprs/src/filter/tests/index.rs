//! The index finds exactly the clients that the walk finds, whatever happened before.

use super::packet;
use crate::callsign::Callsign;
use crate::filter::{ClientSlot, Context, Facts, Filter, FilterIndex, FilterSet, IndexedClient};
use crate::packet::{Packet, Position};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Few names, so that they meet often; some are beginnings of others.
const NAMES: [&str; 9] =
    ["OH2", "OH2TI", "OH2TI-9", "oh2abc", "OH7LZB-10", "N5CAL-1", "APRS", "OBJ1", "X1"];

/// Packets of every kind.
const LINES: [&str; 16] = [
    "OH2TI>APRS,OH7LZB-10*,qAR,N5CAL-1:!6028.51N/02505.68E#",
    "OH2ABC>APRS,OH7LZB-10,OH2*,WIDE1-1,qAR,OH2TI:=6028.51N\\02505.68E#",
    "OH2>APZ001,TCPIP*,qAC,T2X:!6028.51NT02505.68E>",
    "oh2abc>APRS-1,qAr,N5CAL-1:>status",
    "X1>APRS,qAU,X1:T#931,113,000,000,000,000,00000000",
    "OH2TI-9>APRS,qAO,OH2TI-9:;OBJ1     *090902z6010.78N/02451.11E-",
    "N5CAL-1>APRS,qAS,OH7LZB-10:)OBJ1!4903.50N/07201.75WA",
    "N5CAL-1>APRS,qAR,OH2TI::OH2TI    :hello{1",
    "X1>APRS,TCPIP*,qAC,T2X::OH2      :?APRSD",
    "N5CAL-1>APRS,TCPIP*,qAC,T2X:}OH2TI>APRS,WIDE1-1,N5CAL-1*:>inside",
    "N5CAL-1>APRS,TCPIP*,qAC,T2X:}OH7LZB-10>APRS,WIDE1-1,N5CAL-1*::OH2TI    :hello{1",
    "OH2TI>APRS,qAo,SRV:_10090556c220s004g005t077r000p000P000h50b09900",
    "OH2>APRS,qAX,SRV:@100857z5241.73N/00611.14E_086/002g008t064r000h63b10102",
    "OH7LZB-10>APRS,qAI,SRV,X1:{Q1qwerty",
    "OH7LZB-10>OH2TI,qAZ,SRV:<IGATE,MSG_CNT=1",
    "X1>APRS,qAR,OH2:!6028.51N/02505.68E-",
];

#[derive(Clone, Debug)]
enum Step {
    Insert { slot: u32, forced: String, user: String, login: &'static str, said: Option<Position> },
    Remove { slot: u32 },
    Moved { name: &'static str, position: Option<Position> },
    ClientMoved { slot: u32, position: Position },
    Packet { line: usize, facts: Facts },
}

/// Places of all kinds, most where the grid, poles and date line make it hard.
fn position() -> impl Strategy<Value = Position> {
    let latitude = prop_oneof![
        3 => prop::sample::select(vec![-90.0, -89.99, -60.0, 0.0, 59.999, 60.0, 89.5, 90.0]),
        2 => -90.0..=90.0_f32,
        1 => 59.0..=61.0_f32,
    ];
    let longitude = prop_oneof![
        3 => prop::sample::select(vec![-180.0, -179.99, -90.0, 0.0, 24.999, 25.0, 179.99, 180.0]),
        2 => -180.0..=180.0_f32,
        1 => 24.0..=26.0_f32,
    ];
    (latitude, longitude).prop_map(|(latitude, longitude)| Position { latitude, longitude })
}

fn km() -> impl Strategy<Value = f32> {
    prop_oneof![
        prop::sample::select(vec![0.1, 1.0, 111.2, 5000.0, 10_007.9, 10_008.1, 20_015.0, 30_000.0]),
        0.1..200.0_f32,
        0.1..20_000.0_f32,
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(NAMES.as_slice())
}

fn names() -> impl Strategy<Value = String> {
    let one = (name(), 1..9_usize, any::<bool>()).prop_map(|(name, len, starred)| {
        if starred { format!("{}*", &name[..len.min(name.len())]) } else { name.to_owned() }
    });
    prop::collection::vec(one, 1..4).prop_map(|names| names.join("/"))
}

fn term() -> impl Strategy<Value = String> {
    let types = "[poimqstunwc*]{1,3}";
    let term = prop_oneof![
        3 => (position(), km())
            .prop_map(|(at, km)| format!("r/{}/{}/{km}", at.latitude, at.longitude)),
        2 => (position(), position()).prop_map(|(one, other)| {
            let (north, south) = (one.latitude.max(other.latitude), one.latitude.min(other.latitude));
            let (west, east) =
                (one.longitude.min(other.longitude), one.longitude.max(other.longitude));
            format!("a/{north}/{west}/{south}/{east}")
        }),
        3 => ("[bdegou]", names()).prop_map(|(letter, names)| format!("{letter}/{names}")),
        1 => names().prop_map(|names| format!("p/{}", names.replace('*', ""))),
        2 => (name(), km()).prop_map(|(name, km)| format!("f/{name}/{km}")),
        2 => km().prop_map(|km| format!("m/{km}")),
        1 => types.prop_map(|types| format!("t/{types}")),
        1 => (types, "OH2TI|N5CAL-1|OBJ1", km())
            .prop_map(|(types, name, km)| format!("t/{types}/{name}/{km}")),
        1 => "q/[CXUoOSrRZI]{0,3}(/I)?".boxed(),
        1 => "s/[-#>]{0,2}(/[-#>_]{1,2}(/[TN])?)?".boxed(),
    ];
    (prop::bool::weighted(0.2), term).prop_map(
        |(excludes, term)| {
            if excludes { format!("-{term}") } else { term }
        },
    )
}

fn filter() -> impl Strategy<Value = String> {
    prop::collection::vec(term(), 0..5).prop_map(|terms| terms.join(" "))
}

fn step() -> impl Strategy<Value = Step> {
    let slot = || 0..24_u32;
    prop_oneof![
        4 => (slot(), prop_oneof![4 => Just(String::new()), 1 => filter()], filter(), name(),
              prop::option::weighted(0.3, position()))
            .prop_map(|(slot, forced, user, login, said)| Step::Insert {
                slot, forced, user, login, said
            }),
        1 => slot().prop_map(|slot| Step::Remove { slot }),
        2 => (name(), prop::option::weighted(0.9, position()))
            .prop_map(|(name, position)| Step::Moved { name, position }),
        1 => (slot(), position())
            .prop_map(|(slot, position)| Step::ClientMoved { slot, position }),
        6 => (0..LINES.len(), prop::option::weighted(0.8, position()), any::<(bool, bool)>())
            .prop_map(|(line, position, (from_igate, from_weather_station))| Step::Packet {
                line,
                facts: Facts { position, from_igate, from_weather_station },
            }),
    ]
}

/// Expected content of the index, in the simplest form.
#[derive(Default)]
struct Model {
    clients: BTreeMap<ClientSlot, IndexedClient>,
    positions: HashMap<String, Position>,
}

struct Known<'a>(&'a Model, &'a IndexedClient);

impl Context for Known<'_> {
    fn position_of(&self, name: &[u8]) -> Option<Position> {
        self.0.position_of(name)
    }

    fn own_position(&self) -> Option<Position> {
        self.1.position.or_else(|| self.0.position_of(self.1.login.as_bytes()))
    }
}

impl Model {
    fn position_of(&self, name: &[u8]) -> Option<Position> {
        self.positions.get(&String::from_utf8_lossy(name).to_uppercase()).copied()
    }

    fn matches(&self, packet: &Packet, facts: Facts) -> BTreeSet<ClientSlot> {
        let matches =
            |client: &IndexedClient| client.filters.matches(packet, facts, &Known(self, client));
        self.clients.iter().filter(|(_, client)| matches(client)).map(|(slot, _)| *slot).collect()
    }
}

fn parsed(text: &str) -> Option<Arc<Filter>> {
    let filter = Filter::parse(text).unwrap();
    (!filter.is_empty()).then(|| Arc::new(filter))
}

fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let packets = LINES.map(packet);
    let mut model = Model::default();
    let mut index = FilterIndex::new(1);
    for step in steps {
        match step {
            Step::Insert { slot, forced, user, login, said } => {
                let client = IndexedClient {
                    filters: Arc::new(FilterSet { forced: parsed(&forced), user: parsed(&user) }),
                    login: Callsign::new(login.as_bytes()).unwrap(),
                    position: said,
                };
                index.insert(ClientSlot(slot), client.clone(), &|name| model.position_of(name));
                model.clients.insert(ClientSlot(slot), client);
            }
            Step::Remove { slot } => {
                index.remove(ClientSlot(slot));
                model.clients.remove(&ClientSlot(slot));
            }
            Step::Moved { name, position } => {
                index.moved(name.as_bytes(), position);
                match position {
                    Some(position) => model.positions.insert(name.to_uppercase(), position),
                    None => model.positions.remove(&name.to_uppercase()),
                };
            }
            Step::ClientMoved { slot, position } => {
                index.client_moved(ClientSlot(slot), position);
                if let Some(client) = model.clients.get_mut(&ClientSlot(slot)) {
                    client.position = Some(position);
                }
            }
            Step::Packet { line, facts } => {
                let mut found = Vec::new();
                index.matches(&packets[line], facts, &mut found);
                let once: BTreeSet<_> = found.iter().copied().collect();
                prop_assert_eq!(once.len(), found.len(), "a client was found twice");
                prop_assert_eq!(once, model.matches(&packets[line], facts));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        max_shrink_iters: 4000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Some 100 steps each: 30,000 packets among up to 24 clients, who come, change and go.
    #[test]
    fn the_index_finds_what_the_walk_finds(steps in prop::collection::vec(step(), 100..300)) {
        run(steps)?;
    }
}

#[test]
fn nothing_is_left_of_clients_that_are_gone() {
    let mut index = FilterIndex::new(1);
    let text = "r/60/25/100 a/61/20/60/25 b/OH2TI/OH7* p/N t/pw q/C/I s/-/#/T f/OH2TI/50 m/20 -t/w";
    let filters = Arc::new(FilterSet { forced: None, user: parsed(text) });
    let login = Callsign::new(b"N5CAL-1").unwrap();
    for slot in 0..100 {
        let client = IndexedClient { filters: Arc::clone(&filters), login, position: None };
        let somewhere = Position { latitude: 60.0, longitude: 25.0 };
        index.insert(ClientSlot(slot), client, &|_| Some(somewhere));
    }
    for slot in 0..100 {
        index.remove(ClientSlot(slot));
    }
    assert_eq!(index.size(), Default::default());
}

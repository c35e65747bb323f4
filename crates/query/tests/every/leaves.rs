//! Questions about leaves of a class, which are answered from linked rows alone where chains are linked.

use super::{Answers, part, told};
use chronoscope_query::{
    ChainOrder, QueryEnvironment, Question, Raster, StoreLocation, list_chains, scatter,
};
use chronoscope_statistics::Scale;

/// How much is asked about the leaves of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every question in every form.
    All,
    /// Every question once in each way in which a store can be asked about leaves.
    EachWay,
    /// In each of these ways, durations with their points and lengths alone.
    Few,
}

impl Extent {
    fn asks(self, name: &str) -> bool {
        self != Self::Few || ["to c", "some lengths alone"].contains(&name)
    }

    fn pictures(self) -> &'static [(Scale, usize)] {
        let all = &[(Scale::Linear, 30), (Scale::Log, 30), (Scale::Log, 4000)];
        if self == Self::All { all } else { &all[1..2] }
    }

    fn lists(self) -> Vec<(ChainOrder, usize)> {
        let orders = [ChainOrder::Longest, ChainOrder::Shortest, ChainOrder::First];
        match self {
            Self::All => orders.iter().flat_map(|order| [(*order, 1), (*order, 50)]).collect(),
            Self::EachWay | Self::Few => vec![(ChainOrder::Longest, 50)],
        }
    }
}

/// The answers that are made of linked rows alone where chains are linked: durations to leaves of a
/// class, pictures of them, and lists of their chains.
pub fn leaf_answers(location: &StoreLocation, extent: Extent) -> Answers {
    let mut answers = Answers::default();
    let (limits, progress, cache) = Default::default();
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    location
        .with(|view| {
            answers = Answers::default();
            for (name, question) in leaf_questions() {
                if !extent.asks(name) {
                    continue;
                }
                answers.add(name, &told(&view.ask(&question, &limits)?));
                let rows = view.leaf_rows_of(&question, true, &limits, &progress)?;
                let raster = Raster { width: 20, height: 30, scale: Scale::Linear };
                let mut picture = scatter(&rows, &question, raster, &asking)?;
                picture.rows_read = 0;
                answers.add(format!("{name}, picture"), &picture);
                let order = (ChainOrder::Longest, 50);
                let chains = list_chains(&rows, &question, order, &asking)?;
                answers.add(format!("{name}, longest"), &chains);
                answers.add(format!("{name}, again"), &told(&view.ask_again(&question, &asking)?));
                for &(scale, height) in extent.pictures() {
                    let raster = Raster { width: 20, height, scale };
                    let mut picture = view.scatter(&question, raster, &asking)?;
                    picture.rows_read = 0;
                    answers.add(format!("{name}, {scale:?} picture of the store"), &picture);
                }
                for (order, limit) in extent.lists() {
                    let chains = view.list_chains(&question, (order, limit), &asking)?;
                    answers.add(format!("{name}, {limit} {order:?} of the store"), &chains);
                }
            }
            Ok(())
        })
        .unwrap();
    answers
}

/// All durations of a question about leaves with their chains, as one answer.
pub fn listed(location: &StoreLocation, question: &Question) -> String {
    let (limits, progress, cache) = Default::default();
    let asking = QueryEnvironment { limits: &limits, progress: &progress, cache: &cache };
    let listed = location.with(|view| {
        let rows = view.leaf_rows_of(question, true, &limits, &progress)?;
        Ok(list_chains(&rows, question, (ChainOrder::Longest, 100_000), &asking)?)
    });
    format!("{:?}", listed.unwrap())
}

/// Questions about leaves of a class below their chain's own root.
pub fn leaf_questions() -> [(&'static str, Question); 6] {
    let lengths = |leaf| Question { limit_ns: Some(500), ..Question::acpd("X::a", leaf) };
    let acpd =
        |leaf| Question { limit_ns: Some(500), points: true, ..Question::acpd("X::a", leaf) };
    [
        ("to c", acpd("c")),
        ("to d on hosts", Question { hosts: vec!["two".into()], ..acpd("Y::d") }),
        ("lengths to c", Question { duration_ns: 200..=700, ..acpd("c") }),
        ("to c in a part", Question { start_ns: part(), ..acpd("c") }),
        ("lengths alone", lengths("c")),
        ("some lengths alone", {
            let hosts = vec!["two".into(), "three".into()];
            Question { hosts, duration_ns: 100..=600, start_ns: part(), ..lengths("d") }
        }),
    ]
}

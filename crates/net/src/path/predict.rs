//! Response time of a path from its elements.

use super::Shape;
use super::parts::PathElement;
use super::queue::{UTILISATION_MAX, waiting};
use super::topology::{ElementKind, Service, Sizes};
use chronoscope_statistics::{Quantile, Random, quantile_deviation, quantile_ranks};
use serde::Serialize;

/// Cells of the grids on which delays are added. With the 99th percentiles of all elements on it, a
/// cell is a thousandth of what varies at all.
const CELLS: usize = 1024;
/// Delays above this quantile of an element are put at the end of the grid: the median and the 90th
/// percentile of the sum do not see how late they were.
const GRID_SHARE: f64 = 0.99;
/// Rounds of the iteration that finds an element's own delay; further ones follow noise.
const ROUNDS: usize = 40;
/// Number of bootstrap draws of the probes for the error band.
const DRAWS: usize = 200;

/// Predicted duration of a round trip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// Median, in nanoseconds.
    pub p50_ns: f64,
    /// 90th percentile, in nanoseconds.
    pub p90_ns: f64,
    /// Band of the median with 95 % confidence, given the uncertainty of probes and utilisations.
    pub p50_band_ns: [f64; 2],
    /// Band of the 90th percentile with 95 % confidence.
    pub p90_band_ns: [f64; 2],
    /// Prediction for each element.
    pub parts: Vec<ElementPrediction>,
    /// Sum of all elements: `fixed_ns`, and cells of `cell_ns` on top.
    #[serde(skip)]
    total: Total,
}

/// The distribution of the sum.
#[derive(Clone, Debug, PartialEq)]
struct Total {
    fixed_ns: f64,
    shape: Shape,
    cell_ns: f64,
}

impl Total {
    fn quantile(&self, share: f64) -> f64 {
        self.fixed_ns + self.shape.quantile(share) as f64 * self.cell_ns
    }
}

impl Prediction {
    /// Bands of median and 90th percentile of `count` measured round trips with 95 % confidence:
    /// the chance error of so few round trips is added to the prediction's own uncertainty
    /// (independent: as the root of squares). Round trips have to be apart by more than the queues'
    /// memory.
    #[must_use]
    pub fn bands_of_ns(&self, count: usize) -> [[f64; 2]; 2] {
        let each = [(0.5, self.p50_ns, self.p50_band_ns), (0.9, self.p90_ns, self.p90_band_ns)];
        each.map(|(share, value, [low, high])| {
            let (least, most) = quantile_ranks(count, share, 0.025);
            let at =
                |rank: usize| self.total.quantile((rank as f64 / count.max(1) as f64).min(1.0));
            let by_chance = [value - at(least.unwrap_or(0)), at(most) - value];
            [value - (value - low).hypot(by_chance[0]), value + (high - value).hypot(by_chance[1])]
        })
    }
}

/// Predicted part of one element in a round trip.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ElementPrediction {
    /// Name of the element.
    pub name: String,
    /// Kind of the element.
    pub kind: ElementKind,
    /// Name of its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Median part when it is idle, in nanoseconds.
    pub p50_ns: f64,
    /// 90th percentile of it, in nanoseconds.
    pub p90_ns: f64,
    /// Mean wait for its queues, both ways, in nanoseconds.
    pub waiting_ns: f64,
    /// Share of the time in which other traffic occupies it, on the way of the request and of the
    /// reply.
    pub utilisation: [f64; 2],
}

/// The round trip over `parts`.
#[must_use]
pub fn predict(parts: &[PathElement]) -> Prediction {
    let cell_ns = cell_ns(parts);
    let alone: Vec<Alone> = parts.iter().map(|part| Alone::new(part, cell_ns)).collect();
    let total = |error| Total::new(parts, &alone, error, cell_ns);
    let (middle, least, most) = (total(0.0), total(-1.0), total(1.0));
    let band = |share, quantile| {
        let value = middle.quantile(share);
        let [low, high] = spread(parts, quantile);
        // Half a cell is what the grid leaves open.
        let below = (value - least.quantile(share)).max(0.0).hypot(low) + cell_ns / 2.0;
        let above = (most.quantile(share) - value).max(0.0).hypot(high) + cell_ns / 2.0;
        [value - below, value + above]
    };
    Prediction {
        p50_ns: middle.quantile(0.5),
        p90_ns: middle.quantile(0.9),
        p50_band_ns: band(0.5, Quantile::P50),
        p90_band_ns: band(0.9, Quantile::P90),
        parts: parts
            .iter()
            .zip(&alone)
            .map(|(part, alone)| alone.prediction(part, cell_ns))
            .collect(),
        total: middle,
    }
}

impl Total {
    /// `error` in `[-1, 1]` is how far utilisations are taken to be wrong.
    fn new(parts: &[PathElement], alone: &[Alone], error: f64, cell_ns: f64) -> Self {
        let mut shape = Shape::none(CELLS);
        for (part, alone) in parts.iter().zip(alone) {
            shape = shape.plus(&alone.shape);
            for wait in part.waits(error, cell_ns) {
                shape = shape.plus(&wait);
            }
        }
        let fixed_ns = alone.iter().map(|alone| alone.fixed_ns).sum();
        Self { fixed_ns, shape, cell_ns }
    }
}

/// Width of a cell that leaves room for all variation.
fn cell_ns(parts: &[PathElement]) -> f64 {
    let span = |part: &PathElement| {
        let jitter = part.delay.jitter.as_ref();
        let last = jitter.map_or(0.0, |jitter| at_share(&jitter.with_ns, GRID_SHARE));
        let waits: f64 = part
            .queues(1.0)
            .map(|(service, utilisation)| service.waiting_span_ns(utilisation))
            .sum();
        last + waits
    };
    let span_ns: f64 = parts.iter().map(span).sum();
    (span_ns / (CELLS - 1) as f64).max(1.0)
}

fn at_share(ascending: &[f64], share: f64) -> f64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a rank
    let rank = (ascending.len() as f64 * share).ceil() as usize;
    ascending.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// Delay of one element by itself, on the grid.
struct Alone {
    fixed_ns: f64,
    shape: Shape,
}

impl Alone {
    fn new(part: &PathElement, cell_ns: f64) -> Self {
        let fixed_ns = part.delay.fixed_ns;
        let Some(jitter) = &part.delay.jitter else {
            return Self { fixed_ns, shape: Shape::none(CELLS) };
        };
        let with = Shape::of(jitter.with_ns.iter().copied(), cell_ns, CELLS);
        if jitter.without_ns.is_empty() {
            return Self { fixed_ns, shape: with };
        }
        let without = Shape::of(jitter.without_ns.iter().copied(), cell_ns, CELLS);
        // The shortest of few round trips is a matter of luck. Room below it is made by as much as
        // the typical one without the element is above its own shortest.
        let slack = without.quantile(0.5);
        let with =
            Shape::of(jitter.with_ns.iter().map(|ns| ns + slack as f64 * cell_ns), cell_ns, CELLS);
        let shape = with.without(&without, ROUNDS);
        // The iteration comes near; the median is made right.
        let made = shape.plus(&without).quantile(0.5) as f64;
        let missing = with.quantile(0.5) as f64 - made - slack as f64;
        Self { fixed_ns: fixed_ns + missing * cell_ns, shape }
    }

    fn prediction(&self, part: &PathElement, cell_ns: f64) -> ElementPrediction {
        let at = |share| self.fixed_ns + self.shape.quantile(share) as f64 * cell_ns;
        ElementPrediction {
            name: part.name.clone(),
            kind: part.kind,
            type_name: part.type_name.clone(),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            waiting_ns: part.queues(0.0).map(|(service, share)| service.waiting_ns(share)).sum(),
            utilisation: part.utilisation,
        }
    }
}

impl PathElement {
    /// The queues in front of it that are not always empty; `error` in `[-1, 1]` is how far the
    /// utilisation is taken to be wrong.
    fn queues(&self, error: f64) -> impl Iterator<Item = (Service, f64)> {
        let service = self.service;
        let more = error * self.utilisation_error;
        let shares = self.utilisation.map(|share| (share + more).clamp(0.0, UTILISATION_MAX));
        shares
            .into_iter()
            .filter_map(move |share| Some((service?, share)).filter(|(_, share)| *share > 0.0))
    }

    fn waits(&self, error: f64, cell_ns: f64) -> Vec<Shape> {
        let wait = |(service, share): (Service, f64)| waiting(&service.shape(cell_ns), share);
        self.queues(error).map(wait).collect()
    }
}

impl Service {
    /// Mean service time, in nanoseconds.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        (self.packet_us + self.octet_us * self.octets) * 1e3
    }

    /// Mean square of the service time, in square nanoseconds.
    fn mean_square(&self) -> f64 {
        let vary_ns = self.octet_us * self.octets * 1e3;
        match self.sizes {
            Sizes::Fixed => self.mean_ns().powi(2),
            Sizes::Exponential => self.mean_ns().powi(2) + vary_ns.powi(2),
        }
    }

    /// Mean wait where so large a share of the time is busy (Pollaczek and Khinchine).
    #[must_use]
    pub fn waiting_ns(&self, utilisation: f64) -> f64 {
        let share = utilisation.clamp(0.0, UTILISATION_MAX);
        match self.mean_ns() {
            0.0 => 0.0,
            mean_ns => share * self.mean_square() / (2.0 * mean_ns * (1.0 - share)),
        }
    }

    /// Waits are rarely longer: those of an exponential tail with the same mean.
    fn waiting_span_ns(&self, utilisation: f64) -> f64 {
        const NINES: f64 = 4.6; // − ln 0.01
        let share = utilisation.clamp(0.01, UTILISATION_MAX);
        (self.waiting_ns(share) / share * NINES).max(self.mean_ns())
    }

    /// Distribution of service times.
    fn shape(&self, cell_ns: f64) -> Shape {
        let packet_ns = self.packet_us * 1e3;
        let vary_ns = self.octet_us * self.octets * 1e3;
        match self.sizes {
            Sizes::Fixed => Shape::of([self.mean_ns()], cell_ns, CELLS),
            Sizes::Exponential if vary_ns == 0.0 => Shape::of([packet_ns], cell_ns, CELLS),
            Sizes::Exponential => {
                // As many equally likely values as there are cells.
                let value = |n: usize| {
                    let share = (n as f64 + 0.5) / CELLS as f64;
                    packet_ns - vary_ns * (1.0 - share).ln()
                };
                Shape::of((0..CELLS).map(value), cell_ns, CELLS)
            }
        }
    }
}

/// Uncertainty of a quantile of the sum because of the limited number of probes: probes are drawn
/// anew from the measured ones (B. Efron's bootstrap, 1979), and the elements' deviations added; 95
/// of 100 are within it.
fn spread(parts: &[PathElement], quantile: Quantile) -> [f64; 2] {
    // The same draws every time: a prediction is a function of its measurements.
    let mut random = Random(0x5eed);
    let mut deviations = [0.0; DRAWS];
    for jitter in parts.iter().filter_map(|part| part.delay.jitter.as_ref()) {
        for deviation in &mut deviations {
            *deviation += quantile_deviation(&mut random, &jitter.with_ns, quantile);
            *deviation -= quantile_deviation(&mut random, &jitter.without_ns, quantile);
        }
    }
    deviations.sort_by(f64::total_cmp);
    let (low, high) = (DRAWS * 25 / 1000, DRAWS * 975 / 1000 - 1);
    [deviations[low].min(0.0), deviations[high].max(0.0)]
}

#[cfg(test)]
mod tests {
    use super::super::element::AtSize;
    use super::super::parts::{PathChange, parts};
    use super::super::topology::{ElementType, Topology};
    use super::*;
    use chronoscope_statistics::nearest_rank;

    /// Random delays, in nanoseconds.
    struct World(Random);

    impl World {
        fn share(&mut self) -> f64 {
            self.0.share()
        }

        fn random(&mut self, mean_ns: f64) -> f64 {
            self.0.exponential(mean_ns)
        }

        fn hosts(&mut self) -> f64 {
            400_000.0 + self.random(100_000.0)
        }

        /// A gateway that mostly takes 4 ms, and now and then 6.
        fn slow(&mut self) -> f64 {
            let more = if self.share() < 0.3 { 2e6 } else { 0.0 };
            4e6 + more + self.random(200_000.0)
        }

        fn fast(&mut self) -> f64 {
            1e6 + self.random(500_000.0)
        }

        fn many(&mut self, count: usize, one: impl Fn(&mut Self) -> f64) -> Vec<u64> {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            (0..count).map(|_| one(self) as u64).collect()
        }
    }

    fn network(world: &mut World, probes: usize) -> Topology {
        let host = world.many(probes, World::hosts);
        let slow = world.many(probes, |w| w.hosts() + w.slow());
        let fast = world.many(probes, |w| w.hosts() + w.fast());
        let without = world.many(probes, World::hosts);
        let mut topology = Topology::read(
            r#"
            [types]
            wire = { kind = "link" }
            slow = { kind = "gateway" }
            fast = { kind = "gateway" }
            pc = { kind = "host" }
            [segments]
            one = { type = "wire" }
            two = { type = "wire" }
            three = { type = "wire" }
            [joints]
            first = { type = "slow", joins = ["one", "two"] }
            second = { type = "fast", joins = ["two", "three"] }
            [hosts]
            a = { type = "pc", segment = "one" }
            b = { type = "pc", segment = "three" }
            "#,
            None,
        )
        .unwrap();
        let mut measured =
            |name: &str, at| topology.types.get_mut(name).unwrap().measured = vec![at];
        measured("pc", AtSize::new(64, host, vec![]));
        measured("slow", AtSize::new(64, slow, without.clone()));
        measured("fast", AtSize::new(64, fast, without));
        topology
    }

    fn near(found: f64, expected: f64, share: f64) {
        assert!((found - expected).abs() < share * expected, "{found} for {expected}");
    }

    /// A path through two gateways that were only ever measured one by one.
    #[test]
    fn a_path_is_the_sum_of_its_elements() {
        let mut world = World(Random(1));
        let mut measured = world.many(20_000, |w| w.hosts() + w.slow() + w.fast());
        measured.sort_unstable();
        for seed in 2..12 {
            let topology = network(&mut World(Random(seed)), 300);
            let prediction = predict(&parts(&topology, "a", "b", 64, &[]).unwrap());
            let true_ns = |q| nearest_rank(&measured, q).unwrap() as f64;
            near(prediction.p50_ns, true_ns(Quantile::P50), 0.05);
            near(prediction.p90_ns, true_ns(Quantile::P90), 0.05);
            assert!(prediction.p50_band_ns[0] <= prediction.p50_ns);
            assert!(prediction.p90_band_ns[1] >= prediction.p90_ns);
        }
    }

    /// Of 100 networks measured anew, the true values are within the band about as often as said.
    #[test]
    fn the_band_holds_what_it_says() {
        let mut world = World(Random(1));
        let mut measured = world.many(20_000, |w| w.hosts() + w.slow() + w.fast());
        measured.sort_unstable();
        let [true50, true90] =
            [Quantile::P50, Quantile::P90].map(|q| nearest_rank(&measured, q).unwrap() as f64);
        let mut within = [0; 2];
        for seed in 100..140 {
            let topology = network(&mut World(Random(seed)), 200);
            let found = predict(&parts(&topology, "a", "b", 64, &[]).unwrap());
            let holds = |[low, high]: [f64; 2], value| u32::from(low <= value && value <= high);
            within[0] += holds(found.p50_band_ns, true50);
            within[1] += holds(found.p90_band_ns, true90);
        }
        assert!(within[0] >= 34 && within[1] >= 34, "{within:?} of 40");
    }

    /// Of 60 series of 80 round trips, most are within the band that is said for 80.
    #[test]
    fn the_band_of_a_sample_holds_what_it_says() {
        let mut world = World(Random(5));
        let found = predict(&parts(&network(&mut world, 300), "a", "b", 64, &[]).unwrap());
        let bands = found.bands_of_ns(80);
        let mut within = [0; 2];
        for _ in 0..60 {
            let mut series = world.many(80, |w| w.hosts() + w.slow() + w.fast());
            series.sort_unstable();
            for (index, quantile) in [Quantile::P50, Quantile::P90].into_iter().enumerate() {
                let value = nearest_rank(&series, quantile).unwrap() as f64;
                let [low, high] = bands[index];
                within[index] += u32::from(low <= value && value <= high);
            }
        }
        assert!(within.iter().all(|count| *count >= 54), "{within:?} of 60");
        // Many more come nearer: the band of the whole population is the narrowest.
        assert!(found.bands_of_ns(100_000)[0][0] > bands[0][0]);
        assert!(found.bands_of_ns(100_000)[0][0] <= found.p50_band_ns[0]);
    }

    #[test]
    fn what_if() {
        let topology = network(&mut World(Random(7)), 300);
        let median = |changes: &[PathChange]| {
            predict(&parts(&topology, "a", "b", 64, changes).unwrap()).p50_ns
        };
        let now = median(&[]);
        let replace = PathChange::Replace { element: "first".into(), by: "fast".into() };
        assert!(median(&[replace]) < now - 2e6);
        let add = PathChange::Add { type_name: "slow".into() };
        assert!(median(&[add]) > now + 4e6);
        let unknown = PathChange::Replace { element: "third".into(), by: "fast".into() };
        let error = parts(&topology, "a", "b", 64, &[unknown]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(r#"element "third", which does not exist (there is a, b, one"#),
            "{error}"
        );
    }

    /// The wait of an M/M/1 queue: with utilisation 0.8 its mean is 4 service times, and
    /// P(W > t) = 0.8 e^(−0.2 t).
    #[test]
    fn a_busy_gateway_is_waited_for() {
        let mut topology = network(&mut World(Random(7)), 300);
        let service =
            Service { packet_us: 0.0, octet_us: 1.0, octets: 1000.0, sizes: Sizes::Exponential };
        let host = topology.types.get_mut("pc").unwrap();
        host.measured.clear();
        let gateway = topology.types.get_mut("slow").unwrap();
        gateway.measured.clear();
        gateway.service = Some(service);
        topology.types.get_mut("fast").unwrap().measured.clear();
        topology.joints.get_mut("first").unwrap().utilisation =
            super::super::topology::Utilisation::Each([0.4, 0.0]);
        let at = |factor| {
            predict(&parts(&topology, "a", "b", 64, &[PathChange::Load { factor }]).unwrap())
        };
        assert_eq!(at(0.0).p90_ns, 0.0);
        let busy = at(2.0);
        near(busy.parts[2].waiting_ns, 4e6, 1e-6);
        near(busy.p50_ns, 1e6 * 1.6f64.ln() / 0.2, 0.03);
        near(busy.p90_ns, 1e6 * 8f64.ln() / 0.2, 0.03);
    }

    /// Two kinds of host: half a round trip on each.
    #[test]
    fn hosts_of_two_types() {
        let mut topology = network(&mut World(Random(7)), 300);
        let mut entered = |name: &str, delay_us| {
            let kind =
                ElementType { delay_us: Some(delay_us), ..ElementType::new(ElementKind::Host) };
            topology.types.insert(name.to_owned(), kind);
        };
        entered("i80286", 90_000.0);
        entered("i80386", 60_000.0);
        let change = |element: &str, by: &str| PathChange::Replace {
            element: element.into(),
            by: by.into(),
        };
        let hosts = |changes: &[PathChange]| {
            let found = predict(&parts(&topology, "a", "b", 64, changes).unwrap());
            (found.parts[0].p50_ns, found.parts[0].type_name.clone())
        };
        assert_eq!(hosts(&[change("a", "i80286"), change("b", "i80286")]), (90e6, "i80286".into()));
        assert_eq!(
            hosts(&[change("a", "i80286"), change("b", "i80386")]),
            (75e6, "i80286, i80386".into())
        );
    }
}

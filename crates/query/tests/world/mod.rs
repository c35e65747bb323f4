//! Chains at random, with all that happens to chains: rows that are missing, clocks that disagree,
//! ancestors dropped on the way, chains without ancestors, and such below others.
#![allow(dead_code, unreachable_pub)] // every test uses some of it
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)] // a test may panic

use chronoscope_model::context::{self, ContextEntry};
use chronoscope_model::{
    Batch, ChainId, ClassId, ClassName, Flags, FurtherParent, NO_PROCESS_CPU, Names, ParentRoot,
    PathId, ProcessId, ProcessName, Record, TransactionId,
};
use chronoscope_query::{LeafLevel, Question};
use chronoscope_store::{Append, ChainAlias, Loss, MINUTE_NS, Options, Store};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The classes: roots are of the first and nothing else is.
pub const CLASSES: [(&str, &str); 5] = [("X", "a"), ("X", "b"), ("Y", "c"), ("Y", "d"), ("Y", "e")];

/// The hosts; the first is that of every root.
pub const HOSTS: [&str; 3] = ["one", "two", "three"];

/// A process on a host, by its number there.
pub fn process(host: usize) -> ProcessName {
    let application = "X".to_owned();
    ProcessName { application, host: HOSTS[host].to_owned(), pid: 7, start_ns: 1 }
}

/// Questions of every kind; durations between two classes have a limit.
pub fn questions(limit_ns: Option<u64>) -> Vec<(&'static str, Question)> {
    let acpd = |root, leaf| Question { points: true, limit_ns, ..Question::acpd(root, leaf) };
    let minute = 101 * MINUTE_NS..102 * MINUTE_NS;
    vec![
        ("any level", acpd("X::a", "c")),
        ("level 2", Question { level: LeafLevel::Exactly(2), ..acpd("a", "Y::c") }),
        ("every leaf", Question { leaf: None, ..acpd("a", "") }),
        ("an inner root", acpd("X::b", "Y::c")),
        ("an inner root at a level", Question { level: LeafLevel::Exactly(1), ..acpd("b", "d") }),
        ("split", Question { split: true, ..acpd("a", "d") }),
        ("an inner root, split", Question { split: true, ..acpd("b", "c") }),
        ("a minute", Question { start_ns: minute.clone(), ..acpd("a", "c") }),
        ("a minute of an inner root", Question { start_ns: minute.clone(), ..acpd("b", "c") }),
        ("whole chains", Question { points: true, ..Question::apcd("a") }),
        ("whole inner chains", Question { points: true, ..Question::apcd("X::b") }),
        ("each for itself", Question { points: true, ..Question::sync("Y::c") }),
        ("each of a minute", Question { start_ns: minute, points: true, ..Question::sync("d") }),
        ("nothing", acpd("a", "nobody")),
    ]
}

/// Rows and the words for them.
pub struct World {
    pub names: Names,
    pub records: Vec<Record>,
    /// Properties and metrics by the row's id.
    pub said: HashMap<u64, Said>,
    /// Chains whose rows belong to others.
    pub aliases: Vec<ChainAlias>,
    /// When rows of processes were lost.
    pub losses: Vec<Loss>,
    /// Up to when processes have delivered.
    pub delivered: Vec<(ProcessId, i64)>,
    random: u64,
}

/// What a row says of itself.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub properties: Vec<(String, String)>,
    pub metrics: Vec<(String, f64)>,
    pub links: Vec<FurtherParent>,
}

impl Said {
    fn context(&self) -> Vec<u8> {
        let properties =
            self.properties.iter().map(|(key, text)| ContextEntry::Property(key, text));
        let metrics = self.metrics.iter().map(|(key, number)| ContextEntry::Metric(key, *number));
        let (mut bytes, mut len) = (vec![0; 1000], 0);
        let links = self.links.iter().map(|link| ContextEntry::Parent(*link));
        for entry in properties.chain(metrics).chain(links) {
            len = context::append(&mut bytes, len, entry).unwrap();
        }
        bytes.truncate(len);
        bytes
    }
}

impl World {
    /// `chains` chains over three minutes.
    pub fn new(seed: u64, chains: u64) -> Self {
        let mut world = Self::of(Names::default(), Vec::new());
        world.random = seed;
        for (application, class) in CLASSES {
            world
                .names
                .add_class(ClassName { application: application.into(), class: class.into() });
        }
        for chain in 0..chains {
            let start_ns = 100 * MINUTE_NS + (3 * MINUTE_NS) * chain as i64 / chains as i64;
            world.add_chain(chain + 1, start_ns);
        }
        world
    }

    /// Other rows with all that is said besides.
    pub fn with_records(&self, records: Vec<Record>) -> Self {
        Self {
            names: self.names.clone(),
            records,
            said: self.said.clone(),
            aliases: self.aliases.clone(),
            losses: self.losses.clone(),
            delivered: self.delivered.clone(),
            random: self.random,
        }
    }

    /// The same rows on hosts: roots on the first, the others of a chain on one of the three.
    pub fn on_hosts(mut self) -> Self {
        for host in 0..HOSTS.len() {
            self.names.add_process(process(host));
        }
        for record in &mut self.records {
            let chain = record.id.0 / 100;
            let host = if record.parent.is_none() { 0 } else { chain as usize * 7 % HOSTS.len() };
            record.process = process(host).id();
            if !record.flags().contains(Flags::FOREIGN) {
                record.root_process = process(0).id();
            }
        }
        self
    }

    /// A world of these.
    pub fn of(names: Names, records: Vec<Record>) -> Self {
        let (said, aliases) = (HashMap::new(), Vec::new());
        let (losses, delivered) = (Vec::new(), Vec::new());
        Self { names, records, said, aliases, losses, delivered, random: 0 }
    }

    /// The same rows, some of which have attributes: of their own, of a resource, of a scope, the
    /// same key in several places, and numbers.
    pub fn with_attributes(mut self) -> Self {
        for id in self.records.iter().map(|record| record.id.0).collect::<Vec<_>>() {
            let mut said = Said::default();
            let texts: [(u64, &str, &[&str]); 6] = [
                (4, "tenant", &["acme", "beta", ""]),
                (6, "otel.resource.tenant", &["acme", "delta"]),
                (9, "otel.scope.attribute.tenant", &["epsilon"]),
                (12, "size", &["1", "large"]),
                (7, "otel.resource.host.name", &["elsewhere"]),
                (9, "otel.attribute.otel.mine", &["yes"]),
            ];
            for (rare, key, values) in texts {
                if self.below(rare) == 0 {
                    let value = values[self.below(values.len() as u64) as usize];
                    said.properties.push((key.to_owned(), value.to_owned()));
                }
            }
            for (rare, key) in [(5, "size"), (9, "otel.resource.size"), (5, "size")] {
                if self.below(rare) == 0 {
                    let number = [1.0, 0.5, -2.0][self.below(3) as usize];
                    said.metrics.push((key.to_owned(), number));
                }
            }
            self.said.insert(id, said);
        }
        self
    }

    /// The same rows, each with a text that nothing makes shorter.
    pub fn with_long_texts(mut self) -> Self {
        for id in self.records.iter().map(|record| record.id.0).collect::<Vec<_>>() {
            let hex = |_| format!("{:08x}", self.below(1 << 32));
            let text: String = (0..25).map(hex).collect();
            let said = self.said.entry(id).or_default();
            said.properties.push(("note".to_owned(), text));
        }
        self
    }

    /// The same rows, some of which have further parents: rows of other chains, and rows that are
    /// nowhere.
    pub fn with_links(mut self) -> Self {
        for at in 0..self.records.len() {
            if self.below(9) > 0 {
                continue;
            }
            for _ in 0..1 + self.below(3) {
                let to = self.below(self.records.len() as u64) as usize;
                let to = self.records[to];
                let nowhere = self.below(10) == 0;
                let id = if nowhere { TransactionId(7) } else { to.id };
                // A parent with ancestors tells its root's start, its level and its path.
                let root = (!to.flags().contains(Flags::FOREIGN)).then_some(ParentRoot {
                    start_ns: to.root_start_ns,
                    process: to.root_process,
                    level: to.level,
                    path: to.path,
                });
                let link = FurtherParent { chain: to.chain(), id, root };
                self.said.entry(self.records[at].id.0).or_default().links.push(link);
                self.records[at].flags |= Flags::FURTHER_PARENTS.0;
            }
        }
        self
    }

    /// The same rows, of which some foreign chains go on others.
    pub fn with_aliases(mut self) -> Self {
        let foreign = self.records.iter().filter(|row| row.flags().contains(Flags::FOREIGN));
        let foreign: Vec<ChainId> = foreign.map(Record::chain).collect();
        for _ in 0..30 {
            let [chain, continues] =
                [(); 2].map(|()| foreign[self.below(foreign.len() as u64) as usize]);
            self.aliases.push(ChainAlias { chain, continues });
        }
        self
    }

    /// The chains without foreign rows and without rows whose correlators dropped ancestors.
    pub fn native(mut self) -> Self {
        let others: HashSet<ChainId> =
            self.records.iter().filter(|row| row.flags != 0).map(Record::chain).collect();
        self.records.retain(|row| !others.contains(&row.chain()));
        self
    }

    /// The same rows without those whose correlators dropped ancestors: then a path says which leaves
    /// a question is about.
    pub fn without_dropped_ancestors(mut self) -> Self {
        self.records.retain(|record| !record.flags().contains(Flags::ANCESTORS_DROPPED));
        self
    }

    /// The same rows, of processes that have lost others: a number of them in the second minute, an
    /// unknown number long after; one that says nothing, and one that is behind.
    pub fn with_losses(mut self) -> Self {
        let [counted, uncounted, _silent] = [("Y", 1), ("X", 1), ("Y", 2)].map(|(of, host)| {
            let (application, host) = (of.to_owned(), HOSTS[host].to_owned());
            let name = ProcessName { application, host, pid: 8, start_ns: 1 };
            let id = name.id();
            self.names.add_process(name);
            id
        });
        let at = |minute: i64| minute * MINUTE_NS;
        self.losses = vec![
            Loss { process: counted, from_ns: at(101), until_ns: at(102), rows: 3 },
            Loss { process: uncounted, from_ns: at(900), until_ns: at(901), rows: 0 },
        ];
        self.delivered = vec![(counted, at(200)), (uncounted, at(101))];
        self
    }

    /// What processes have lost in all.
    pub fn lost(&self) -> Vec<(ProcessId, u64)> {
        let counted = self.losses.iter().filter(|loss| loss.rows > 0);
        counted.map(|loss| (loss.process, loss.rows)).collect()
    }

    /// Some of the rows, with all that they say.
    pub fn batch<'a>(&self, records: impl IntoIterator<Item = &'a Record>) -> Batch {
        let mut batch = Batch::default();
        for record in records {
            let said = self.said.get(&record.id.0).map(Said::context).unwrap_or_default();
            batch.push(*record, &said);
        }
        batch
    }

    /// The chains of which no row between a row and its root is missing.
    pub fn whole_chains(mut self) -> Self {
        let ids: HashSet<u64> = self.records.iter().map(|record| record.id.0).collect();
        let broken: HashSet<u64> = self
            .records
            .iter()
            .filter(|record| !record.parent.is_none() && !ids.contains(&record.parent.0))
            .map(|record| record.id.0 / 100)
            .collect();
        self.records.retain(|record| !broken.contains(&(record.id.0 / 100)));
        self
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        ((self.random >> 33) ^ (self.random >> 45)) % bound
    }

    fn add_chain(&mut self, chain: u64, root_start_ns: i64) {
        let foreign_chain = self.below(4) == 0;
        let mixed = !foreign_chain && self.below(8) == 0;
        let mut rows: Vec<(Record, Vec<ClassId>)> = Vec::new();
        for index in 0..1 + self.below(14) {
            let parent = (index > 0).then(|| self.below(index) as usize);
            let (application, class) = match parent {
                None => CLASSES[0],
                Some(_) => CLASSES[1 + self.below(4) as usize],
            };
            let class = ClassId::of(application, class);
            let above = parent.map(|parent| rows[parent].clone());
            let (mut classes, parent_start) = above
                .as_ref()
                .map_or((Vec::new(), root_start_ns), |above| (above.1.clone(), above.0.start_ns));
            classes.push(class);
            let id = TransactionId(chain * 100 + index);
            // Some start before their parents, a few even end before their roots start; a few
            // rows of foreign chains lie in the next minute.
            let late = if self.below(20) == 0 { MINUTE_NS } else { 0 };
            let start_ns = if parent.is_none() {
                root_start_ns
            } else {
                parent_start + self.below(1000) as i64 - 60 + if foreign_chain { late } else { 0 }
            };
            let below_foreign =
                above.as_ref().is_some_and(|above| above.0.flags().contains(Flags::FOREIGN));
            let foreign =
                foreign_chain || below_foreign || (mixed && parent.is_some() && self.below(3) == 0);
            let record = Record {
                start_ns,
                elapsed_ns: self.below(400),
                cpu_ns: 0,
                process_cpu_ns: NO_PROCESS_CPU,
                // Ascending, descending and equal halves.
                chain_high: chain % 3,
                chain_low: chain.wrapping_mul(0x9e37_79b9_7f4a_7c15),
                id,
                parent: above.as_ref().map_or(TransactionId::NONE, |above| above.0.id),
                class,
                path: PathId::NONE,
                root_start_ns: if foreign { start_ns } else { root_start_ns },
                root_process: ProcessId::NONE,
                process: ProcessId::NONE,
                context_offset: 0,
                context_len: 0,
                level: if foreign { 0 } else { classes.len() as u16 - 1 },
                thread: 1,
                status: 0,
                flags: if foreign { Flags::FOREIGN.0 } else { 0 },
                reserved: 0,
            };
            rows.push((record, classes));
        }
        for (mut record, classes) in rows {
            if self.below(12) == 0 {
                continue; // missing
            }
            if !record.flags().contains(Flags::FOREIGN) {
                record.path = PathId::of(&classes);
                if classes.len() > 3 && self.below(6) == 0 {
                    // Middle ancestors were dropped: root and parent are left.
                    let left = [
                        classes[0],
                        ClassId::NONE,
                        classes[classes.len() - 2],
                        *classes.last().unwrap(),
                    ];
                    record.path = PathId(record.path.0 ^ 0xd0d0);
                    record.flags |= Flags::ANCESTORS_DROPPED.0;
                    self.names.add_path(record.path, left.to_vec());
                } else {
                    self.names.add_path(record.path, classes);
                }
            }
            self.records.push(record);
        }
    }

    /// Stores the rows, mixed, in shares one after the other; every share is sealed, the last one
    /// only if it is to be.
    pub fn store(&self, dir: &Path, shares: &[f64], seal_last: bool) {
        let newest = self.records.iter().map(|record| record.start_ns).max();
        let now = newest.map_or(0, |ns| ns + 6 * MINUTE_NS).max(110 * MINUTE_NS);
        let store = Store::open(dir, Options::default(), now).unwrap();
        let mut order: Vec<&Record> = self.records.iter().collect();
        order.sort_by_key(|record| record.id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut rest = &order[..];
        for (index, share) in shares.iter().enumerate() {
            let last = index + 1 == shares.len();
            let count = if last { rest.len() } else { (order.len() as f64 * share) as usize };
            let (part, others) = rest.split_at(count);
            rest = others;
            let batch = self.batch(part.iter().copied());
            let (names, aliases) = (Some(&self.names), &self.aliases[..]);
            let (losses, lost, delivered) =
                (&self.losses[..], &self.lost()[..], &self.delivered[..]);
            let batch = Some(&batch);
            let told = Append { losses, lost, delivered, ..Append::default() };
            store.append(&Append { batch, names, aliases, ..told }, now).unwrap();
            store.sync().unwrap();
            if !last || seal_last {
                store.seal_all(now).unwrap();
            }
        }
    }
}

//! A profile in memory: names once, costs by line and by call.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A name (of a function, a file, an object) of one profile.
pub type NameId = u32;
/// A function of one profile: an index into [`Profile::functions`].
pub type FunctionId = u32;

/// Counts of the profile's events, in the order of [`Profile::events`]; zeros at the end are not
/// stored, so equal costs are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs(Vec<u64>);

impl Costs {
    /// Costs of these counts.
    pub fn new(mut counts: Vec<u64>) -> Costs {
        counts.truncate(counts.iter().rposition(|count| *count != 0).map_or(0, |last| last + 1));
        counts.shrink_to_fit();
        Costs(counts)
    }

    /// The count of the event with this index; 0 beyond those that are stored.
    pub fn get(&self, event: usize) -> u64 {
        self.0.get(event).copied().unwrap_or(0)
    }

    /// The counts, without zeros at the end.
    pub fn counts(&self) -> &[u64] {
        &self.0
    }

    /// Adds `other`; `None`, and nothing usable in `self`, when a count would exceed 64 bits.
    #[must_use]
    pub fn add(&mut self, other: &Costs) -> Option<()> {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (sum, count) in self.0.iter_mut().zip(&other.0) {
            *sum = sum.checked_add(*count)?;
        }
        Some(())
    }
}

/// The names of a profile, each stored once.
#[derive(Clone, Debug, Default)]
pub struct Names {
    list: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, NameId>,
}

impl Names {
    /// The id of `name`, which is new when the name is.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = NameId::try_from(self.list.len()).expect("fewer than 2^32 names");
        let name: Arc<str> = name.into();
        self.list.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    /// The name with this id.
    ///
    /// # Panics
    /// When the id is another profile's.
    pub fn get(&self, id: NameId) -> &str {
        &self.list[id as usize]
    }
}

/// Identity of a function: its name, the file it begins in, and the object it was loaded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Callable {
    /// The name as in the profile: demangled, with `'2` for a level of recursion.
    pub name: NameId,
    /// The source file, `???` without debug information.
    pub file: NameId,
    /// The program or shared library.
    pub object: NameId,
}

/// A place in the source within a function: another file than the function's own when the code
/// there was inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The function that the code is compiled into.
    pub function: FunctionId,
    /// The file that the code is written in.
    pub file: NameId,
    /// Source line, from 1; 0 when unknown.
    pub line: u32,
}

/// Calls from one site to one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Number of calls.
    pub count: u64,
    /// Cost of the calls, including the callee's own.
    pub inclusive: Costs,
}

/// One dump with its header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfilePart {
    /// Process id; 0 when the file has none.
    pub pid: u64,
    /// Number of the dump; 0 when the file has none.
    pub part: u64,
    /// Thread, when each was profiled apart.
    pub thread: Option<u64>,
    /// The command that ran.
    pub command: String,
    /// Name of the producer.
    pub creator: String,
    /// `desc:` lines: name and text.
    pub descriptions: Vec<(String, String)>,
    /// Total as stated by the producer in `totals:`, else in `summary:`.
    pub stated: Option<Costs>,
    /// Total of the lines read.
    pub read: Costs,
}

/// A part whose lines do not add up to its stated total.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discrepancy {
    /// Index into [`Profile::parts`].
    pub part: usize,
    /// The event.
    pub event: String,
    /// The sum that the part states.
    pub stated: u64,
    /// The sum of its lines.
    pub read: u64,
}

/// A profile: the sum of its parts.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Names of the counted events, such as `Ir`, instructions executed.
    pub events: Vec<String>,
    /// The dumps that it is the sum of.
    pub parts: Vec<ProfilePart>,
    /// Dictionary of all names.
    pub names: Names,
    /// All functions.
    pub functions: Vec<Callable>,
    /// Own costs of each place.
    pub lines: BTreeMap<Site, Costs>,
    /// Calls by place and callee.
    pub calls: BTreeMap<(Site, FunctionId), Call>,
    by_name: HashMap<Callable, FunctionId>,
}

impl Profile {
    /// The index of an event by its name.
    pub fn event(&self, name: &str) -> Option<usize> {
        self.events.iter().position(|event| event == name)
    }

    /// The id of a function, which is new when the function is.
    pub fn function(&mut self, callable: Callable) -> FunctionId {
        if let Some(id) = self.by_name.get(&callable) {
            return *id;
        }
        let id = FunctionId::try_from(self.functions.len()).expect("fewer than 2^32 functions");
        self.functions.push(callable);
        self.by_name.insert(callable, id);
        id
    }

    /// The name of a function.
    pub fn name_of(&self, function: FunctionId) -> &str {
        self.names.get(self.functions[function as usize].name)
    }

    /// The sum of an event over all lines; `None` when the profile has no such event, or when the
    /// sum exceeds 64 bits.
    pub fn total(&self, event: &str) -> Option<u64> {
        let event = self.event(event)?;
        self.lines.values().try_fold(0_u64, |sum, costs| sum.checked_add(costs.get(event)))
    }

    /// Parts whose lines do not add up to their stated total: the file was cut or edited.
    pub fn discrepancies(&self) -> Vec<Discrepancy> {
        let mut found = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let Some(stated) = &part.stated else { continue };
            for (event, name) in self.events.iter().enumerate() {
                let (stated, read) = (stated.get(event), part.read.get(event));
                if stated != read {
                    found.push(Discrepancy { part: index, event: name.clone(), stated, read });
                }
            }
        }
        found
    }

    /// Adds another profile: another thread's, or the next part of the same run. Events are taken
    /// by name. `None`, and nothing usable in `self`, when a count would exceed 64 bits.
    #[must_use]
    pub fn add(&mut self, other: &Profile) -> Option<()> {
        let columns: Vec<usize> = other.events.iter().map(|name| self.column(name)).collect();
        let moved = |costs: &Costs| moved(costs, &columns);
        let names: Vec<NameId> =
            other.names.list.iter().map(|name| self.names.intern(name)).collect();
        let name = |id: NameId| names[id as usize];
        let functions: Vec<FunctionId> = other
            .functions
            .iter()
            .map(|f| Callable { name: name(f.name), file: name(f.file), object: name(f.object) })
            .map(|callable| self.function(callable))
            .collect();
        let site = |site: &Site| Site {
            function: functions[site.function as usize],
            file: name(site.file),
            line: site.line,
        };
        for (place, costs) in &other.lines {
            self.lines.entry(site(place)).or_default().add(&moved(costs))?;
        }
        for ((place, callee), call) in &other.calls {
            let key = (site(place), functions[*callee as usize]);
            let sum = self.calls.entry(key).or_default();
            sum.count = sum.count.checked_add(call.count)?;
            sum.inclusive.add(&moved(&call.inclusive))?;
        }
        self.parts.extend(other.parts.iter().map(|part| ProfilePart {
            stated: part.stated.as_ref().map(moved),
            read: moved(&part.read),
            ..part.clone()
        }));
        Some(())
    }

    /// The index of an event, which is new when the event is.
    pub(super) fn column(&mut self, name: &str) -> usize {
        self.event(name).unwrap_or_else(|| {
            self.events.push(name.to_owned());
            self.events.len() - 1
        })
    }
}

/// `costs` with its counts in other columns.
pub(super) fn moved(costs: &Costs, columns: &[usize]) -> Costs {
    let width = columns.iter().max().map_or(0, |column| column + 1);
    let mut counts = vec![0; width];
    for (count, column) in costs.counts().iter().zip(columns) {
        counts[*column] = *count;
    }
    Costs::new(counts)
}

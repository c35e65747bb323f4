//! Names of the radar system's classes, paths and processes, for invented rows.

use chronoscope_model::{ClassId, ClassName, Names, PathId, ProcessId, ProcessName};

/// The steps of a chain: application and class.
const STEPS: [(&str, &str); 5] = [
    ("MRTS", "decodePlots"),
    ("MRTS", "Correlate"),
    ("MSG", "TrackStore_updateTrack"),
    ("CWP", "TrackStore_updateTrack"),
    ("CWP", "TargetView_redraw"),
];

/// Names and their ids.
#[derive(Debug, Default)]
pub struct RadarNames {
    /// All names.
    pub names: Names,
    /// The classes of a chain, in its order.
    pub classes: Vec<ClassId>,
    /// The paths to these classes.
    pub paths: Vec<PathId>,
    /// Tracker, message server, and displays.
    pub processes: Vec<ProcessId>,
}

impl RadarNames {
    /// Names of so many processes on 30 hosts; from the third on they are displays.
    #[must_use]
    pub fn new(processes: u32) -> Self {
        let mut all = Self::default();
        for (application, class) in STEPS {
            let name = ClassName { application: application.into(), class: class.into() };
            all.names.add_class(name);
            all.classes.push(ClassId::of(application, class));
            all.paths.push(PathId::of(&all.classes));
            all.names.add_path(PathId::of(&all.classes), all.classes.clone());
        }
        for pid in 0..processes {
            let application = ["MRTS", "MSG", "CWP"][pid.min(2) as usize].to_owned();
            let host = format!("host-{:02}", pid % 30);
            let process = ProcessName { application, host, pid: 1000 + pid, start_ns: 1 };
            all.processes.push(process.id());
            all.names.add_process(process);
        }
        all
    }
}

// What the server answers, as docs/page.md and openapi.json have it. Every path is below /api/v1.
//
// Absolute times (`*_ns`, said to be UTC) are nanoseconds since 1970; a browser's numbers round them to
// 256 ns, which is good enough to select by. What has to be exact is relative. Durations are nanoseconds.

export interface ErrorBody { error: string; hint?: string }

/** In the query string; all optional but where a question needs them. */
export interface Selection {
  from_ns?: number; until_ns?: number;      // when the root started, [from, until)
  hosts?: string;                            // comma separated: any row of the chain's path... = host of the leaf (documented)
  kind?: "acpd" | "apcd" | "sync";         // default acpd
  root?: string; leaf?: string;              // "APPLICATION::CLASS"; sync: root is the class
  level?: string;                            // number or "any"
  path?: string;                             // one whole path in words, as PathSummary.path
  min_ns?: number; max_ns?: number;          // duration range, [min, max]
  limit_ns?: number;                         // the longest good duration
  clocks?: "raw" | "corrected";
}

export interface Distribution {              // exact, nearest rank
  count: number; sum_ns: number; min_ns: number; max_ns: number; mean_ns: number; sd_ns: number;
  median_ns: number; p90_ns: number; p99_ns: number; p99_73_ns: number; p99_9_ns: number;
  three_sigma_ns: number; above_3_sigma: number;
}
/** `share`: that which has to be within the limit (0.997). */
export interface Verdict { limit_ns: number; share: number; count: number; above: number; share_above: number; holds: boolean; sentence: string }
export interface Progress { id: string; state: "waiting" | "running"; done: number; total: number; unit: string; elapsed_ms: number }

// GET /status
export interface Status {
  version: string; store: string; rows: number; segments: number; bytes: number;
  covered: { from_ns: number; until_ns: number } | null;   // of stored roots
  collector: unknown;                                         // as /status has it, or null where nobody collects
  has: { hosts: boolean; runs: boolean; rings: boolean; clocks: boolean };
}

// GET /now?window_s=60 : the last window (until now, or until the last stored row where none is live)
export interface Now {
  at_ns: number; window_s: number; live: boolean;
  applications: { application: string; processes: number; hosts: string[]; lost_rows: number; open: number;
    classes: { class: string; count: number; rate_per_s: number; p50_ns: number; p99_ns: number; max_ns: number;
      cpu_share: number | null; /* cores */ open: number; not_good: number; limit: LimitState | null }[] }[];
  alarms: Alarm[];
}
export interface LimitState { limit_ns: number; above: number; share_above: number; holds: boolean }
/** "The system starts to become slow." */
export interface Alarm {
  what: string;             // the class, path or hop in words
  kind: "limit" | "slower" | "lost" | "silent";
  host: string | null; since_ns: number; value_ns: number | null; usual_ns: number | null; sentence: string;
}

// GET /classes ; GET /paths (from sketches: quick at any size; Selection's from/until/hosts ignored but from/until)
export interface Classes { classes: { name: string; application: string; class: string; count: number; p50_ns: number; p99_ns: number; max_ns: number; cpu_ns: number; not_good: number }[] }
export interface Paths { paths: PathSummary[] }
export interface PathSummary { path: string; hops: string[]; root: string; leaf: string; level: number; count: number; p50_ns: number; p99_ns: number; max_ns: number }

// GET /scatter?SELECTION&width=&height=&scale=log|linear
export interface Scatter {
  from_ns: number; until_ns: number; min_ns: number; max_ns: number; scale: "log" | "linear"; width: number; height: number;
  /** The edges of the rows, one more than rows: row y holds [edges[y], edges[y + 1]). */
  edges_ns: number[];
  total: number;
  paths: { path: string; level: number; count: number }[];        // colours, most first; at most 8, the rest as "other"
  /** Filled cells, column by column, row 0 = shortest: parallel arrays. `path` = index of the cell's most frequent path. */
  cells: { x: number[]; y: number[]; count: number[]; path: number[] };
  /** Of every column with durations: the longest and the shortest, always drawn. start_ns is relative to from_ns. */
  extremes: { x: number[]; min_ns: number[]; max_ns: number[]; max_start_ns: number[]; max_chain: string[] /* "" where not known */ };
  /** Chains without their leaf or with rows missing, per column. */
  incomplete: { x: number[]; count: number[] };
  gaps: { from_ns: number; until_ns: number; lost_rows: number; what: string }[];   // recorder gaps, as far as the store knows when
  clocks: ClockNote | null;
  read_rows: number; elapsed_ms: number;
}
export interface ClockNote { corrected: boolean; durations: number; crossing: number; unknown: number; error_ns_max: number | null; error_ns_mean: number | null; share_mean: number | null; negative: number }

// GET /histogram?SELECTION&bins=100&scale=
export interface HistogramAnswer {
  bins: { from_ns: number; until_ns: number; count: number }[]; scale: "log" | "linear";
  distribution: Distribution | null; verdict: Verdict | null;
  paths: { path: string; level: number; distribution: Distribution }[];
  counts: { used: number; incomplete: number; negative: number }; losses: { lost_rows: number; damaged_rows: number; expired_rows: number };
  clocks: ClockNote | null; elapsed_ms: number;
}

// GET /chains?SELECTION&order=longest|shortest|first&limit=100   the chains inside a rectangle (a brush is from/until/min/max)
export interface Chains { total: number; chains: ChainSummary[] }
export interface ChainSummary { chain: string; start_ns: number; duration_ns: number; path: string; level: number; leaf_host: string }

// GET /hops?SELECTION&sample=2000   selected (inside min/max/from/until) against the rest (same root/leaf/level/path, within context_from_ns..context_until_ns)
//   + context_from_ns, context_until_ns
export interface Hops {
  selected: number; rest: number; sampled_selected: number; sampled_rest: number;
  hops: { hop: string; level: number; part: "wait" | "work";      // wait: from the parent's start to this start; work: own elapsed until the next hop starts (as chronoscope_chain::Split has it)
    selected: HopSide; rest: HopSide;
    shift_ns: number; ks: number; p_value: number;                // difference of medians, Kolmogorov-Smirnov
    share_of_difference: number }[];                              // of the difference of mean durations, in [0, 1] when all slow down
  edges_ns: number[];                                              // common histogram edges of all (log)
  hosts: { host: string; hop: string; selected: number; rest: number }[];   // where selected chains ran against where the rest did
  sentence: string;                                                // "84 % of the difference is the wait before CWP::TargetView_redraw on cwp-7"
}
export interface HopSide { count: number; mean_ns: number; median_ns: number; p99_ns: number; counts: number[] }

// GET /chains/{chain}?near_ns=&clocks=    the waterfall
export interface Chain {
  chain: string; root_start_ns: number; duration_ns: number; apcd_ns: number; complete: boolean; missing: number;
  rows: { id: string; parent: string | null; depth: number; level: number; application: string; class: string; host: string; process: number; thread: number;
    start_ns: number /* relative to root_start_ns, may be negative */; elapsed_ns: number; cpu_ns: number | null; status: string; asynchronous: boolean;
    wait_ns: number | null;            // from the end (async: start) of what called it until its start, as far as known
    percentile: number | null;         // of its elapsed time among its class, in [0, 100], from sketches of the hour around
    clock_error_ns: number | null;     // of its start against the root's host
    open: boolean; properties: Record<string, string>; metrics: Record<string, number | string> }[];
  idle: { from_ns: number; until_ns: number }[];                  // relative: stretches in which no row of the chain ran (fold them)
  previous: string | null; next: string | null;                   // not needed: null allowed
}
// GET /chains/{chain}/perfetto?near_ns=   Chrome trace JSON as attachment

// GET /graph?SELECTION    processes and classes as they call each other
export interface Graph {
  nodes: { id: string; application: string; class: string; hosts: string[]; count: number; rate_per_s: number; p50_ns: number; p99_ns: number }[];
  edges: { from: string; to: string; count: number; rate_per_s: number; asynchronous: boolean; wait_p50_ns: number | null; wait_p99_ns: number | null; sampled: boolean }[];
}

// GET /compare?SELECTION&b_from_ns=&b_until_ns=    A is the selection's range
export interface Compare {
  a: CompareSide; b: CompareSide; edges_ns: number[];
  hop_edges_ns: number[];                                          // common histogram edges of all hops (log)
  difference: { median_ns: number; mean_ns: number; low_ns: number; high_ns: number; p_value: number; sentence: string } | null;   // B - A, 95 % interval of the mean's difference
  hops: { hop: string; part: "wait" | "work"; a: HopSide; b: HopSide; shift_ns: number; p_value: number }[];
  paths: { path: string; a: number; b: number; state: "both" | "new" | "vanished" }[];
}
export interface CompareSide { from_ns: number; until_ns: number; distribution: Distribution | null; counts: number[] }

// GET /worst?SELECTION&class=&n=20    longest transactions of each class (or one), with their chains
export interface Worst { classes: { name: string; rows: { chain: string; start_ns: number; elapsed_ns: number; cpu_ns: number | null; host: string; process: number; status: string }[] }[] }

// GET /rings ; GET /rings/{process}?last=100     from rings on this host
export interface Rings { rings: { id: string; application: string; instance: string; process: number; alive: boolean; started_ns: number; recorded: number; lost: number; open: number }[]; failed: string[] /* rings that cannot be read, in words */ }
export interface Ring { ring: Rings["rings"][number]; classes: { class: string; count: number; p50_ns: number; p99_ns: number; max_ns: number; cpu_ns: number }[];
  last: { class: string; start_ns: number; elapsed_ns: number; cpu_ns: number | null; status: string; chain: string }[];
  open: { class: string; since_ns: number; age_ns: number; chain: string }[]; }

// GET /hosts?from_ns=&until_ns=    what net kept in the store
export interface Hosts {
  tables: { title: string; columns: string[]; rows: (string | number | null)[][] }[];       // as chronoscope net table prints them
  loads: { host: string; interface: string; times_ns: number[]; rx_bits_per_s: number[]; tx_bits_per_s: number[] }[];
  round_trips: { host: string; probe: string; times_ns: number[]; p50_ns: number[]; max_ns: number[]; lost: number[] }[];
  paths: { path: string; predicted_p50_ns: number | null; predicted_p90_ns: number | null; measured_p50_ns: number | null; measured_p90_ns: number | null; verdict: string }[];
}

// GET /runs ; GET /runs/history?process=&counter= ; GET /runs/diff?a=&b=      chronoscope track's runs (serve --runs DIR)
export interface Runs { runs: { id: string; commit: string; subject: string; at_ns: number; machine: string; load: number }[] }
export interface RunHistory { series: { process: string; counter: string; unit: string; points: { run: string; commit: string; at_ns: number; value: number }[];
  changes: { run: string; before: number; after: number; relative: number; sentence: string }[] }[] }
export interface RunDiff { a: string; b: string; verdicts: { process: string; counter: string; a: number; b: number; relative: number; threshold: number; moved: boolean; sentence: string }[];
  functions: { function: string; process: string; source: string; a: number; b: number; difference: number; inclusive_difference: number; callers: { function: string; difference: number }[] }[];
  note: string | null }

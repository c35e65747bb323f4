// Made-up answers of the views of operations, for dev/fixture.mjs. NOTHING HERE IS MEASURED.

const wave = (at, period) => Math.sin((at / period) * 2 * Math.PI);
const jitter = () => 0.9 + Math.random() * 0.2;
const NAMES = {
  MRTS: ['decodePlots', 'mpaWindow', 'updateTrack'], MSG: ['Correlate', 'Distribute'], CWP: ['TargetView_redraw', 'TargetView_update'],
};
const side = (median) => ({ count: 4000, mean_ns: median * 1.1, median_ns: median, p99_ns: median * 4, counts: Array.from({ length: 40 }, (_, bin) => Math.round(4000 * Math.exp(-(((bin - Math.log10(median / 1e3) * 6.5) / 2.5) ** 2)))) });
const EDGES = Array.from({ length: 41 }, (_, n) => 1e3 * 10 ** (n / 6.5));
const distribution = (median, count) => ({
  count, sum_ns: count * median, min_ns: median / 5, max_ns: median * 9, mean_ns: median * 1.1, sd_ns: median / 2, median_ns: median, p90_ns: median * 2,
  p99_ns: median * 4, p99_73_ns: median * 5, p99_9_ns: median * 6, three_sigma_ns: median * 2.5, above_3_sigma: 12,
});
const T0 = Date.UTC(2026, 10, 23, 10) * 1e6;
const functions = Array.from({ length: 40 }, (_, n) => {
  const a = Math.round(9e7 / (n + 1));
  const b = n === 2 ? a * 2.4 : n === 7 ? 0 : n % 5 === 0 ? Math.round(a * 0.94) : a;
  return { function: `radar::tracker::step_${n}`, process: 'tracker', source: `tracker.rs:${100 + n}`, a, b, difference: b - a, inclusive_difference: (b - a) * 2,
    callers: n === 2 ? [{ function: 'radar::tracker::update', difference: b - a }] : [] };
});
const AGENT = 'a'.repeat(32);
const runs = Array.from({ length: 14 }, (_, n) => ({ id: `run-${n}`, commit: `${(n * 7919).toString(16).padStart(8, '0')}abcdef0123`, subject: n === 9 ? 'tracker: one gate for each sensor' : `change ${n}`, at_ns: T0 + n * 3600e9, machine: 'fixture', load: 0.4 + n / 10, complete: n !== 4, suite: 'fixture', profiles: [] }));

export const OPERATIONS = {
  now(query) {
    const at = Date.now();
    return {
      at_ns: at * 1e6, window_s: Number(query.get('window_s') ?? 60), live: true,
      applications: Object.entries(NAMES).map(([application, classes], n) => ({
        application, processes: n + 1, hosts: application === 'CWP' ? ['cwp-1', 'cwp-2', 'cwp-3'] : [application.toLowerCase()], lost_rows: application === 'CWP' ? 4211 : 0, open: n,
        classes: classes.filter((name) => name !== 'TargetView_update' || at % 60_000 > 20_000).map((name, k) => {
          const p50 = (60e3 + 400e3 * (n + k)) * jitter();
          return { class: name, count: 1000, rate_per_s: 1200 * jitter() / (k + 1), p50_ns: p50, p99_ns: p50 * (4 + wave(at, 60_000)), max_ns: p50 * 11, cpu_share: name === 'Correlate' ? null : 0.31 * jitter(),
            open: k, not_good: name === 'Correlate' ? 3 : 0, limit: name === 'updateTrack' ? { limit_ns: 20e6, above: 0, share_above: 0, holds: true } : name === 'TargetView_redraw' ? { limit_ns: 4e6, above: 31, share_above: 0.031, holds: false } : null };
        }),
      })),
      alarms: [
        { what: 'CWP::TargetView_redraw', kind: 'slower', host: 'cwp-3', since_ns: (at - 95_000) * 1e6, value_ns: 9e6, usual_ns: 1.1e6, sentence: 'The wait before CWP::TargetView_redraw takes 9.02 ms at the median, 8 times its usual 1.10 ms' },
        { what: 'CWP', kind: 'lost', host: 'cwp-2', since_ns: (at - 30_000) * 1e6, value_ns: null, usual_ns: null, sentence: '4,211 records of CWP were overwritten before they were collected' },
      ],
      limits: [
        { what: 'MRTS::decodePlots → CWP::TargetView_redraw', kind: 'chain', limit_ns: 1e9, state: 'holds', since_ns: (at - 600_000) * 1e6, count: 1000, above: 1, in_flight: null, reason: null, sentence: '' },
        { what: 'shop::order → shop::paid', kind: 'chain', limit_ns: 2e9, state: 'not_judged', since_ns: (at - 600_000) * 1e6, count: 0, above: 0, in_flight: null, reason: 'its leaf shop::paid comes from a source of OpenTelemetry spans', sentence: '' },
      ],
    };
  },
  classes: () => ({ classes: Object.entries(NAMES).flatMap(([application, names]) => names.map((name) => ({ name: `${application}::${name}`, application, class: name, count: 1e5, p50_ns: 1e5, p99_ns: 1e6, max_ns: 1e7, cpu_ns: 1e9, not_good: 0 }))) }),
  graph() {
    const nodes = Object.entries(NAMES).flatMap(([application, names]) => names.map((name, k) => ({ id: `${application}/${name}`, application, class: name, hosts: application === 'CWP' ? ['cwp-1', 'cwp-2'] : ['mrts'], count: 120_000 / (k + 1), rate_per_s: 1000 / (k + 1), p50_ns: 60e3 * (k + 1), p99_ns: 900e3 })));
    nodes.push({ id: 'LOG/append', application: 'LOG', class: 'append', hosts: ['log'], count: 5e5, rate_per_s: 4100, p50_ns: 4e3, p99_ns: 80e3 });
    const edge = (from, to, rate, wait, asynchronous = true) => ({ from, to, count: rate * 120, rate_per_s: rate, asynchronous, wait_p50_ns: wait, wait_p99_ns: wait === null ? null : wait * 6, sampled: true, link: false });
    return { nodes, edges: [
      edge('MRTS/decodePlots', 'MRTS/mpaWindow', 250, 20e3, false), edge('MRTS/decodePlots', 'MRTS/updateTrack', 750, 40e3), edge('MRTS/mpaWindow', 'MRTS/updateTrack', 250, 38e6),
      edge('MRTS/updateTrack', 'MSG/Correlate', 1000, 150e3), edge('MSG/Correlate', 'MSG/Distribute', 1000, 90e3, false), edge('MSG/Distribute', 'CWP/TargetView_update', 3000, 300e3),
      edge('MSG/Distribute', 'CWP/TargetView_redraw', 2000, 3e6), edge('CWP/TargetView_redraw', 'MSG/Distribute', 2, 1e6), edge('MRTS/updateTrack', 'LOG/append', 1000, null), edge('CWP/TargetView_redraw', 'LOG/append', 2000, null),
      { ...edge('MRTS/decodePlots', 'MSG/Distribute', 40, 2e6), link: true },
    ] };
  },
  compare(query) {
    const hops = ['MRTS::updateTrack', 'MSG::Correlate', 'MSG::Distribute', 'CWP::TargetView_redraw'].flatMap((hop, n) => ['wait', 'work'].map((part) => {
      const a = 80e3 * (n + 1);
      const b = hop.includes('redraw') && part === 'wait' ? a * 7 : a * (1 + n / 100);
      return { hop, part, a: side(a), b: side(b), shift_ns: b - a, mean_change_ns: b - a, share_of_mean: (b - a) / 1.95e6, tail_change_ns: 4 * (b - a), share_of_tail: (b - a) / 1.95e6, p_value: b > 2 * a ? 1e-12 : 0.3, tail_p_value: b > 2 * a ? 1e-12 : 0.4 };
    })).sort((a, b) => b.mean_change_ns - a.mean_change_ns);
    return {
      a: { store: null, from_ns: Number(query.get('from_ns') ?? T0), until_ns: Number(query.get('until_ns') ?? T0 + 60e9), distribution: distribution(3.4e6, 100_000), counts: side(3.4e6).counts },
      b: { store: null, from_ns: Number(query.get('b_from_ns') ?? T0 + 60e9), until_ns: Number(query.get('b_until_ns') ?? T0 + 120e9), distribution: distribution(5.1e6, 98_000), counts: side(5.1e6).counts },
      edges_ns: EDGES, hop_edges_ns: EDGES, difference: { median_ns: 1.7e6, mean_ns: 1.9e6, low_ns: 1.8e6, high_ns: 2.0e6, p_value: 0, sentence: 'B is slower by 1.70 ms at the median; 93 % of it is the wait before CWP::TargetView_redraw' },
      hops, paths: [{ path: 'MRTS::decodePlots > MRTS::updateTrack > CWP::TargetView_redraw', a: 75_000, b: 74_100, state: 'both' }, { path: 'MRTS::decodePlots > MRTS::mpaWindow > MRTS::updateTrack', a: 25_000, b: 0, state: 'vanished' }, { path: 'MRTS::decodePlots > MSG::Retry > CWP::TargetView_redraw', a: 0, b: 411, state: 'new' }],
    };
  },
  worst(query) {
    const n = Number(query.get('n') ?? 20);
    const classes = Object.entries(NAMES).flatMap(([application, names]) => names.map((name) => ({ name: `${application}::${name}`, rows: Array.from({ length: n }, (_, k) => ({
      chain: k.toString(16).padStart(32, '0'), start_ns: T0 + k * 1.7e9, elapsed_ns: 90e6 / (1 + k / 3), cpu_ns: k % 4 === 0 ? null : 20e6 / (k + 1), host: `cwp-${k % 3}`, process: 4000 + k, status: k === 2 ? 'Failed' : 'Good' })) })));
    return { classes: classes.filter((each) => !query.has('class') || each.name === query.get('class')) };
  },
  rings: () => ({
    rings: Object.keys(NAMES).map((application, n) => ({ id: `${application}-${n}`, agent: n === 2 ? AGENT : null, application, instance: n === 2 ? 'cwp-1' : '', process: 4000 + n, alive: n !== 1, started_ns: T0, recorded: Math.round(Date.now() / 10) % 1e8, lost: n === 2 ? 4211 : 0, open: n })),
    failed: [],
    hosts: [[null, '', 'answered', null], [AGENT, 'cwp-1', 'answered', null], ['1'.repeat(32), 'cwp-2', 'away', 'the agent of cwp-2 is not connected'], ['2'.repeat(32), 'cwp-3', 'older', 'the agent of cwp-3 (chronoscope 0.0.9) is of an older version, which does not answer questions about rings']]
      .map(([agent, host, state, reason], n) => ({ agent, host, program: agent && 'chronoscope 0.1.0', state, reason, away_since_ns: state === 'away' ? T0 : null, rings: n < 2 ? 2 - n : 0, left_out: 0, failed: [] })),
  }),
  hosts() {
    const times = Array.from({ length: 120 }, (_, n) => T0 + n * 10e9);
    return {
      tables: [{ title: 'Load by host', columns: ['Host', 'Interface', 'packets/s', 'Mbit/s', 'Utilisation %'], rows: ['gw-1', 'gw-2', 'cwp-1', 'cwp-2', 'cwp-10'].map((host, n) => [host, 'eth0', 1200 / (n + 1), 12.3 / (n + 1), n === 3 ? null : 1.2 * n]) }],
      loads: ['gw-1', 'cwp-1'].map((host) => ({ host, interface: 'eth0', times_ns: times, rx_bits_per_s: times.map((_, n) => 8e6 * (1.2 + wave(n, 40)) * jitter()), tx_bits_per_s: times.map((_, n) => 2e6 * (1.2 + wave(n, 25)) * jitter()) })),
      round_trips: [{ host: 'gw-1', probe: 'udp', times_ns: times, p50_ns: times.map(() => 210e3 * jitter()), max_ns: times.map((_, n) => 400e3 * jitter() * (n % 37 === 0 ? 5 : 1)), lost: times.map((_, n) => (n === 50 ? 3 : 0)) }],
      paths: [{ path: 'mrts → gw-1 → cwp-1', predicted_p50_ns: 240e3, predicted_p90_ns: 420e3, measured_p50_ns: 255e3, measured_p90_ns: 470e3, verdict: 'as predicted' }, { path: 'mrts → gw-2 → cwp-2', predicted_p50_ns: 240e3, predicted_p90_ns: 420e3, measured_p50_ns: 900e3, measured_p90_ns: 2e6, verdict: 'slower than predicted: gw-2' }],
    };
  },
  runs: () => ({ runs }),
  'runs/history'(query) {
    const series = ['tracker', 'message server'].flatMap((process, p) => ['instructions', 'data reads'].map((counter, c) => ({
      process, counter, unit: '', points: runs.map((run, n) => ({ run: run.id, commit: run.commit, at_ns: run.at_ns, value: (4e8 / (c + 1)) * (1 + n / 5000) * (p === 0 && n >= 9 ? 1.19 : 1) })),
      changes: p === 0 ? [{ run: 'run-9', before: 4e8, after: 4.76e8, relative: 0.19, sentence: `19.0 % more ${counter} since ${runs[9].commit.slice(0, 9)}` }] : [],
    })));
    return { left_out: 0, series: series.filter((each) => (!query.has('process') || each.process === query.get('process')) && (!query.has('counter') || each.counter === query.get('counter'))) };
  },
  'runs/diff': (query) => ({
    a: query.get('a'), b: query.get('b'), functions, note: 'profiles of both runs were kept',
    verdicts: [{ process: 'tracker', counter: 'instructions', a: 4e8, b: 4.76e8, relative: 0.19, threshold: 0.001, moved: true, sentence: '19.0 % more instructions' }, { process: 'message server', counter: 'instructions', a: 2e8, b: 2.00002e8, relative: 0.00001, threshold: 0.001, moved: false, sentence: 'did not move' }],
  }),
};

/** The answer about one ring. */
export function ring(id, last) {
  const [application, n] = id.split('-');
  const found = OPERATIONS.rings().rings.find((each) => each.id === id);
  if (found === undefined) return null;
  const now = Date.now() * 1e6;
  const names = NAMES[application];
  const times = (median, count) => ({
    count, mean_ns: median * 1.2, p50_ns: median, p99_ns: median * 8, max_ns: median * 60,
    bins: Array.from({ length: 24 }, (_, k) => ({ from_ns: (median / 8) * 2 ** (k / 4), until_ns: (median / 8) * 2 ** ((k + 1) / 4), count: Math.ceil(count * Math.exp(-(((k - 12) / 4) ** 2))) })),
  });
  const one = (k, after_ns, elapsed_ns, parent) => ({
    class: `${application}::${names[k % names.length]}`, start_ns: now + after_ns - 1e9, after_ns, elapsed_ns, cpu_ns: elapsed_ns * 0.6, status: k === 5 ? 'Failed' : 'Good',
    chain: k.toString(16).padStart(32, 'a'), id: k.toString(16).padStart(16, '0'), parent, thread: 4001 + (k % 2), asynchronous: false, context: `callsign=DLH${k}`,
  });
  const calls = Array.from({ length: Math.min(last, 200) >> 1 }, (_, k) => [one(2 * k, k * 1.3e6, 600e3 * jitter(), null), one(2 * k + names.length * 100, k * 1.3e6 + 50e3, 200e3 * jitter(), (2 * k).toString(16).padStart(16, '0'))]).flat();
  return {
    ring: found, measures_cpu: true, classes_left_out: 0, damaged: [],
    classes: names.map((name, k) => ({
      class: `${application}::${name}`, enabled: k !== 2, count: 3000 * (k + 1), p50_ns: 60e3, p99_ns: 900e3, max_ns: 4e6, cpu_ns: 2e8, elapsed: times(60e3 * 4 ** k, 3000), cpu: times(30e3, 3000),
      worst: Array.from({ length: 10 }, (_, n) => one(k, n * 1e6, 4e6 / (n + 1), null)), worst_cpu: Array.from({ length: 10 }, (_, n) => one(k, n * 1e6, 2e6 / (n + 1), null)),
    })),
    last: calls.reverse(),
    open: names.slice(0, Number(n)).map((name, k) => ({ class: `${application}::${name}`, since_ns: now - 4e9 / (k + 1), after_ns: -4e9 / (k + 1), age_ns: 4e9 / (k + 1), chain: 'ab'.repeat(16), id: `f${k}`, parent: null, thread: 4001, context: '' })),
  };
}

// Made-up answers, to develop the page against without a server: `npm run fixture`, then
// `npm run dev`. NOTHING HERE IS MEASURED, and no test takes it for truth; the store's name says so.
// What it answers has the API's shape and is computed from one made-up set of chains, so that a brush
// and a histogram of it agree.
import { createServer } from 'node:http';
import { OPERATIONS, ring } from './operations.mjs';

const PORT = Number(process.env.PORT ?? 4500);
const COUNT = 60_000;
const FROM_NS = Date.UTC(2026, 10, 23, 10) * 1e6;
const SPAN_NS = 120e9;
const NORMAL = ['MRTS::decodePlots', 'MRTS::updateTrack', 'MSG::Correlate', 'MSG::Distribute', 'CWP::TargetView_redraw'];
const MPA = ['MRTS::decodePlots', 'MRTS::mpaWindow', 'MRTS::updateTrack', 'MSG::Correlate', 'MSG::Distribute', 'CWP::TargetView_redraw'];
const words = (hops) => hops.join(' > ');
const HOSTS = ['cwp-1', 'cwp-2', 'cwp-3', 'cwp-4', 'cwp-5'];

let state = 42;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const normal = () => Math.sqrt(-2 * Math.log(random() || 1e-9)) * Math.cos(2 * Math.PI * random());
const around = (ns, spread) => ns * Math.exp(normal() * spread);

// parts: for each hop [wait before it, work in it]; the duration is their sum.
const chains = [];
for (let index = 0; index < COUNT; index += 1) {
  const mpa = random() < 0.25;
  const start = FROM_NS + random() * SPAN_NS;
  const host = HOSTS[Math.floor(random() * HOSTS.length)];
  const at = (start - FROM_NS) / SPAN_NS;
  const slow = at > 0.6 && at < 0.68 && host === 'cwp-3' ? 8 + random() * 30 : 1;
  const hops = mpa ? MPA : NORMAL;
  const parts = hops.map((hop, n) => {
    const wait = n === 0 ? 0 : hop.includes('redraw') ? around(3e6, 0.6) * slow : hop.includes('mpa') ? 0 : around(150e3, 0.5);
    return [wait, hop.includes('mpaWindow') ? around(40e6, 0.1) : around(60e3, 0.6)];
  });
  const duration = parts.flat().reduce((a, b) => a + b, 0);
  chains.push({ id: index.toString(16).padStart(32, '0'), start, duration, parts, host, mpa, incomplete: random() < 0.0005 });
}
chains.sort((a, b) => a.start - b.start);
const counted = { normal: chains.filter((c) => !c.mpa).length, mpa: chains.filter((c) => c.mpa).length };
const byId = new Map(chains.map((chain) => [chain.id, chain]));

function selected(query) {
  const number = (name, otherwise) => (query.has(name) ? Number(query.get(name)) : otherwise);
  const from = number('from_ns', -Infinity);
  const until = number('until_ns', Infinity);
  const min = number('min_ns', 0);
  const max = number('max_ns', Infinity);
  const path = query.get('path');
  const hosts = query.get('hosts')?.split(',');
  const level = query.get('level');
  return chains.filter((c) => c.start >= from && c.start < until && c.duration >= min && c.duration <= max
    && (path === null || words(c.mpa ? MPA : NORMAL) === path) && (hosts === undefined || hosts.includes(c.host))
    && (level === null || level === 'any' || Number(level) === (c.mpa ? 5 : 4)));
}

const rank = (sorted, q) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] ?? 0;
function distribution(values) {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const sum = sorted.reduce((a, b) => a + b, 0);
  const mean = sum / sorted.length;
  const sd = Math.sqrt(sorted.reduce((a, b) => a + (b - mean) ** 2, 0) / sorted.length);
  const three = rank(sorted, 0.5) + 3 * sd;
  return {
    count: sorted.length, sum_ns: Math.round(sum), min_ns: sorted[0], max_ns: sorted.at(-1), mean_ns: mean, sd_ns: sd,
    median_ns: rank(sorted, 0.5), p90_ns: rank(sorted, 0.9), p99_ns: rank(sorted, 0.99), p99_73_ns: rank(sorted, 0.9973),
    p99_9_ns: rank(sorted, 0.999), three_sigma_ns: three, above_3_sigma: sorted.filter((v) => v > three).length,
  };
}
const CLOCKS = { corrected: false, durations: 1000, crossing: 1000, unknown: 0, error_ns_max: 350e3, error_ns_mean: 120e3, share_mean: 0.02, negative: 0 };

const ANSWERS = {
  ...OPERATIONS,
  status: () => ({
    version: '0.0.0', store: 'FIXTURE: made up, not measured', rows: COUNT * 5, segments: 2, bytes: 123e6,
    covered: { from_ns: FROM_NS, until_ns: FROM_NS + SPAN_NS }, collector: null,
    has: { hosts: false, runs: false, rings: false, clocks: true },
  }),
  paths: () => ({
    paths: [NORMAL, MPA].flatMap((hops) => hops.map((_, n) => ({
      path: words(hops.slice(0, n + 1)), hops: hops.slice(0, n + 1), root: hops[0], leaf: hops[n], level: n,
      count: hops === MPA ? counted.mpa : counted.normal, p50_ns: 1e6, p99_ns: 1e7, max_ns: 1e8,
    }))),
  }),
  scatter(query) {
    const inside = selected(query);
    const width = Number(query.get('width') ?? 600);
    const height = Number(query.get('height') ?? 300);
    const scale = query.get('scale') ?? 'log';
    const from = Number(query.get('from_ns') ?? FROM_NS);
    const until = Number(query.get('until_ns') ?? FROM_NS + SPAN_NS);
    const min = Math.min(...inside.map((c) => c.duration).concat(1e9).slice(0, 1e5));
    const max = inside.reduce((a, c) => Math.max(a, c.duration), 1);
    const cells = new Map();
    const extremes = new Map();
    const incomplete = new Map();
    for (const c of inside) {
      const x = Math.min(width - 1, Math.floor(((c.start - from) / (until - from)) * width));
      if (c.incomplete) { incomplete.set(x, (incomplete.get(x) ?? 0) + 1); continue; }
      const share = scale === 'log' ? Math.log(c.duration / min) / Math.log(max / min) : (c.duration - min) / (max - min);
      const y = Math.max(0, Math.min(height - 1, Math.floor(share * height)));
      const cell = cells.get(x * height + y) ?? { count: 0, mpa: 0 };
      cell.count += 1;
      cell.mpa += c.mpa ? 1 : 0;
      cells.set(x * height + y, cell);
      const e = extremes.get(x) ?? { min: c.duration, max: c };
      if (c.duration > e.max.duration) e.max = c;
      e.min = Math.min(e.min, c.duration);
      extremes.set(x, e);
    }
    const keys = [...cells.keys()].sort((a, b) => a - b);
    const ex = [...extremes].sort((a, b) => a[0] - b[0]);
    const inc = [...incomplete].sort((a, b) => a[0] - b[0]);
    return {
      from_ns: from, until_ns: until, min_ns: min, max_ns: max, scale, width, height, total: inside.length,
      edges_ns: Array.from({ length: height + 1 }, (_, n) => (scale === 'log' ? min * (max / min) ** (n / height) : min + ((max - min) * n) / height)),
      paths: [[NORMAL, 4, false], [MPA, 5, true]].map(([hops, level, mpa]) => ({ path: words(hops), level, count: inside.filter((c) => c.mpa === mpa).length })),
      cells: { x: keys.map((k) => Math.floor(k / height)), y: keys.map((k) => k % height), count: keys.map((k) => cells.get(k).count), path: keys.map((k) => (cells.get(k).mpa * 2 > cells.get(k).count ? 1 : 0)) },
      extremes: { x: ex.map(([x]) => x), min_ns: ex.map(([, e]) => e.min), max_ns: ex.map(([, e]) => e.max.duration), max_start_ns: ex.map(([, e]) => e.max.start - from), max_chain: ex.map(([, e]) => e.max.id) },
      incomplete: { x: inc.map(([x]) => x), count: inc.map(([, n]) => n) },
      gaps: [{ from_ns: FROM_NS + 30e9, until_ns: FROM_NS + 31.5e9, lost_rows: 4211, what: 'ring of CWP on cwp-2 overwritten' }],
      clocks: CLOCKS, read_rows: COUNT, elapsed_ms: 120,
    };
  },
  histogram(query) {
    const inside = selected(query);
    const values = inside.map((c) => c.duration);
    const d = distribution(values);
    const scale = query.get('scale') ?? 'log';
    const count = Number(query.get('bins') ?? 100);
    const min = d?.min_ns ?? 1;
    const max = (d?.max_ns ?? 2) * 1.0001;
    const edge = (n) => (scale === 'log' ? min * (max / min) ** (n / count) : min + ((max - min) * n) / count);
    const bins = Array.from({ length: count }, (_, n) => ({ from_ns: edge(n), until_ns: edge(n + 1), count: 0 }));
    for (const v of values) {
      const n = scale === 'log' ? Math.log(v / min) / Math.log(max / min) : (v - min) / (max - min);
      bins[Math.max(0, Math.min(count - 1, Math.floor(n * count)))].count += 1;
    }
    const limit = query.has('limit_ns') ? Number(query.get('limit_ns')) : null;
    const above = limit === null ? 0 : values.filter((v) => v > limit).length;
    return {
      bins, scale, distribution: d,
      verdict: limit === null || d === null ? null : {
        limit_ns: limit, share: 0.003, count: d.count, above, share_above: above / d.count, holds: above / d.count < 0.003,
        sentence: `${((1 - above / d.count) * 100).toFixed(2)} % of ${d.count} chains within ${limit / 1e6} ms: the requirement ${above / d.count < 0.003 ? 'holds' : 'is not met'}`,
      },
      paths: [[NORMAL, 4, false], [MPA, 5, true]].map(([hops, level, mpa]) => ({ path: words(hops), level, distribution: distribution(inside.filter((c) => c.mpa === mpa).map((c) => c.duration)) })).filter((p) => p.distribution),
      counts: { used: values.length, incomplete: 3, negative: 0 }, losses: { lost_rows: 4211, damaged_rows: 0, expired_rows: 0 },
      clocks: CLOCKS, elapsed_ms: 100,
    };
  },
  chains(query) {
    const inside = selected(query);
    const order = query.get('order') ?? 'longest';
    const sorted = [...inside].sort(order === 'first' ? (a, b) => a.start - b.start : order === 'shortest' ? (a, b) => a.duration - b.duration : (a, b) => b.duration - a.duration);
    return {
      total: inside.length,
      chains: sorted.slice(0, Number(query.get('limit') ?? 100)).map((c) => ({ chain: c.id, start_ns: c.start, duration_ns: c.duration, path: words(c.mpa ? MPA : NORMAL), level: c.mpa ? 5 : 4, leaf_host: c.host })),
    };
  },
  hops(query) {
    const inside = new Set(selected(query));
    const context = new URLSearchParams(query);
    for (const name of ['from_ns', 'until_ns', 'min_ns', 'max_ns']) context.delete(name);
    if (query.has('context_from_ns')) context.set('from_ns', query.get('context_from_ns'));
    if (query.has('context_until_ns')) context.set('until_ns', query.get('context_until_ns'));
    const rest = selected(context).filter((c) => !inside.has(c));
    const edges = Array.from({ length: 41 }, (_, n) => 1e3 * 10 ** (n / 6.5));
    const side = (values) => {
      const d = distribution(values);
      const counts = edges.slice(1).map(() => 0);
      for (const v of values) counts[Math.max(0, Math.min(39, Math.floor(Math.log10(v / 1e3) * 6.5)))] += 1;
      return { count: values.length, mean_ns: d?.mean_ns ?? 0, median_ns: d?.median_ns ?? 0, p99_ns: d?.p99_ns ?? 0, counts };
    };
    const hops = NORMAL.flatMap((hop, n) => ['wait', 'work'].map((part, which) => {
      const of = (set) => [...set].map((c) => c.parts[c.mpa && n > 0 ? n + 1 : n][which]);
      return { hop, level: n, part, selected: side(of(inside)), rest: side(of(rest)) };
    })).filter((h) => h.selected.mean_ns > 0);
    const differences = hops.map((h) => Math.max(0, h.selected.mean_ns - h.rest.mean_ns));
    const total = differences.reduce((a, b) => a + b, 0) || 1;
    const answer = hops.map((h, n) => ({ ...h, shift_ns: h.selected.median_ns - h.rest.median_ns, ks: 0.5, p_value: differences[n] / total > 0.1 ? 1e-9 : 0.4, share_of_difference: differences[n] / total, inside: h.part === 'work' ? [{ class: 'MRTS::lookup', selected_mean_ns: h.selected.mean_ns * 0.8, rest_mean_ns: h.rest.mean_ns * 0.1 }] : [] }));
    const worst = [...answer].sort((a, b) => b.share_of_difference - a.share_of_difference)[0];
    const counted = (set, host) => [...set].filter((c) => c.host === host).length;
    return {
      selected: inside.size, rest: rest.length, sampled_selected: inside.size, sampled_rest: rest.length, hops: answer, edges_ns: edges,
      hosts: HOSTS.map((host) => ({ host, hop: NORMAL[4], selected: counted(inside, host), rest: counted(rest, host) })),
      sentence: worst === undefined ? '' : `${Math.round(worst.share_of_difference * 100)} % of the difference is the ${worst.part === 'wait' ? 'wait before' : 'work of'} ${worst.hop}`,
    };
  },
  contrast(query) {
    const other = selected(query);
    const usual = chains.filter((c) => !other.includes(c)).slice(0, 4000);
    const share = (set) => set.filter((c) => c.mpa).length / Math.max(1, set.length);
    const [otherShare, usualShare] = [share(other), share(usual)];
    const row = {
      filter: 'mode=mpa', same: ['radar=east'], usual: Math.round(usualShare * usual.length), other: Math.round(otherShare * other.length),
      usual_share: usualShare, other_share: otherShare, difference: otherShare - usualShare, ratio: usualShare === 0 ? null : otherShare / usualShare,
      mean_shift_ns: 20e6, median_shift_ns: 18_000_000, p_value: 1e-9, p_corrected: 0.001,
    };
    const percent = (part) => `${Math.round(100 * part)} %`;
    return {
      usual: { total: chains.length - other.length, sampled: usual.length }, other: { total: other.length, sampled: other.length }, limit_ns: null,
      differences: [row], looked_at: 42, rare: 1234, damage: [],
      sentence: `mode=mpa (and radar=east): ${percent(otherShare)} of the selected, ${percent(usualShare)} of the others of the same time`,
    };
  },
};

Object.assign(ANSWERS, {
  marks: () => ({ marks: [{ id: 1, at_ns: FROM_NS + SPAN_NS * 0.6, text: 'v4.2 on shop', service: 'shop', by: 'ops' }], damage: [] }),
  versions: () => ({ changes: [{ at_ns: FROM_NS + SPAN_NS * 0.62, service: 'cart', version: 'v7', before: 'v6' }], cut: false, rows: COUNT, newest_only: false, damage: [] }),
  views: () => ({ views: [{ name: 'slow redraws', address: '/scatter?min_ns=10000000', by: '' }], damage: [] }),
  attributes: () => ({ names: [{ key: 'host.name', rows: COUNT, values: HOSTS.length, values_cut: false }], cut: false, rows: COUNT, newest_only: false, damage: [] }),
  groups(query) {
    const inside = selected(query);
    const of = (set) => distribution(set.map((c) => c.duration));
    const groups = HOSTS.map((host) => ({ group: { values: query.getAll('by').map(() => host), others: false }, distribution: of(inside.filter((c) => c.host === host)), above: null }));
    return { by: query.getAll('by'), groups: groups.filter((group) => group.distribution), distribution: of(inside), merged: 0, cut: [false], damage: [], elapsed_ms: 1 };
  },
});

// Attributes as an SDK of OpenTelemetry gives them.
const SPAN = {
  ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`telemetry.resource.attribute.of.some.length.${n}`, `value ${n}`])),
  'messaging.destination.name': 'orders', 'db.statement': `select ${'a_long_column, '.repeat(60)}1`, 'exception.message': 'java.net.SocketTimeoutException: timeout',
};

function chain(id) {
  const c = byId.get(id);
  if (c === undefined) return null;
  const hops = c.mpa ? MPA : NORMAL;
  let at = 0;
  const rows = hops.map((name, n) => {
    const [wait, work] = c.parts[n];
    at += wait;
    const start = at;
    at += work;
    const [application, cls] = name.split('::');
    return {
      id: `${id.slice(16)}${n}`, parent: n === 0 ? null : `${id.slice(16)}${n - 1}`, depth: n, level: n, application, class: cls,
      host: application === 'CWP' ? c.host : application.toLowerCase(), process: 4000 + n, thread: 4000 + n, start_ns: start, elapsed_ns: work,
      cpu_ns: n === 3 ? null : work * 0.8, status: 'GOOD', asynchronous: n > 0, wait_ns: n === 0 ? null : wait, percentile: Math.round(random() * 1000) / 10,
      clock_error_ns: application === 'CWP' ? 120e3 : 0, open: false, properties: n === 3 ? SPAN : { sector: 'EDGG' }, metrics: { plots: 12 }, links_unknown: false,
      links: n === 2 ? [{ chain: chains[0].id, id: '1', class: 'MRTS::decodePlots', root_start_ns: chains[0].start }, { chain: id, id: `${id.slice(16)}0`, class: NORMAL[0], root_start_ns: c.start }] : [],
    };
  });
  // Two synchronous children, so that both kinds are drawn.
  rows.splice(1, 0, { ...rows[0], id: 'inner', parent: rows[0].id, depth: 1, level: 1, class: 'parseAsterix', start_ns: rows[0].elapsed_ns * 0.1, elapsed_ns: rows[0].elapsed_ns * 0.5, asynchronous: false, wait_ns: 0 });
  const idle = rows.slice(2).map((row) => ({ from_ns: row.start_ns - row.wait_ns, until_ns: row.start_ns })).filter((gap) => gap.until_ns - gap.from_ns > 100e3);
  return { chain: id, root_start_ns: c.start, duration_ns: c.duration, apcd_ns: at, complete: !c.incomplete, missing: c.incomplete ? 1 : 0, rows, idle, previous: null, next: null };
}

createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://fixture');
  const path = url.pathname.replace('/api/v1/', '');
  const id = /^chains\/([^/]+)$/.exec(path)?.[1];
  const ringId = /^rings\/([^/]+)$/.exec(path)?.[1];
  const answer = id !== undefined ? chain(id) : ringId !== undefined ? ring(decodeURIComponent(ringId), Number(url.searchParams.get('last') ?? 100)) : ANSWERS[path]?.(url.searchParams);
  response.writeHead(answer == null ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer ?? { error: `the fixture has no ${path}` }));
}).listen(PORT, '127.0.0.1', () => console.log(`made-up answers on http://127.0.0.1:${PORT}`));

// The status page: everything is read from status.json, counterdata and why, and drawn here.
"use strict";

// With thousands of clients the document is large: it is asked for less often.
const refreshMs = () => (status && status.clients.length > 2000 ? 15000 : 5000);
const ROWS_STEP = 200;
const GRAPHS = [
  { name: "Packets in", keys: ["totals.tcp_pkts_rx", "totals.udp_pkts_rx", "totals.sctp_pkts_rx"], unit: "packets/s", per: 60 },
  { name: "Packets out", keys: ["totals.tcp_pkts_tx", "totals.udp_pkts_tx", "totals.sctp_pkts_tx"], unit: "packets/s", per: 60 },
  { name: "New packets", keys: ["dupecheck.uniques_out"], unit: "packets/s", per: 60 },
  { name: "Duplicates", keys: ["dupecheck.dupes_dropped"], unit: "packets/s", per: 60 },
  { name: "Dropped", keys: ["totals.pkts_ign"], unit: "packets/s", per: 60 },
  { name: "Octets in", keys: ["totals.tcp_bytes_rx", "totals.udp_bytes_rx", "totals.sctp_bytes_rx"], unit: "B/s", per: 60 },
  { name: "Octets out", keys: ["totals.tcp_bytes_tx", "totals.udp_bytes_tx", "totals.sctp_bytes_tx"], unit: "B/s", per: 60 },
  { name: "Clients", keys: ["totals.clients"], unit: "clients", per: 1 },
  { name: "Connections", keys: ["totals.connects"], unit: "a minute", per: 1 },
];

const $ = (id) => document.getElementById(id);
let status = null;
let before = null;
let graph = 0;
let points = [];
let cursor = -1;
let shown = ROWS_STEP;
const sort = { key: "since_connect", down: false };

// ---- state in the address, so that a view can be kept and sent

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  graph = Math.max(0, GRAPHS.findIndex((g) => g.name === given.get("graph")));
  sort.key = CLIENTS.some((c) => c.key === given.get("sort")) ? given.get("sort") : "since_connect";
  sort.down = given.get("down") === "1";
  $("find").value = given.get("find") ?? "";
  $("why-call").value = given.get("why") ?? "";
}

function writeAddress() {
  const state = new URLSearchParams();
  if (graph) state.set("graph", GRAPHS[graph].name);
  if (sort.key !== "since_connect" || sort.down) { state.set("sort", sort.key); if (sort.down) state.set("down", "1"); }
  if ($("find").value) state.set("find", $("find").value);
  if ($("why-call").value) state.set("why", $("why-call").value);
  history.replaceState(null, "", "#" + state);
}

// ---- words and numbers

const count = (n) => (n ?? 0).toLocaleString("en").replaceAll(",", "\u202f");

function scaled(n) {
  const size = Math.abs(n);
  for (const [unit, step] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (size >= step) return (n / step).toFixed(size / step < 10 ? 2 : 1) + "\u202f" + unit;
  }
  return Number.isInteger(n) ? String(n) : n.toFixed(size < 10 ? 2 : 1);
}

const octets = (n) => (n < 1000 ? n + "\u202fB" : scaled(n) + "B");

function age(seconds) {
  const s = Math.max(0, Math.floor(seconds ?? 0));
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min";
  if (s < 86400) return Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
  return Math.floor(s / 86400) + " d " + Math.floor((s % 86400) / 3600) + " h";
}

const time = (utc) => new Date(utc * 1000).toISOString().slice(0, 19).replace("T", " ");
const clock = (utc) => new Date(utc * 1000).toISOString().slice(11, 16);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

function drawn(name, attributes = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Change per second of a number since the last reading; undefined at the first. */
function rate(now, last) {
  const seconds = before && status.server.tick_now - before.server.tick_now;
  return seconds > 0 && last !== undefined && now >= last ? (now - last) / seconds : undefined;
}

// ---- tables

/** A column: key, title, n: right-aligned, cell: content from a row, sort: what to sort by. */
function table(id, columns, rows, caption, sortable) {
  const head = element("tr", {}, ...columns.map((column) => {
    if (!sortable) return element("th", { scope: "col", class: column.n && "n" }, column.title);
    const sorted = column.key === sort.key ? (sort.down ? "descending" : "ascending") : undefined;
    const button = element("button", { type: "button", "data-sort": column.key },
      column.title + (sorted ? (sort.down ? " ▼" : " ▲") : ""));
    return element("th", { scope: "col", class: column.n && "n", "aria-sort": sorted }, button);
  }));
  const body = rows.map((row) => element("tr", {}, ...columns.map((column) => {
    const content = column.cell ? column.cell(row) : row[column.key];
    const value = typeof content === "number" ? count(content) : content ?? "";
    return element("td", { class: [column.n && "n", column.class].filter(Boolean).join(" ") || undefined }, value);
  })));
  const kept = document.activeElement?.dataset?.sort;
  $(id).replaceChildren(element("caption", { hidden: true }, caption), element("thead", {}, head), element("tbody", {}, ...body));
  if (kept && sortable) $(id).querySelector(`[data-sort="${CSS.escape(kept)}"]`)?.focus();
}

const program = (row) => [row.app_name, row.app_version].filter(Boolean).join(" ");

function rates(list) {
  const memory = new Map((before?.[list] ?? []).map((row) => [row.id, row]));
  return (row) => {
    const old = memory.get(row.id) ?? {};
    const [out, into] = [rate(row.bytes_tx, old.bytes_tx), rate(row.bytes_rx, old.bytes_rx)];
    return out === undefined ? "" : scaled(out) + " / " + scaled(into ?? 0);
  };
}

/** Dropped packets with their reasons behind a disclosure. */
const dropsOf = (list) => (row) => {
  if (!row.pkts_ign) return "0";
  const reasons = status.rx_errs.map((name, at) => [name, row.rx_errs[at] ?? 0]).filter(([, n]) => n > 0);
  const id = list + row.id;
  const box = element("details", { "data-open": id }, element("summary", {}, count(row.pkts_ign)),
    ...reasons.map(([name, n]) => element("div", {}, count(n) + " " + name)));
  box.open = opened.has(id);
  return box;
};
const opened = new Set();

function verified(row) {
  if (row.verified === 3) return "certificate";
  return row.verified ? "yes" : element("span", { class: "no" }, "no");
}

const waiting = (row) => row.waiting_ms > 1000
  ? element("span", { class: "warn" }, scaled(row.obuf_q) + ", " + (row.waiting_ms / 1000).toFixed(1) + " s")
  : scaled(row.obuf_q);

const traffic = (list) => [
  { key: "pkts_tx", title: "Packets out", n: true },
  { key: "pkts_rx", title: "Packets in", n: true },
  { key: "pkts_dup", title: "Duplicates", n: true },
  { key: "pkts_ign", title: "Dropped", n: true, cell: dropsOf(list) },
  { key: "bytes_tx", title: "Octets out", n: true, cell: (row) => scaled(row.bytes_tx) },
  { key: "bytes_rx", title: "Octets in", n: true, cell: (row) => scaled(row.bytes_rx) },
  { key: "rates", title: "Out / in B/s", n: true, cell: (row) => currentRates[list](row) },
];
const currentRates = {};

const CLIENTS = [
  { key: "username", title: "Callsign" },
  { key: "verified", title: "Verified", cell: verified },
  { key: "addr_loc", title: "Port", cell: (row) => row.addr_loc.slice(row.addr_loc.lastIndexOf(":") + 1) },
  { key: "addr_rem", title: "Address", cell: (row) => row.addr_rem + (row.udp_downstream ? " +UDP" : "") },
  { key: "app_name", title: "Program", cell: program },
  { key: "since_connect", title: "Connected", n: true, cell: (row) => age(row.since_connect) },
  { key: "since_last_read", title: "Last heard", n: true, cell: (row) => age(row.since_last_read) },
  ...traffic("clients"),
  { key: "obuf_q", title: "Waiting", n: true, cell: waiting },
  { key: "heard_count", title: "Heard", n: true },
  { key: "filter", title: "Filter", class: "filter" },
];

const UPLINKS = [
  { key: "username", title: "Server" },
  { key: "addr_rem", title: "Address" },
  { key: "mode", title: "Mode" },
  { key: "app_name", title: "Program", cell: program },
  { key: "since_connect", title: "Connected", n: true, cell: (row) => age(row.since_connect) },
  { key: "since_last_read", title: "Last heard", n: true, cell: (row) => age(row.since_last_read) },
  ...traffic("uplinks"),
  { key: "obuf_q", title: "Waiting", n: true, cell: waiting },
];

const PEERS = [
  { key: "username", title: "Server" },
  { key: "addr_rem", title: "Address" },
  { key: "since_last_read", title: "Last heard", n: true, cell: (row) => age(row.since_last_read) },
  ...traffic("peers"),
];

const PORTS = [
  { key: "name", title: "Name" },
  { key: "kind", title: "Kind" },
  { key: "proto", title: "Protocol", cell: (row) => row.proto + (row.tls ? ", TLS" : "") },
  { key: "addr", title: "Address" },
  { key: "clients", title: "Clients", n: true },
  { key: "clients_peak", title: "Peak", n: true },
  { key: "clients_max", title: "Most", n: true },
  { key: "connects", title: "Connections", n: true },
  ...traffic("listeners"),
];

function showClients() {
  if (!status) return;
  const find = $("find").value.trim().toLowerCase();
  const text = (row) => [row.username, row.addr_rem, row.addr_loc, program(row), row.filter].join(" ").toLowerCase();
  const found = find ? status.clients.filter((row) => text(row).includes(find)) : status.clients.slice();
  const old = new Map((before?.clients ?? []).map((row) => [row.id, row]));
  const of = (row) => sort.key === "rates"
    ? rate(row.bytes_tx, old.get(row.id)?.bytes_tx) ?? 0
    : row[sort.key] ?? "";
  found.sort((a, b) => {
    const [x, y] = [of(a), of(b)];
    const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
    return (sort.down ? -order : order) || a.id - b.id;
  });
  table("clients-t", CLIENTS, found.slice(0, shown), "Clients", true);
  const hidden = status.totals.clients - status.clients.length;
  $("clients-count").textContent = (find ? count(found.length) + " of " : "") + count(status.clients.length)
    + (hidden > 0 ? ", and " + count(hidden) + " on hidden ports" : "");
  $("more-p").hidden = found.length <= shown;
  $("more").textContent = "Show " + count(Math.min(ROWS_STEP, found.length - shown)) + " more";
}

// ---- the rest of the page

function show() {
  const { server, totals, dupecheck } = status;
  document.title = server.server_id + " – APRS-IS server status";
  $("server-id").textContent = server.server_id;
  $("software").textContent = [server.software, server.software_version].join(" ") + " on " + server.os;
  $("about").textContent = ["Operator " + server.admin,
    /showemail=1/i.test(status.status_options ?? "") && server.email, "up " + age(server.uptime),
    "since " + time(server.time_started)].filter(Boolean).join(" · ");
  const last = before ?? { totals: {}, dupecheck: {} };
  const sum = (what, from) => ["tcp", "udp", "sctp"].reduce((all, name) => all + (from.totals[`${name}_${what}`] ?? NaN), 0);
  const perSecond = (now, old) => { const r = rate(now, old); return r === undefined ? "…" : scaled(r) + "/s"; };
  const figure = (title, value, below) => element("div", {}, element("dt", {}, title),
    element("dd", {}, value, element("small", {}, below)));
  $("figures").replaceChildren(
    figure("Clients", count(totals.clients), "at most " + count(totals.clients_max)),
    figure("Packets in", perSecond(sum("pkts_rx", status), sum("pkts_rx", last)), count(sum("pkts_rx", status))),
    figure("Packets out", perSecond(sum("pkts_tx", status), sum("pkts_tx", last)), count(sum("pkts_tx", status))),
    figure("New packets", perSecond(dupecheck.uniques_out, last.dupecheck.uniques_out), count(dupecheck.uniques_out)),
    figure("Duplicates", perSecond(dupecheck.dupes_dropped, last.dupecheck.dupes_dropped), count(dupecheck.dupes_dropped)),
    figure("Octets out", perSecond(sum("bytes_tx", status), sum("bytes_tx", last)), octets(sum("bytes_tx", status))),
    figure("Uplinks", count(status.uplinks.length), "of " + count(status.uplinks_configured.length)
      + (status.peers.length ? ", " + count(status.peers.length) + " core peers" : "")),
    figure("Cut as too slow", count(totals.stale_cuts), count(totals.refused) + " refused"),
    figure("Memory", octets(status.memory.process_resident_bytes ?? 0), "of the process"),
  );
  showFaults();
  showTraffic(last);
  showDrops();
  for (const list of ["clients", "uplinks", "peers", "listeners"]) currentRates[list] = rates(list);
  table("listeners", PORTS, status.listeners, "Ports");
  $("uplinks-s").hidden = !status.uplinks.length;
  table("uplinks", UPLINKS, status.uplinks, "Uplinks");
  $("peers-s").hidden = !status.peers.length;
  table("peers", PEERS, status.peers, "Core peers");
  showClients();
}

function showFaults() {
  const items = status.faults.map((fault) => element("li", {},
    element("strong", {}, fault.name), ": " + fault.text + " ",
    element("span", { class: "soft" }, "since " + time(fault.since) + (fault.count > 1 ? ", " + count(fault.count) + " times" : ""))));
  items.push(...status.uplinks_configured.filter((uplink) => uplink.id === null && uplink.attempts > 0).map((uplink) => element("li", {},
    element("strong", {}, "uplink " + uplink.name), ` (${uplink.addr}) is not connected after ${count(uplink.attempts)} attempts`
      + (uplink.error ? ": " + uplink.error : ""))));
  const made = items.length ? [element("h2", {}, "Faults"), element("ul", {}, ...items)] : [];
  $("faults").hidden = !items.length;
  // An alert is read aloud when it changes: only then is it made anew.
  if ($("faults").textContent !== made.map((part) => part.textContent).join("")) $("faults").replaceChildren(...made);
}

function showTraffic(last) {
  const rows = [["TCP", "tcp"], ["UDP", "udp"], ["SCTP", "sctp"]].map(([title, name]) => ({ title, name }));
  const cell = (what) => ({ name }) => {
    const now = status.totals[`${name}_${what}`];
    const r = rate(now, last.totals[`${name}_${what}`]);
    return element("span", {}, what.startsWith("bytes") ? octets(now) : count(now),
      element("span", { class: "soft" }, r === undefined ? "" : "  " + scaled(r) + "/s"));
  };
  table("totals", [
    { key: "title", title: "" },
    { key: "pkts_rx", title: "Packets in", n: true, cell: cell("pkts_rx") },
    { key: "pkts_tx", title: "Packets out", n: true, cell: cell("pkts_tx") },
    { key: "bytes_rx", title: "Octets in", n: true, cell: cell("bytes_rx") },
    { key: "bytes_tx", title: "Octets out", n: true, cell: cell("bytes_tx") },
  ], rows.filter(({ name }) => name === "tcp" || status.totals[`${name}_pkts_rx`] || status.totals[`${name}_pkts_tx`]), "Traffic by protocol");
}

function showDrops() {
  const all = ["tcp", "udp", "sctp"].map((name) => status.totals[`${name}_rx_errs`] ?? []);
  const rows = status.rx_errs.map((name, at) => ({ name, meaning: status.rx_errs_meaning[at], packets: all.reduce((sum, errors) => sum + (errors[at] ?? 0), 0) }));
  rows.push(...Object.entries(status.dupecheck.variations).map(([name, packets]) => ({ name: "duplicate: " + name, meaning: "", packets })));
  const seen = rows.filter((row) => row.packets > 0).sort((a, b) => b.packets - a.packets);
  if (!seen.length) return $("drops").replaceChildren(element("tbody", {}, element("tr", {}, element("td", {}, "None so far."))));
  table("drops", [{ key: "name", title: "Reason" }, { key: "meaning", title: "", class: "text soft" }, { key: "packets", title: "Packets", n: true }], seen, "Drops by reason");
}

// ---- graph

async function loadGraph() {
  const wanted = GRAPHS[graph];
  const answers = await Promise.all(wanted.keys.map(async (key) => (await fetch("counterdata?" + key)).json()));
  if (wanted !== GRAPHS[graph]) return;
  const sums = new Map();
  for (const { values } of answers) {
    for (const [at, value] of values) {
      const sum = sums.get(at);
      if (value < 0) sums.set(at, sum ?? null);
      else sums.set(at, (sum ?? 0) + value / wanted.per);
    }
  }
  points = [...sums].sort((a, b) => a[0] - b[0]);
  cursor = -1;
  drawGraph();
}

/** A round number at or above n, so that the axis has readable steps. */
function roundUp(n) {
  if (n <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 2.5, 5, 10].find((step) => n <= step * power) * power;
}

function drawGraph() {
  const svg = $("graph");
  const { name, unit } = GRAPHS[graph];
  const [width, height] = [svg.clientWidth || 800, svg.clientHeight || 260];
  const box = { left: 64, right: width - 16, top: 14, bottom: height - 26 };
  const known = points.filter(([, value]) => value !== null);
  const end = points.length ? points.at(-1)[0] : Math.floor(Date.now() / 1000);
  const begin = end - 48 * 3600;
  const most = roundUp(Math.max(0, ...known.map(([, value]) => value)));
  const x = (at) => box.left + (at - begin) / (end - begin) * (box.right - box.left);
  const y = (value) => box.bottom - value / most * (box.bottom - box.top);
  const parts = [];
  for (let step = 0; step <= 4; step += 1) {
    const value = most * step / 4;
    parts.push(drawn("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }));
    parts.push(drawn("text", { x: box.left - 8, y: y(value) + 4, "text-anchor": "end" }, scaled(value)));
  }
  for (let at = Math.ceil(begin / 21600) * 21600; at <= end; at += 21600) {
    parts.push(drawn("line", { class: "grid", x1: x(at), x2: x(at), y1: box.top, y2: box.bottom }));
    const midnight = at % 86400 === 0;
    parts.push(drawn("text", { x: x(at), y: box.bottom + 18, "text-anchor": "middle" },
      midnight ? new Date(at * 1000).toISOString().slice(5, 10) : clock(at)));
  }
  for (const run of runs(points)) {
    const line = run.map(([at, value]) => x(at).toFixed(1) + "," + y(value).toFixed(1));
    parts.push(drawn("polygon", { class: "area", points: [x(run[0][0]) + "," + box.bottom, ...line, x(run.at(-1)[0]) + "," + box.bottom].join(" ") }));
    parts.push(drawn("polyline", { class: "curve", points: line.join(" ") }));
    if (run.length === 1) parts.push(drawn("circle", { class: "at", cx: x(run[0][0]), cy: y(run[0][1]), r: 2 }));
  }
  const at = points[cursor];
  if (at) {
    parts.push(drawn("line", { class: "cursor", x1: x(at[0]), x2: x(at[0]), y1: box.top, y2: box.bottom }));
    if (at[1] !== null) parts.push(drawn("circle", { class: "at", cx: x(at[0]), cy: y(at[1]), r: 3.5 }));
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(...parts);
  svg.scale = { x, begin, end };
  const values = known.map(([, value]) => value);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  $("graph-text").textContent = at
    ? `${name} at ${time(at[0])}: ${at[1] === null ? "no data" : scaled(at[1]) + " " + unit}`
    : values.length
      ? `${name}, ${unit}: now ${scaled(values.at(-1))}, mean ${scaled(mean)}, most ${scaled(Math.max(...values))}`
      : `${name}: the first sample comes within a minute of the start`;
}

/** Pieces without a gap. */
function runs(all) {
  const pieces = [];
  let piece = [];
  for (const point of all) {
    const gap = piece.length && point[0] - piece.at(-1)[0] > 180;
    if ((point[1] === null || gap) && piece.length) { pieces.push(piece); piece = []; }
    if (point[1] !== null) piece.push(point);
  }
  if (piece.length) pieces.push(piece);
  return pieces;
}

function moveCursor(to) {
  cursor = Math.max(0, Math.min(points.length - 1, to));
  drawGraph();
}

// ---- why

async function askWhy() {
  const call = $("why-call").value.trim().toUpperCase();
  writeAddress();
  if (!call) return $("why").replaceChildren();
  let answer;
  try {
    const response = await fetch("why?call=" + encodeURIComponent(call));
    if (!response.ok) throw new Error("HTTP " + response.status);
    answer = await response.json();
  } catch (error) {
    return $("why").replaceChildren(element("p", { class: "no" }, "No answer: " + error.message));
  }
  const reasons = (list) => element("ul", {}, ...list.map((reason) =>
    element("li", {}, count(reason.packets) + " × ", element("strong", {}, reason.reason), " – " + reason.meaning)));
  const parts = answer.clients.map((row) => element("div", {},
    element("p", {}, element("strong", {}, row.username), ` is connected from ${row.address}, ${row.verified ? "verified" : "not verified"}: `
      + `${count(row.packets)} packets came from it, ${count(row.duplicates)} of them duplicates`
      + (row.reasons.length ? "; dropped:" : ", none was dropped for another reason.")),
    reasons(row.reasons)));
  if (answer.as_source.length) parts.push(element("p", {}, `Packets of ${call} that were dropped, whoever sent them:`), reasons(answer.as_source));
  if (answer.as_client.length) parts.push(element("p", {}, `Packets that ${call} sent as a client and that were dropped:`), reasons(answer.as_client));
  if (answer.recent.length) {
    const cells = (row) => [time(row.time), row.client || "nobody logged in", row.reason, element("code", {}, row.line)].map((cell) => element("td", {}, cell));
    parts.push(element("p", {}, "The last of them:"), element("div", { class: "wide" }, element("table", {},
      element("thead", {}, element("tr", {}, ...["Time", "From", "Reason", "Line"].map((title) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, ...answer.recent.map((row) => element("tr", {}, ...cells(row)))))));
  }
  if (!parts.length) parts.push(element("p", {}, `Nothing of ${call} was dropped lately, and it is not connected. If its packets do not arrive, they do not reach this server.`));
  $("why").replaceChildren(...parts);
}

// ---- refresh

let motdText = "";
async function loadMotd() {
  let text = "";
  if (status.motd) {
    const response = await fetch(status.motd);
    if (response.ok) text = await response.text();
  }
  $("motd").hidden = !text;
  if (text !== motdText) { motdText = text; $("motd").innerHTML = text; }
}

function live(works, words) {
  $("live").className = works ? "live" : "lost";
  if ($("live-text").textContent !== words) $("live-text").textContent = words;
}

let reading = false;
async function refresh() {
  if (reading || document.hidden) return;
  reading = true;
  try {
    const response = await fetch("status.json", { cache: "no-store", signal: AbortSignal.timeout(15000) });
    if (!response.ok) throw new Error("HTTP " + response.status);
    const fresh = await response.json();
    if (status?.server.tick_now !== fresh.server.tick_now) before = status;
    const first = !status;
    status = fresh;
    show();
    live(true, `live, every ${refreshMs() / 1000} s`);
    if (first) await loadMotd();
  } catch (error) {
    live(false, `no answer since ${status ? time(status.server.time_now) : "the page was opened"}: ${error.message}`);
  } finally {
    reading = false;
  }
}

function start() {
  readAddress();
  $("graph-choice").append(...GRAPHS.map((of, at) => element("button", { type: "button", "data-graph": at, "aria-pressed": String(at === graph) }, of.name)));
  $("graph-choice").addEventListener("click", (event) => {
    const chosen = event.target.closest("[data-graph]");
    if (!chosen) return;
    graph = Number(chosen.dataset.graph);
    for (const button of $("graph-choice").children) button.setAttribute("aria-pressed", String(button === chosen));
    writeAddress();
    loadGraph().catch(graphFailed);
  });
  $("graph").addEventListener("pointermove", (event) => {
    if (!points.length) return;
    const { begin, end, x } = $("graph").scale;
    const left = event.clientX - $("graph").getBoundingClientRect().left;
    const at = begin + (left - x(begin)) / (x(end) - x(begin)) * (end - begin);
    let nearest = 0;
    points.forEach((point, index) => { if (Math.abs(point[0] - at) < Math.abs(points[nearest][0] - at)) nearest = index; });
    moveCursor(nearest);
  });
  $("graph").addEventListener("pointerleave", () => { cursor = -1; drawGraph(); });
  $("graph").addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -60, PageDown: 60, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !points.length) return;
    event.preventDefault();
    moveCursor((cursor < 0 ? points.length - 1 : cursor) + steps[event.key]);
  });
  $("clients-t").addEventListener("click", (event) => {
    const key = event.target.closest("[data-sort]")?.dataset.sort;
    if (!key) return;
    sort.down = sort.key === key ? !sort.down : false;
    sort.key = key;
    writeAddress();
    showClients();
  });
  document.addEventListener("toggle", (event) => {
    const id = event.target.dataset?.open;
    if (id !== undefined) event.target.open ? opened.add(id) : opened.delete(id);
  }, true);
  $("find").addEventListener("input", () => { shown = ROWS_STEP; writeAddress(); showClients(); });
  $("more").addEventListener("click", () => { shown += ROWS_STEP; showClients(); });
  $("why-form").addEventListener("submit", (event) => { event.preventDefault(); askWhy(); });
  document.addEventListener("visibilitychange", refresh);
  addEventListener("resize", drawGraph);
  const graphFailed = (error) => { $("graph-text").textContent = "The graph could not be read: " + error.message; };
  const again = () => loadGraph().catch(graphFailed);
  again();
  if ($("why-call").value) askWhy();
  (function poll() { refresh().finally(() => setTimeout(poll, before ? refreshMs() : 2000)); })();
  setInterval(() => { if (!document.hidden) { again(); if (status) loadMotd().catch(() => live(false, "the operator's message could not be read")); } }, 60000);
}

start();

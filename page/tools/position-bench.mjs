// position-bench.mjs URL [SECONDS [updates]]: the working position at URL in headless Chromium, on 1280 × 800
// and 1920 × 1080 pixels. Prints frames a second while updates come and, without `updates`, while the
// picture is moved and while it is zoomed in every frame; the middle and the longest times from frame to
// frame; the longest task of the page's own thread; the time of the worker that draws for the parts of a
// frame, with all waiting in it; the processor time of both workers and of the whole browser for each;
// which of its threads were busy for how much of the time, and what limits the frames. GPU=1: with the
// GPU, if there is one. The load average says what else the machine had to do.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { chromium } from 'playwright-core';

const [url, seconds = '20', only] = process.argv.slice(2);
if (url === undefined) throw new Error('position-bench.mjs URL [SECONDS [updates]]');

const SIZES = [{ width: 1280, height: 800 }, { width: 1920, height: 1080 }];
const PHASES = [['updates as they come', ''], ['moved in every frame', 'pan'], ['zoomed in every frame', 'zoom']];
const PARTS = ['symbols', 'labels', 'map', 'placement', 'hand'];

/** In the page: does `what` in each of its animation frames; returns what the worker has drawn meanwhile. */
async function run({ ms, what }) {
  const position = window.workingPosition;
  const tasks = [];
  // The browser tells of those from 50 ms on.
  const observer = new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) tasks.push(duration); });
  observer.observe({ type: 'longtask' });
  const reported = () => new Promise((resolve) => { setTimeout(resolve, 120); });
  await reported();
  const before = structuredClone(position.screen.cost);
  const begin = performance.now();
  let turns = 0;
  await new Promise((resolve) => {
    const next = () => {
      turns++;
      if (what === 'pan') position.pan(turns % 100 < 50 ? 6 : -6, turns % 40 < 20 ? 2 : -2);
      if (what === 'zoom') position.zoomBy(turns % 60 < 30 ? 0.97 : 1 / 0.97);
      if (performance.now() - begin < ms) requestAnimationFrame(next);
      else resolve();
    };
    requestAnimationFrame(next);
  });
  const elapsed = performance.now() - begin;
  await reported();
  const after = position.screen.cost;
  observer.disconnect();
  return { elapsed, turns, before, after, longest: Math.max(0, ...tasks) };
}

const server = await chromium.launchServer({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', ...(process.env.GPU === '1' ? [] : ['--disable-gpu']), '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const browser = await chromium.connect(server.wsEndpoint());

/** Processor time of the threads of the browser so far by their names, ms (Linux: ticks of 10 ms). */
function threadMs() {
  const times = new Map();
  for (const pid of ownProcesses().keys()) {
    for (const task of listed(`/proc/${pid}/task`)) {
      try {
        const stat = readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8');
        const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')).replace(/[\d/]+$/, '');
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        times.set(name, (times.get(name) ?? 0) + (Number(fields[11]) + Number(fields[12])) * 10);
      } catch { /* it has ended meanwhile */ }
    }
  }
  return times;
}

function listed(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The browser's processes, and their processor time so far, ms. */
function ownProcesses() {
  const all = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      all.set(Number(pid), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch { /* it has ended meanwhile */ }
  }
  const isOurs = (pid) => pid === server.process().pid || (all.has(pid) && isOurs(all.get(pid).parent));
  return new Map([...all].filter(([pid]) => isOurs(pid)).map(([pid, { ticks }]) => [pid, ticks * 10]));
}

/** Processor time of the browser's processes so far, ms. */
function processorMs() {
  return [...ownProcesses().values()].reduce((sum, ms) => sum + ms, 0);
}

/** The busiest threads between two looks, and their share of the time. */
function busiest(before, after, elapsed) {
  const shares = [...after].map(([name, ms]) => ({ name, share: (ms - (before.get(name) ?? 0)) / elapsed }));
  return shares.sort((a, b) => b.share - a.share).slice(0, 4);
}

/** What draws in this browser: the name of its GPU, or of what stands in for one. */
function rendererOf() {
  const gl = new OffscreenCanvas(1, 1).getContext('webgl2');
  const names = gl?.getExtension('WEBGL_debug_renderer_info');
  return names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : 'none';
}

/** The least time within which `share` of the frames followed the one before, ms; `gaps`: count by ms. */
function gapAt(gaps, share) {
  const total = gaps.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  return gaps.findIndex((count) => { seen += count; return seen >= share * total && total > 0; });
}

/** What limits frames that are fewer than the screen's. `workersMs`: processor time of both workers for one. */
function limitOf(what, rate, workersMs, threads) {
  if (rate >= 57) return 'the screen, 60 Hz';
  const full = threads.find(({ share }) => share > 0.9);
  if (full !== undefined) return `the thread ${full.name}`;
  if (what === '' && workersMs < 15) return 'the updates: nothing is drawn where none has come';
  const needed = `the workers: ${workersMs.toFixed(1)} ms of 16.7 for a frame`;
  if (workersMs > 15) return needed;
  return `the processors, which others use: the machine has ${availableParallelism()}, its load is ${loadavg()[0].toFixed(1)}; ${needed}`;
}

/** One phase: its line, and what lies behind it. */
async function phase(page, name, what) {
  const processor = processorMs();
  const threads = threadMs();
  const { elapsed, turns, before, after, longest } = await page.evaluate(run, { ms: Number(seconds) * 1000, what });
  const frames = after.frames - before.frames;
  const each = (part) => (after[part] - before[part]) / Math.max(1, frames);
  const gaps = after.gaps.map((count, ms) => count - before.gaps[ms]);
  const busy = busiest(threads, threadMs(), elapsed);
  const rate = (frames * 1000) / elapsed;
  const drawMs = PARTS.reduce((sum, part) => sum + each(part), 0);
  const workersMs = (busy.find(({ name: thread }) => thread.startsWith('DedicatedWorker'))?.share ?? 0) * (1000 / rate);
  const cpu = (processorMs() - processor) / Math.max(1, frames);
  console.log([name.padEnd(22), rate.toFixed(1), gapAt(gaps, 0.5), gapAt(gaps, 0.99), gaps.findLastIndex((count) => count > 0), drawMs.toFixed(1), ...PARTS.map((part) => each(part).toFixed(1)), workersMs.toFixed(1), cpu.toFixed(1), longest === 0 ? '< 50' : longest.toFixed(0)].map((value) => String(value).padStart(9)).join(' '));
  const sheets = after.sheets - before.sheets;
  console.log(`    map drawn ${sheets} times by its own worker, ${((after.sheetMs - before.sheetMs) / Math.max(1, sheets)).toFixed(0)} ms each; page ${((turns * 1000) / elapsed).toFixed(0)} frames/s; busy: ${busy.map((one) => `${one.name} ${(100 * one.share).toFixed(0)} %`).join(', ')}; load ${loadavg()[0].toFixed(1)} on ${availableParallelism()} processors`);
  console.log(`    limited by ${limitOf(what, rate, workersMs, busy)}`);
}

try {
  for (const viewport of SIZES) {
    const page = await browser.newPage({ viewport });
    await page.goto(url);
    await page.waitForFunction(() => window.workingPosition?.targets.size > 0, undefined, { timeout: 60_000 });
    // All targets are there when no more come for a while.
    for (let before = -1, now = 0; before < now;) {
      before = now;
      await page.waitForTimeout(8000);
      now = await page.evaluate(() => window.workingPosition.targets.size);
    }
    const state = await page.evaluate(() => {
      const { targets, screen, status } = window.workingPosition;
      return { targets: targets.size, shown: screen.visibleCount, ...screen.reduced(), updates: status.value?.updates_per_s };
    });
    console.log(`${state.targets} targets, ${state.shown} of them on ${viewport.width} × ${viewport.height} pixels, ${state.updates} updates/s; labels: ${state.short} reduced, ${state.hidden} without; Chromium ${browser.version()}, ${process.env.GPU === '1' ? 'GPU allowed' : 'GPU switched off'}, WebGL by ${await page.evaluate(rendererOf)}`);
    console.log(['', 'frames/s', 'p50 ms', 'p99 ms', 'longest', 'drawing', ...PARTS, 'workers', 'browser', 'task ms'].map((word, index) => index === 0 ? word.padEnd(22) : word.padStart(9)).join(' '));
    for (const [name, what] of PHASES.slice(0, only === 'updates' ? 1 : undefined)) await phase(page, name, what);
    const later = await page.evaluate(() => window.workingPosition.later?.value);
    if (later !== undefined) console.log(`presented after the acknowledgement, last measured: ${later.toFixed(1)} ms`);
    await page.close();
  }
} finally {
  await browser.close();
  await server.close();
}

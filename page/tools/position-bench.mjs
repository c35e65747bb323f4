// position-bench.mjs URL [SECONDS [updates]]: the working position at URL in headless Chromium, on 1280 × 800
// and 1920 × 1080 pixels. Prints frames a second while updates come and, without `updates`, while the
// picture is moved and while it is zoomed in every frame, beside what this browser does alone with a canvas
// of that size and the ratio to it; the middle and the longest times from frame to frame; the longest task of
// the page's own thread; the time of the worker that draws for the parts of a frame, with all waiting in it;
// the processor time of a frame by what it is for, of the page and of the browser alone; which threads were
// busy for how much of the time, and what limits the frames. GPU=1: with the GPU, if there is one. PROFILE=1:
// the functions of each thread that took the most, too; that slows it down. The load average says what else
// the machine had to do.
import { availableParallelism, loadavg } from 'node:os';
import { chromium } from 'playwright-core';
import { alone } from './browser-alone.mjs';
import { BrowserTime, busiest, byGroup, GROUPS } from './browser-time.mjs';
import { profile } from './browser-profile.mjs';

const [url, seconds = '20', only] = process.argv.slice(2);
if (url === undefined) throw new Error('position-bench.mjs URL [SECONDS [updates]]');

const SIZES = [{ width: 1280, height: 800 }, { width: 1920, height: 1080 }];
const PHASES = [['updates as they come', ''], ['moved in every frame', 'pan'], ['zoomed in every frame', 'zoom']];
const PARTS = ['symbols', 'labels', 'map', 'placement', 'hand'];
/** The browser alone is measured for so long, ms. */
const ALONE_MS = 4000;

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

const time = new BrowserTime(server.process().pid);
const load = () => `load ${loadavg()[0].toFixed(1)} on ${availableParallelism()} processors`;

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

/** What limits frames that are fewer than the screen's. `cost`: processor time of a frame, ms, by group; `limit`: what the
 * browser does alone. */
function limitOf(what, rate, cost, limit, threads) {
  if (rate >= 57) return 'the screen, 60 Hz';
  if (limit !== undefined && what !== '' && rate >= 0.95 * limit.rate) return `the browser, which shows ${limit.rate.toFixed(1)} pictures of that size a second on this machine now`;
  const full = threads.find(({ share }) => share > 0.9);
  if (full !== undefined) return `the thread ${full.name}`;
  const drawing = cost.workers;
  if (what === '' && drawing < 15) return 'the updates: nothing is drawn where none has come';
  const needed = `the workers need ${drawing.toFixed(1)} ms of the 16.7 of a frame, all threads ${cost.all.toFixed(1)}`;
  return drawing > 15 ? needed : `the processors, which others use, too: ${load()}; ${needed}`;
}

const inGroups = (cost) => `${cost.all.toFixed(1)} ms: ${GROUPS.map((group) => `${group} ${cost[group].toFixed(1)}`).join(', ')}`;

/** What the browser does alone with a canvas of the page's size: its line, and the rate and the cost of handing on. */
async function limits({ width, height }) {
  const measured = {};
  for (const what of ['hand', 'move']) measured[what] = await alone(browser, time, { what, width, height, ms: ALONE_MS, origin: url }, byGroup);
  console.log(`the browser alone, ${width} × ${height} pixels, ${load()}:`);
  for (const [what, words] of [['hand', 'a worker hands on an array of pixels, the page asks for it in each frame'], ['move', 'the page only moves a finished canvas']]) {
    console.log(`    ${words}: ${measured[what].rate.toFixed(1)} frames/s; processor time of a frame ${inGroups(measured[what].cost)}`);
  }
  return measured.hand;
}

/** One phase: its line, and what lies behind it. */
async function phase(page, name, what, limit) {
  const stop = process.env.PROFILE === '1' ? await profile(browser, page) : undefined;
  const threads = time.threads();
  const { elapsed, turns, before, after, longest } = await page.evaluate(run, { ms: Number(seconds) * 1000, what });
  const later = time.threads();
  const frames = after.frames - before.frames;
  const each = (part) => (after[part] - before[part]) / Math.max(1, frames);
  const gaps = after.gaps.map((count, ms) => count - before.gaps[ms]);
  const busy = busiest(threads, later, elapsed);
  const rate = (frames * 1000) / elapsed;
  const drawMs = PARTS.reduce((sum, part) => sum + each(part), 0);
  const cost = Object.fromEntries(Object.entries(byGroup(threads, later)).map(([group, ms]) => [group, ms / Math.max(1, frames)]));
  const ratio = what === '' || limit === undefined ? '' : (rate / limit.rate).toFixed(2);
  console.log([name.padEnd(22), rate.toFixed(1), ratio, gapAt(gaps, 0.5), gapAt(gaps, 0.99), gaps.findLastIndex((count) => count > 0), drawMs.toFixed(1), ...PARTS.map((part) => each(part).toFixed(1)), cost.workers.toFixed(1), cost.all.toFixed(1), longest === 0 ? '< 50' : longest.toFixed(0)].map((value) => String(value).padStart(9)).join(' '));
  console.log(`    processor time of a frame ${inGroups(cost)}${limit === undefined ? '' : `; the browser needs ${limit.cost.all.toFixed(1)} ms alone`}`);
  const sheets = after.sheets - before.sheets;
  console.log(`    ${(100 * (after.parts - before.parts) / Math.max(1, frames)).toFixed(0)} % of the frames drawn in part; map drawn ${sheets} times by its own worker, ${((after.sheetMs - before.sheetMs) / Math.max(1, sheets)).toFixed(0)} ms each; page ${((turns * 1000) / elapsed).toFixed(0)} frames/s; busy: ${busy.map((one) => `${one.name} ${(100 * one.share).toFixed(0)} %`).join(', ')}; ${load()}`);
  console.log(`    limited by ${limitOf(what, rate, cost, limit, busy)}`);
  for (const line of (await stop?.(frames)) ?? []) console.log(`      ${line}`);
}

/** The working position in a page. */
async function opened(viewport) {
  const page = await browser.newPage({ viewport });
  await page.goto(url);
  await page.waitForFunction(() => window.workingPosition !== undefined, undefined, { timeout: 60_000 });
  return page;
}

async function measure(viewport) {
  const first = await opened(viewport);
  const size = await first.evaluate(() => ({ width: window.workingPosition.camera.width, height: window.workingPosition.camera.height }));
  await first.close(); // it would draw meanwhile
  const limit = only === 'updates' ? undefined : await limits(size);
  const page = await opened(viewport);
  await page.waitForFunction(() => window.workingPosition.targets.size > 0, undefined, { timeout: 60_000 });
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
  console.log(`${state.targets} targets, ${state.shown} of them on ${viewport.width} × ${viewport.height} pixels, ${state.updates} updates/s; labels: ${state.short} reduced, ${state.hidden} without; Chromium ${browser.version()}, ${process.env.GPU === '1' ? 'GPU allowed' : 'GPU switched off'}, WebGL by ${await page.evaluate(rendererOf)}; ${load()}`);
  console.log(['', 'frames/s', 'of limit', 'p50 ms', 'p99 ms', 'longest', 'drawing', ...PARTS, 'workers', 'browser', 'task ms'].map((word, index) => index === 0 ? word.padEnd(22) : word.padStart(9)).join(' '));
  for (const [name, what] of PHASES.slice(0, only === 'updates' ? 1 : undefined)) await phase(page, name, what, limit);
  const later = await page.evaluate(() => window.workingPosition.later?.value);
  if (later !== undefined) console.log(`presented after the acknowledgement, last measured: ${later.toFixed(1)} ms`);
  await page.close();
}

try {
  for (const viewport of SIZES) await measure(viewport);
} finally {
  await browser.close();
  await server.close();
}

// position-bench.mjs URL [SECONDS [updates]]: the working position at URL in headless Chromium. Prints
// frames a second while updates come and, without `updates`, while the picture is moved all the
// time, while it is zoomed, and while all is drawn; how many of them are drawn from the beginning
// (the others are drawn where something changed, moved or scaled), with the processor time of the
// browser for each frame, the middle and the longest times from frame to frame, which threads of the
// browser were busy for how much of the time (one near 100 % is what limits the frames), and how labels
// stand. Drawn by the processor. The load average says what else the machine had to do.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { chromium } from 'playwright-core';

const [url, seconds = '20', only] = process.argv.slice(2);
if (url === undefined) throw new Error('position-bench.mjs URL [SECONDS]');

const PHASES = [['updates as they come', ''], ['moved in every frame', 'pan'], ['zoomed in every frame', 'zoom'], ['all drawn in every frame', 'draw']];

/** In the page: counts animation frames for some time, doing `what` in each. */
function run({ ms, what }) {
  const position = window.workingPosition;
  const { cost } = position.picture;
  const before = { ...cost };
  return new Promise((resolve) => {
    const times = [];
    const work = [];
    const begin = performance.now();
    let last = begin;
    const next = (now) => {
      times.push(now - last);
      last = now;
      if (what === 'pan') position.pan(times.length % 100 < 50 ? 6 : -6, 0);
      if (what === 'zoom') position.zoomBy(times.length % 60 < 30 ? 0.97 : 1 / 0.97);
      if (what === 'draw') { // the cost of drawing everything, in the script alone
        const from = performance.now();
        position.picture.all();
        position.picture.draw();
        work.push(performance.now() - from);
      }
      if (performance.now() - begin < ms) requestAnimationFrame(next);
      else resolve({ times: times.slice(1), work, elapsed: performance.now() - begin, drawn: cost.frames - before.frames, whole: cost.whole - before.whole });
    };
    requestAnimationFrame(next);
  });
}

const server = await chromium.launchServer({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
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

/** The busiest threads between two looks, and how much of the time. */
function busiest(before, after, elapsed) {
  const shares = [...after].map(([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / elapsed]);
  return shares.sort((a, b) => b[1] - a[1]).slice(0, 3).map(([name, share]) => `${name} ${(100 * share).toFixed(0)} %`).join(', ');
}

const ms = (value) => `${value.toFixed(1).padStart(7)} ms`;
const at = (values, share) => [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? NaN;
try {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.goto(url);
  await page.waitForFunction(() => window.workingPosition?.targets.size > 0, undefined, { timeout: 60_000 });
  // All targets are there when no more come for a while.
  for (let before = -1, now = 0; before !== now;) {
    before = now;
    await page.waitForTimeout(8000);
    now = await page.evaluate(() => window.workingPosition.targets.size);
  }
  const state = await page.evaluate(() => {
    const { targets, picture, status } = window.workingPosition;
    return { targets: targets.size, ...picture.reduced(), updates: status.value?.updates_per_s };
  });
  console.log(`${state.targets} targets, ${state.updates} updates/s, 1600 × 1000 pixels; labels: ${state.short} reduced, ${state.hidden} without; Chromium ${browser.version()}, no GPU`);
  console.log(`${''.padEnd(28)} ${'frames/s'.padStart(9)} ${'of 60'.padStart(7)} ${'anew/s'.padStart(7)} ${'CPU'.padStart(10)} ${'p50'.padStart(10)} ${'p95'.padStart(10)} ${'p99'.padStart(10)} ${'longest'.padStart(10)}`);
  for (const [name, what] of PHASES.slice(0, only === 'updates' ? 1 : undefined)) {
    const before = processorMs();
    const threads = threadMs();
    const { times, work, elapsed, drawn, whole } = await page.evaluate(run, { ms: Number(seconds) * 1000, what });
    const rate = (times.length * 1000) / elapsed;
    console.log(`${name.padEnd(28)} ${rate.toFixed(1).padStart(9)} ${(rate / 60).toFixed(2).padStart(7)} ${((whole * 1000) / elapsed).toFixed(1).padStart(7)} ${ms((processorMs() - before) / Math.max(1, drawn))} ${ms(at(times, 0.5))} ${ms(at(times, 0.95))} ${ms(at(times, 0.99))} ${ms(at(times, 1))}${work.length > 0 ? `  of which script ${ms(at(work, 0.5))}` : ''}`);
    console.log(`${''.padEnd(28)} busy: ${busiest(threads, threadMs(), elapsed)}; load ${loadavg()[0].toFixed(1)} on ${availableParallelism()} processors`);
  }
  const later = await page.evaluate(() => window.workingPosition.later?.value);
  if (later !== undefined) console.log(`presented after the acknowledgement, last measured: ${later.toFixed(1)} ms`);
} finally {
  await browser.close();
  await server.close();
}

// picture.mjs URL [starting]: opens the page there in Chromium with an empty cache, and prints how
// long it takes from the start of the navigation until the scattergram is painted, and what memory
// the tab has then. Three times, each in a tab that has been open for a while, as a person's has; the
// server answers the first from nothing. With `starting` once, while the browser still starts the
// processes of its first tab.
import { readFileSync, readdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const WITHIN_MS = 120_000;
/** After this a new tab's processes have started. */
const OPEN_MS = 2_000;
const [url, mode] = process.argv.slice(2);
if (url === undefined || (mode !== undefined && mode !== 'starting')) throw new Error('picture.mjs URL [starting]');

/** A line of a process's status; undefined when it has ended. */
function statusOf(pid, name) {
  try {
    return new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

/** Resident memory of the renderers below a process, in bytes. */
function renderersBytes(top) {
  let bytes = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    let above = pid;
    while (above !== undefined && Number(above) > 1 && Number(above) !== top) above = statusOf(above, 'PPid');
    if (Number(above) !== top) continue;
    let command = '';
    try {
      command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    } catch {
      continue; // it has ended meanwhile
    }
    if (command.includes('--type=renderer')) bytes += Number(statusOf(pid, 'VmRSS') ?? 0) * 1024;
  }
  return bytes;
}

/** In the page: milliseconds since the navigation began when something is on the canvas. */
function painted() {
  return new Promise((resolve) => {
    const looks = () => {
      const canvas = document.querySelector('.scatter-room canvas');
      const { width = 0, height = 0 } = canvas ?? {};
      const pixels = width > 0 && height > 0 ? canvas.getContext('2d').getImageData(0, 0, width, height).data : [];
      // What is drawn in a frame is on the screen when the next one begins.
      if (pixels.some((value) => value !== 0)) requestAnimationFrame(() => resolve(performance.now()));
      else requestAnimationFrame(looks);
    };
    looks();
  });
}

const server = await chromium.launchServer({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync', '--enable-precise-memory-info'],
});
const browser = await chromium.connect(server.wsEndpoint());
try {
  const names = mode === 'starting'
    ? ['Chromium starts, server just started']
    : ['Chromium, server just started', 'Chromium, server again', 'Chromium, server again'];
  for (const name of names) {
    const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
    const page = await context.newPage();
    if (mode !== 'starting') await page.waitForTimeout(OPEN_MS);
    await page.goto(url, { waitUntil: 'commit', timeout: WITHIN_MS });
    const ms = await Promise.race([
      page.evaluate(painted),
      new Promise((_, reject) => setTimeout(() => reject(new Error(`no picture within ${WITHIN_MS} ms`)), WITHIN_MS).unref()),
    ]);
    const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
    const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;
    console.log(`${`${name}: picture`.padEnd(44)} ${ms.toFixed(1).padStart(8)} ms  heap ${mb(heap)}, renderers ${mb(renderersBytes(server.process().pid))} resident`);
    await context.close();
  }
} finally {
  await browser.close();
  await server.close();
}

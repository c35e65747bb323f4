// position-traffic.mjs URL [SECONDS]: what the working position at URL says of its traffic, on 1280 × 800
// pixels in headless Chromium: labels by how much of them is shown, conflicts that are there and to come,
// each looked at once a second; and how many alerts began.
import { loadavg } from 'node:os';
import { chromium } from 'playwright-core';

const [url, seconds = '60'] = process.argv.slice(2);
if (url === undefined) throw new Error('position-traffic.mjs URL [SECONDS]');

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(url);
  await page.waitForFunction(() => window.workingPosition?.targets.size > 0, undefined, { timeout: 60_000 });
  // All targets are there when no more come for a while.
  for (let before = -1, now = 0; before < now;) {
    before = now;
    await page.waitForTimeout(8000);
    now = await page.evaluate(() => window.workingPosition.targets.size);
  }
  const looks = [];
  for (let second = 0; second < Number(seconds); second++) {
    looks.push(await page.evaluate(() => {
      const { screen, status, targets } = window.workingPosition;
      const { width, height } = window.workingPosition.camera;
      const labels = screen.labels().filter(({ x, y }) => x >= 0 && y >= 0 && x < width && y < height);
      const of = (detail) => labels.filter((one) => one.detail === detail).length;
      const said = status.value;
      const now = said.conflicts.filter(({ in_s }) => in_s <= 0).length;
      return { targets: targets.size, seen: labels.length, without: of(0), name: of(1), small: of(2), short: of(3), full: of(4), now, conflicts: said.conflict_count, begun: said.conflicts_begun };
    }));
    await page.waitForTimeout(1000);
  }
  const all = (name) => looks.map((look) => look[name]);
  const share = (name) => `${(100 * mean(looks.map((look) => look[name] / Math.max(1, look.seen)))).toFixed(1)} %`;
  console.log(`${mean(all('targets')).toFixed(0)} targets, ${mean(all('seen')).toFixed(0)} of them on 1280 × 800 pixels; looked at ${looks.length} times, load ${loadavg()[0].toFixed(1)}`);
  console.log(`labels: ${share('full')} with all lines, ${share('short')} with callsign and level, ${share('small')} with those in small letters, ${share('name')} with the callsign alone, ${share('without')} without (at most ${Math.max(...all('without'))})`);
  console.log(`conflicts at once: ${mean(all('now')).toFixed(1)} there, ${mean(all('conflicts').map((count, index) => count - all('now')[index])).toFixed(1)} to come; ${(looks.at(-1)?.begun ?? 0) - (looks[0]?.begun ?? 0)} alerts began`);
} finally {
  await browser.close();
}

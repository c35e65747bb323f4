// position-picture.mjs URL FILE: a picture (PNG) of the working position at URL, when its targets have
// a history, with one selected and a range-bearing line.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [url, file] = process.argv.slice(2);
if (url === undefined || file === undefined) throw new Error('position-picture.mjs URL FILE');
/** As the other pictures of the documentation. */
const BYTES_MAX = 150_000;
const HISTORY_MS = 75_000;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
  await page.goto(`${url}?height=200&lat=50.3&lon=9.4&vector=2`);
  await page.waitForTimeout(HISTORY_MS);
  await page.locator('canvas').focus();
  for (let turn = 0; turn < 45; turn++) await page.keyboard.press('n');
  await page.keyboard.press('b');
  for (let step = 0; step < 6; step++) await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('b');
  await page.waitForTimeout(1000);
  await page.screenshot({ path: file });
  execFileSync('pngquant', ['--force', '--skip-if-larger', '--strip', '--quality', '60-95', '--speed', '1', '--output', file, '--', file]);
  const { size } = statSync(file);
  if (size > BYTES_MAX) throw new Error(`${file}: ${size} octets, more than ${BYTES_MAX}`);
} finally {
  await browser.close();
}

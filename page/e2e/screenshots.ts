// Pictures of every view for the documentation, of what was measured a moment ago: docs/pictures.

import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Chains, Rings, Runs } from '../src/api/types';
import { ask, CHAINS, HALF_NS, launch, LIVE, open, Server } from './world';

const FOLDER = new URL('../../docs/pictures/', import.meta.url).pathname;
/** A README with some of them is still fetched in a moment. */
const BYTES_MAX = 150_000;
/** For how long the view of now is looked at before: its trails grow. */
const TRAILS_MS = Number(process.env['TRAILS_MS'] ?? 100_000);

const COMMON = { width: 1280, height: 800 };

let browser: Browser;
let now: Page;
let nowSince = 0;
const server = new Server();
beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  await server.start();
  browser = await launch();
  now = (await open(browser, COMMON)).page;
  await now.goto(`${LIVE}/now`);
  nowSince = performance.now();
});
afterAll(async () => {
  await browser.close();
  await server.end();
});

/** Takes a picture, and makes it small: a page has few colours. */
async function take(page: Page, name: string): Promise<void> {
  // Fonts are there, nothing is awaited, and what moves has come to rest.
  await page.evaluate(() => document.fonts.ready);
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
  await page.waitForTimeout(500);
  await page.mouse.move(0, 0);
  const file = `${FOLDER}${name}.png`;
  await page.screenshot({ path: file });
  execFileSync('pngquant', ['--force', '--skip-if-larger', '--strip', '--quality', '60-95', '--speed', '1', '--output', file, '--', file]);
  expect(statSync(file).size).toBeLessThanOrEqual(BYTES_MAX);
}

interface Shot {
  readonly origin?: string;
  readonly size?: { readonly width: number; readonly height: number };
  readonly colours?: 'light' | 'dark';
  /** Waits until everything is there, after doing what leads to it. */
  readonly ready: (page: Page) => Promise<unknown>;
}

/** Opens a place in a new page, and takes its picture. */
async function shoot(name: string, path: string, { origin = server.origin, size = COMMON, colours = 'light', ready }: Shot): Promise<void> {
  const { page, errors } = await open(browser, { ...size, colorScheme: colours });
  await page.goto(`${origin}/${path}`);
  await ready(page);
  await take(page, name);
  expect(errors).toEqual([]);
  await page.context().close();
}

/** The slowest chain, by its place. */
async function slowest(): Promise<string> {
  const chain = (await server.api<Chains>(`chains?${CHAINS}&order=longest&limit=1`)).chains[0];
  if (chain === undefined) throw new Error('the store has no chain');
  return `chain/${chain.chain}?near_ns=${chain.start_ns}`;
}

/** What is slow since displays collect, marked. */
async function brushed(page: Page): Promise<void> {
  await page.locator('canvas').waitFor();
  const box = await page.locator('canvas').boundingBox();
  if (box === null) throw new Error('there is no canvas');
  await page.mouse.move(box.x + box.width * 0.56, box.y + 1);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.97, box.y + box.height * 0.3, { steps: 5 });
  await page.mouse.up();
  await page.locator('.parts li').first().waitFor();
}

const opened = (page: Page) => page.locator('.waterfall-rows').press('ArrowDown').then(() => page.keyboard.press('s'));

it('scattergram', () => shoot('scattergram', `scatter?${CHAINS}`, { ready: brushed }));
it('scattergram, dark', () => shoot('scattergram-dark', `scatter?${CHAINS}`, { colours: 'dark', ready: brushed }));
it('histogram', () => shoot('histogram', `histogram?${CHAINS}&limit_ns=100000000`, { ready: (page) => page.locator('.bin').first().waitFor() }));
it('histogram, 3840 pixels wide', () => shoot('histogram-3840', `histogram?${CHAINS}&limit_ns=100000000`, {
  size: { width: 3840, height: 2160 }, ready: (page) => page.locator('.bin').first().waitFor(),
}));
it('groups', () => shoot('groups', `groups?${CHAINS}&by=host.name`, {
  ready: (page) => page.getByRole('region', { name: 'Groups' }).locator('tbody tr').first().waitFor(),
}));
it('chain', async () => shoot('chain', await slowest(), { ready: opened }));
it('graph', () => shoot('graph', 'graph', { ready: (page) => page.locator('.node').filter({ hasText: 'TargetView_redraw' }).click() }));
it('compare', () => shoot('compare', `compare?${CHAINS}&until_ns=${HALF_NS}&b_from_ns=${HALF_NS}&b_until_ns=${HALF_NS + 3600e9}`, {
  ready: (page) => page.locator('.compare-picture path.b').waitFor(),
}));
it('worst cases', () => shoot('worst', 'worst', { ready: (page) => page.locator('.worst tbody a').first().waitFor() }));
it('hosts', () => shoot('hosts', 'hosts', { ready: (page) => page.locator('.hosts-plots canvas').first().waitFor() }));
it('rings', async () => {
  const display = (await ask<Rings>(LIVE, 'rings')).rings.find((ring) => ring.application === 'CWP' && ring.alive);
  await shoot('rings', `rings/${display?.id ?? ''}`, { origin: LIVE, ready: (page) => page.getByRole('region', { name: 'Last transactions', exact: true }).locator('tbody tr').first().waitFor() });
});
it('runs', async () => {
  const { runs } = await ask<Runs>(LIVE, 'runs');
  const [a, b] = runs.filter((run) => /tells words apart|to qsort/.test(run.subject)).map((run) => run.id);
  await shoot('runs', `runs?a=${a ?? ''}&b=${b ?? ''}`, { origin: LIVE, size: { width: 1280, height: 1300 }, ready: (page) => page.getByRole('region', { name: 'Functions' }).locator('tbody tr').first().waitFor() });
});
it('data', () => shoot('data', 'data', { ready: (page) => page.getByRole('button', { name: 'Import' }).waitFor() }));
it('now', async () => {
  await now.waitForTimeout(Math.max(0, TRAILS_MS - (performance.now() - nowSince)));
  await take(now, 'now');
});

// The views of operations on a real store: each shows what the server answers, and leads on.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Compare, Graph, Hosts, Worst } from '../src/api/types';
import { formatCount } from '../src/draw/format';
import { shareOf } from '../src/views/compare/sides';
import { CHAINS, HALF_NS, launch, open, Server, STORE, type Watched } from './world';

let browser: Browser;
// The same store under another name: a run to compare with, which nobody writes either.
const before = join(mkdtempSync(join(tmpdir(), 'chronoscope-before-')), 'store');
const server = new Server('', ['--compare', `before=${before}`]);

beforeAll(async () => {
  cpSync(STORE, before, { recursive: true });
  await server.start();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await server.end();
  rmSync(dirname(before), { recursive: true, force: true });
});

let watched: Watched;
let page: Page;
beforeEach(async () => {
  watched = await open(browser);
  ({ page } = watched);
});
afterEach(async () => {
  expect(watched.errors).toEqual([]);
  await page.context().close();
});

describe('a comparison', () => {
  it('of two halves shows both counts and the server’s sentence', async () => {
    await page.goto(`${server.origin}/compare?${CHAINS}`);
    await page.getByRole('button', { name: 'first half and second half' }).click();
    await page.waitForURL((url) => url.searchParams.has('b_from_ns'));
    await page.locator('.compare-picture path.b').waitFor();
    const compare = await server.api<Compare>(`compare?${new URL(page.url()).searchParams.toString()}`);
    const table = page.getByRole('region', { name: 'Parameters' });
    for (const side of [compare.a, compare.b]) {
      await table.getByRole('cell', { name: formatCount(side.distribution?.count ?? 0), exact: true }).first().waitFor();
    }
    if (compare.difference !== null) await page.getByText(compare.difference.sentence).waitFor();
  });

  it('of the time before displays collected with the time after finds the display', async () => {
    const halves = `${CHAINS}&until_ns=${HALF_NS}&b_from_ns=${HALF_NS}&b_until_ns=${HALF_NS + 3600e9}`;
    const { a, b, difference } = await server.api<Compare>(`compare?${halves}`);
    expect(b.distribution?.median_ns).toBeGreaterThan(a.distribution?.median_ns ?? Infinity);
    await page.goto(`${server.origin}/compare?${halves}`);
    await page.getByText(difference?.sentence ?? 'no difference').waitFor();
    // What moved most stands first, and is in the display; its shares stand beside it.
    const first = page.getByRole('region', { name: 'Differences of hops' }).locator('tbody tr').first();
    await first.getByText('CWP::TargetView_redraw').waitFor();
    const { hops } = await server.api<Compare>(`compare?${halves}`);
    const moved = hops[0];
    expect(moved?.hop).toBe('CWP::TargetView_redraw');
    for (const share of [moved?.share_of_mean, moved?.share_of_tail]) {
      await first.getByRole('cell', { name: shareOf(share ?? NaN), exact: true }).first().waitFor();
    }
    // The whole comparison is in the address.
    const other = await open(browser);
    await other.page.goto(page.url());
    await other.page.getByText(difference?.sentence ?? 'no difference').waitFor();
    await other.page.context().close();
  });
});

describe('a comparison of two runs', () => {
  it('takes the other run by its name, whole', async () => {
    await page.goto(`${server.origin}/compare?${CHAINS}&until_ns=${HALF_NS}`);
    await page.getByLabel('store of B').selectOption('before');
    await page.waitForURL((url) => url.searchParams.get('b_store') === 'before');
    const { a, b } = await server.api<Compare>(`compare?${new URL(page.url()).searchParams.toString()}`);
    // A is the time before displays collected, B all of the other run.
    expect(b.distribution?.count).toBeGreaterThan(a.distribution?.count ?? Infinity);
    const table = page.getByRole('region', { name: 'Parameters' });
    for (const side of [a, b]) {
      await table.getByRole('cell', { name: formatCount(side.distribution?.count ?? 0), exact: true }).first().waitFor();
    }
    await page.getByRole('region', { name: 'Durations of A and B' }).getByText('B before, ').waitFor();
    // Back to this store takes the other one out of the address.
    await page.getByLabel('store of B').selectOption('this store');
    await page.getByRole('heading', { name: 'Choose what to compare with.' }).waitFor();
    expect(new URL(page.url()).searchParams.has('b_store')).toBe(false);
  });
});

describe('the graph', () => {
  it('has every class, and leads to the scattergram of a call', async () => {
    const graph = await server.api<Graph>('graph');
    const display = graph.nodes.find((node) => node.application === 'CWP' && node.class === 'TrackStore_updateTrack')?.id ?? '';
    await page.goto(`${server.origin}/graph`);
    await page.locator('.node').first().waitFor();
    expect(await page.locator('.node').count()).toBe(graph.nodes.length);
    await page.locator(`[data-node="${display}"]`).click();
    await page.waitForURL((url) => url.searchParams.get('at') === display);
    const calls = page.getByRole('region', { name: 'Calls' }).locator('tbody tr');
    await expect.poll(() => calls.count()).toBe(graph.edges.filter((edge) => [edge.from, edge.to].includes(display)).length);
    await calls.filter({ hasText: 'CWP::TargetView_redraw' }).getByRole('link').click();
    await page.waitForURL((url) => url.pathname === '/scatter' && url.searchParams.get('root') === 'CWP::TrackStore_updateTrack');
    await page.locator('canvas').waitFor();
  });
});

describe('the worst case', () => {
  it('of a class leads to its chain', async () => {
    const worst = (await server.api<Worst>('worst?class=CWP::TargetView_redraw&n=5')).classes[0]?.rows[0];
    if (worst === undefined) throw new Error('the store has no redraw');
    await page.goto(`${server.origin}/worst?class=CWP::TargetView_redraw&n=5`);
    await page.locator('.worst tbody a').first().click();
    await page.waitForURL((url) => url.pathname === `/chain/${worst.chain}`);
    await page.getByRole('treegrid').waitFor();
  });

  it('may be worst by CPU time', async () => {
    const byCpu = (await server.api<Worst>('worst?class=CWP::TargetView_redraw&by=cpu')).classes[0]?.rows ?? [];
    await page.goto(`${server.origin}/worst?class=CWP::TargetView_redraw`);
    await page.locator('label', { hasText: /^by/ }).locator('select').selectOption('cpu');
    await page.waitForURL((url) => url.searchParams.get('by') === 'cpu');
    // The rows of before stay until the new ones are there.
    await page.locator(`.worst tbody tr:first-child a[href*="${byCpu[0]?.chain}"]`).first().click();
    await page.waitForURL((url) => url.pathname === `/chain/${byCpu[0]?.chain}`);
  });
});

describe('the graph', () => {
  it('is walked through by arrows along the calls, and needs no scrolling sideways', async () => {
    const graph = await server.api<Graph>('graph');
    const edge = graph.edges.find(({ from, to }) => from !== to && !graph.edges.some((other) => other.to === from));
    if (edge === undefined) throw new Error('the store has no call');
    await page.goto(`${server.origin}/graph?at=${encodeURIComponent(edge.from)}`);
    const node = (id: string) => page.locator(`[data-node="${id}"]`);
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('data-node'));
    await node(edge.from).focus();
    await page.keyboard.press('ArrowRight');
    const called = await focused();
    expect(graph.edges.filter(({ from }) => from === edge.from).map(({ to }) => to)).toContain(called);
    await page.keyboard.press('ArrowLeft');
    expect(graph.edges.filter(({ to }) => to === called).map(({ from }) => from)).toContain(await focused());
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('at') === called);
    expect(await page.locator('.calls-graph').evaluate((panel) => panel.scrollWidth <= panel.clientWidth)).toBe(true);
  });

  it('can be reached by the Tab key', async () => {
    await page.goto(`${server.origin}/graph`);
    await page.locator('.node').first().waitFor();
    await page.getByRole('button', { name: 'Clear' }).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.hasAttribute('data-node'))).toBe(true);
  });
});

describe('what is not there', () => {
  it.each([['/rings', 'No process of this host is recording'], ['/hosts?from_ns=1&until_ns=2', 'No host data for this time range']])('%s says so, and what to do', async (path, words) => {
    await page.goto(`${server.origin}${path}`);
    await page.getByRole('heading', { name: words }).waitFor();
    expect(await page.locator('.empty code').count()).toBeGreaterThan(0);
  });
});

describe('hosts', () => {
  it('show loads, round trips, and who did not tell', async () => {
    await page.goto(`${server.origin}/hosts`);
    const hosts = await server.api<Hosts>('hosts');
    expect(hosts.round_trips.length).toBe(4);
    await page.locator('.hosts-plots figure').first().waitFor();
    expect(await page.locator('.hosts-plots figure').count()).toBe(hosts.round_trips.length + hosts.loads.length);
    expect(await page.locator('.hosts-paths tbody tr').count()).toBe(hosts.paths.length);
    await page.getByRole('cell', { name: 'no-snmpd' }).waitFor();
    // A stretch of a picture that is dragged over is the time of everything else.
    const box = await page.locator('.hosts-plots .u-over').first().boundingBox();
    if (box === null) throw new Error('there is no plot');
    await page.mouse.move(box.x + box.width * 0.3, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL((url) => url.searchParams.has('from_ns') && url.searchParams.has('until_ns'));
    await page.locator('.hosts-plots figure').first().waitFor();
  });
});

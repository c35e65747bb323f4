// The views of operations on a real store: each shows what the server answers, and leads on.

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Compare, Worst } from '../src/api/types';
import { launch, open, Server, type Watched } from './world';

let browser: Browser;
const server = new Server();

beforeAll(async () => {
  await server.start();
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
  await server.end();
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

const CHAINS = 'kind=acpd&root=MRTS::decodePlots&leaf=CWP::TargetView_redraw';

describe('a comparison', () => {
  it('of two halves shows both counts and the server’s sentence', async () => {
    await page.goto(`${server.origin}/compare?${CHAINS}`);
    await page.getByRole('button', { name: 'first half and second half' }).click();
    await page.waitForURL((url) => url.searchParams.has('b_from_ns'));
    await page.locator('.compare-picture path.b').waitFor();
    const compare = await server.api<Compare>(`compare?${new URL(page.url()).searchParams.toString()}`);
    const table = page.getByRole('region', { name: 'Parameters' });
    for (const side of [compare.a, compare.b]) {
      await table.getByRole('cell', { name: (side.distribution?.count ?? 0).toLocaleString('en'), exact: true }).first().waitFor();
    }
    if (compare.difference !== null) await page.getByText(compare.difference.sentence).waitFor();
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
});

describe('what is not there', () => {
  it.each([['/rings', 'No process of this host records'], ['/hosts', 'Nothing of hosts is stored']])('%s says so, and what to do', async (path, words) => {
    await page.goto(`${server.origin}${path}`);
    await page.getByRole('heading', { name: words }).waitFor();
    expect(await page.locator('.empty code').count()).toBeGreaterThan(0);
  });
});

// Every view as one sees it who needs contrast or a reader: by axe-core's rules nothing is seriously
// wrong; light on the smallest screen that it is made for and dark on the largest, where nothing has
// to be scrolled sideways.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chains, Rings, Runs, Scatter } from '../src/api/types';
import { VIEWS, type View } from '../src/selection/place';
import { answered, ask, CHAINS, launch, LIVE, open, Server } from './world';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
const server = new Server();
/** Where each view has something to show; more than one state where they look different. */
let addresses: Readonly<Record<View, readonly string[]>>;

beforeAll(async () => {
  await server.start();
  browser = await launch();
  const slowest = (await server.api<Chains>(`chains?${CHAINS}&order=longest&limit=1`)).chains[0];
  if (slowest === undefined) throw new Error('the store has no chain');
  const { from_ns, until_ns, min_ns, max_ns } = await server.api<Scatter>(`scatter?${CHAINS}`);
  const ring = (await ask<Rings>(LIVE, 'rings')).rings[0];
  const run = (await ask<Runs>(LIVE, 'runs')).runs[0];
  if (ring === undefined || run === undefined) throw new Error('nothing is recorded, or no run is kept');
  const live = (address: string) => LIVE + address;
  const stored = (address: string) => server.origin + address;
  const middle = Math.floor((from_ns + until_ns) / 2);
  addresses = {
    now: [live('/now')],
    scatter: [stored(`/scatter?${CHAINS}`), stored(`/scatter?${CHAINS}&limit_ns=1000000&brush=${from_ns},${middle},${min_ns},${max_ns}`)],
    histogram: [stored(`/histogram?${CHAINS}&limit_ns=1000`)],
    groups: [stored(`/groups?${CHAINS}&by=host.name`), stored(`/groups?${CHAINS}`)],
    chain: [stored(`/chain/${slowest.chain}?near_ns=${slowest.start_ns}`), stored('/chain')],
    graph: [stored('/graph')],
    compare: [stored(`/compare?${CHAINS}&from_ns=${from_ns}&until_ns=${middle}&b_from_ns=${middle}&b_until_ns=${until_ns}`)],
    worst: [stored('/worst')],
    rings: [live(`/rings/${ring.id}`), stored('/rings')],
    hosts: [live('/hosts')],
    runs: [live(`/runs?b=${run.id}`), live(`/runs/${run.id}?function=main&find=hash`)],
    data: [stored(`/data?from_ns=${from_ns}&until_ns=${middle}`), stored('/data')],
  };
});
afterAll(async () => {
  await browser.close();
  await server.end();
});

describe.each([
  { colorScheme: 'light', width: 1280, height: 800 },
  { colorScheme: 'dark', width: 3840, height: 2160 },
] as const)('in $colorScheme colours, $width pixels wide', (looks) => {
  it.each(VIEWS)('%s breaks no rule that matters, cuts no field off and needs no scrolling sideways', async (view) => {
    for (const address of addresses[view]) {
      const { page, errors } = await open(browser, looks);
      await page.goto(address);
      await answered(page);
      expect([address, ...await broken(page), ...await tooWide(page), ...errors]).toEqual([address]);
      await page.context().close();
    }
  });
});

/** What of axe-core's rules is broken, seriously or worse. */
async function broken(page: Page): Promise<string[]> {
  // Past the Content-Security-Policy, which holds for the page and not for who looks at it.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => (
    (window as unknown as { axe: { run: (on: Document, options: object) => Promise<AxeResults> } }).axe.run(document, { resultTypes: ['violations'] })
  ));
  return violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id} at ${node.target.join(' ')}: ${node.failureSummary ?? ''}`));
}

/** What is wider than the room it has. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => (
    [...document.querySelectorAll<HTMLElement>('html, main, main .scroll, main .panel, .selection input')]
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .map((element) => `too wide: ${element.tagName} ${element.className} ${element.getAttribute('aria-label') ?? ''}`)
  ));
}

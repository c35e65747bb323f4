// Every view on a telephone, a tablet, a desk and a large screen: what a machine can judge of that, and
// a picture of each for whoever wants to judge the rest (PICTURES, or a folder that is named at the end).

import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Chains, Rings, Runs, Scatter } from '../src/api/types';
import { VIEWS, type View } from '../src/selection/place';
import { answered, ask, CHAINS, launch, LIVE, open, Server } from './world';

const PICTURES = process.env['PICTURES'] ?? mkdtempSync(join(tmpdir(), 'chronoscope-widths-'));

let browser: Browser;
const server = new Server();
/** Where each view has something to show; with its panels open, where it has some. */
let addresses: Readonly<Record<View, readonly string[]>>;

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  await server.start();
  browser = await launch();
  const slowest = (await server.api<Chains>(`chains?${CHAINS}&order=longest&limit=1`)).chains[0];
  if (slowest === undefined) throw new Error('the store has no chain');
  const chain = `/chain/${slowest.chain}?near_ns=${slowest.start_ns}`;
  const { rows: [row] } = await server.api<{ rows: readonly { id: string }[] }>(`chains/${slowest.chain}?near_ns=${slowest.start_ns}`);
  const { from_ns, until_ns, min_ns, max_ns } = await server.api<Scatter>(`scatter?${CHAINS}`);
  const ring = (await ask<Rings>(LIVE, 'rings')).rings[0];
  const run = (await ask<Runs>(LIVE, 'runs')).runs[0];
  const live = (address: string) => LIVE + address;
  const stored = (address: string) => server.origin + address;
  const middle = Math.floor((from_ns + until_ns) / 2);
  addresses = {
    now: [live('/now')],
    scatter: [stored(`/scatter?${CHAINS}&limit_ns=1000000&brush=${from_ns},${middle},${min_ns},${max_ns}`), live(`/scatter?${CHAINS}&last_ns=3600000000000`)],
    histogram: [stored(`/histogram?${CHAINS}&limit_ns=1000`)],
    groups: [stored(`/groups?${CHAINS}&by=host.name&and=service.name&limit_ns=1000`), stored(`/groups?${CHAINS}`)],
    chain: [stored(`${chain}&row=${row?.id ?? ''}`), stored('/chain')],
    graph: [stored('/graph')],
    compare: [stored(`/compare?${CHAINS}&from_ns=${from_ns}&until_ns=${middle}&b_from_ns=${middle}&b_until_ns=${until_ns}`), stored(`/compare?${CHAINS}`)],
    worst: [stored('/worst')],
    rings: [live(`/rings/${ring?.id ?? ''}`)],
    hosts: [live('/hosts')],
    runs: [live(`/runs?b=${run?.id ?? ''}`), live(`/runs/${run?.id ?? ''}?function=main&find=hash`)],
    data: [stored(`/data?from_ns=${from_ns}&until_ns=${middle}`), stored('/data')],
  };
});
afterAll(async () => {
  await browser.close();
  await server.end();
  process.stdout.write(`pictures of every view in every width: ${PICTURES}\n`);
});

describe.each([[390, 844], [768, 1024], [1280, 800], [2560, 1440]] as const)('%d pixels wide', (width, height) => {
  it.each(VIEWS)('%s fits, and its controls are there', async (view) => {
    for (const [index, address] of addresses[view].entries()) {
      const { page, errors } = await open(browser, { width, height, touch: width < 1000 });
      await page.goto(address);
      await answered(page);
      await page.screenshot({ path: join(PICTURES, `${view}${index === 0 ? '' : `-${index + 1}`}-${width}.png`), fullPage: width < 1000 });
      expect([address, ...await wrong(page, width <= 640), ...await reachable(page), ...errors]).toEqual([address]);
      await page.context().close();
    }
  });
});

describe('on a telephone', () => {
  it('the selection is opened by a finger, and changed', async () => {
    const { page, errors } = await open(browser, { width: 390, height: 844, touch: true });
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await answered(page);
    const limit = page.getByRole('search').getByLabel('longest allowed duration');
    expect(await limit.isVisible()).toBe(false);
    await page.getByRole('search').getByRole('button', { name: /decodePlots/ }).tap();
    await limit.fill('20 ms');
    await limit.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('limit_ns') === '20000000');
    expect(await wrong(page, true)).toEqual([]);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('every view is reached by a finger from every other', async () => {
    const { page, errors } = await open(browser, { width: 390, height: 844, touch: true });
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    for (let index = 0; index < VIEWS.length; index += 1) {
      await links.nth(index).tap();
      await page.waitForURL((url) => url.pathname === `/${VIEWS[index] ?? ''}`);
      await answered(page);
    }
    expect(errors).toEqual([]);
    await page.context().close();
  });
});

/** What is too wide, cut off or over each other. */
function wrong(page: Page, fingers: boolean): Promise<string[]> {
  return page.evaluate((touched) => {
    const found: string[] = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth} px wide in ${root.clientWidth}`);
    const named = (element: Element) => `${element.tagName} ${element.getAttribute('class') ?? ''} “${(element.getAttribute('aria-label') ?? element.textContent).slice(0, 30)}”`;
    const shown = (element: Element) => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().width > 1;
    // What scrolls sideways in a box of its own may be wider than the window; the box may not.
    const boxed = (element: Element) => element.parentElement?.closest('.scroll, .calls-graph, .head nav, dialog') !== null;
    for (const element of document.querySelectorAll('main *, header *, form *')) {
      const { left, right, width } = element.getBoundingClientRect();
      if (width > 1 && shown(element) && !boxed(element) && element.closest('svg, .unseen, .compare-pair') === null && (right > root.clientWidth + 1 || left < -1)) found.push(`beyond the edge: ${named(element)}`);
    }
    for (const element of document.querySelectorAll('main :is(td, th, dt, dd, button, li, p)')) {
      const { width } = element.getBoundingClientRect();
      if (shown(element) && width < 60 && element.textContent.trim().length > 20 && element.closest('.unseen') === null) found.push(`a column of letters, ${Math.round(width)} px: ${named(element)}`);
    }
    const controls = [...document.querySelectorAll('button, select, input, .head nav a')].filter((control) => shown(control) && control.closest('td, th, .waterfall, .u-legend, .parts, [aria-hidden]') === null);
    controls.forEach((control, index) => {
      const one = control.getBoundingClientRect();
      if (touched && one.height < 40 && control.closest('.legend') === null && control.getAttribute('type') !== 'radio') found.push(`too low for a finger, ${one.height} px: ${named(control)}`);
      for (const next of controls.slice(index + 1)) {
        const other = next.getBoundingClientRect();
        if (boxed(control) !== boxed(next) || control.contains(next)) continue;
        if (one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1) found.push(`over each other: ${named(control)}, ${named(next)}`);
      }
    });
    for (const chart of document.querySelectorAll('.plot-area, .histogram-area, .compare-picture, .series-plot, .waterfall-rows')) {
      const { width, height } = chart.getBoundingClientRect();
      if (width < 200 || height < 60) found.push(`no room: ${named(chart)} has ${Math.round(width)} × ${Math.round(height)}`);
    }
    return found;
  }, fingers);
}

/** Whether each view's link can be brought into sight, and is what a click there meets. */
async function reachable(page: Page): Promise<string[]> {
  const links = await page.getByRole('navigation', { name: 'Views' }).getByRole('link').all();
  const met: string[] = links.length === VIEWS.length ? [] : [`${links.length} links`];
  for (const link of links) {
    await link.scrollIntoViewIfNeeded();
    const hit = await link.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    if (!hit) met.push(`not reachable: ${await link.innerText()}`);
  }
  return met;
}

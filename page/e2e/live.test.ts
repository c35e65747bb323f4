// What goes on while somebody looks: the radar chain runs, and its collector shows it.

import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Now, Rings, RunDiff, RunHistory, Runs } from '../src/api/types';
import { ask, launch, LIVE, open, type Watched } from './world';

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

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

describe('now', () => {
  it('has every class that runs, with its limit, and asks again by itself', async () => {
    await page.goto(`${LIVE}/now`);
    const board = page.locator('.board');
    await board.waitFor();
    const now = await ask<Now>(LIVE, 'now?window_s=60');
    expect(now.live).toBe(true);
    expect(now.applications.map((each) => each.application)).toEqual(expect.arrayContaining(['CWP', 'MRTS', 'MSG']));
    for (const { application, classes } of now.applications) {
      await board.getByRole('rowheader', { name: application }).first().waitFor();
      for (const each of classes) await board.getByRole('rowheader', { name: each.class, exact: true }).first().waitFor();
    }
    const redraw = board.getByRole('row').filter({ hasText: 'TargetView_redraw' });
    expect(now.applications.flatMap((each) => each.classes).find((each) => each.class === 'TargetView_redraw')?.limit).not.toBeNull();
    await redraw.getByText(/(within|above) 20\.0\sms/).waitFor();
    const until = page.getByText(/until \d\d:\d\d:\d\d UTC, asked again/);
    const before = await until.innerText();
    await expect.poll(() => until.innerText(), { timeout: 30_000 }).not.toBe(before);
    // Two refreshes are a line; a level one has no height, and counts as hidden.
    await redraw.locator('polyline').waitFor({ state: 'attached' });
  });

  it('says which limit does not hold, once a whole minute has passed', async () => {
    const alarm = async () => (await ask<Now>(LIVE, 'now')).alarms.find((each) => each.kind === 'limit');
    await expect.poll(alarm, { timeout: 100_000, interval: 1000 }).toBeDefined();
    const { what = 'no such alarm' } = await alarm() ?? {};
    await page.goto(`${LIVE}/now`);
    const said = page.getByRole('region', { name: 'Alarms' });
    // Slow machines have several.
    await said.getByText('Above its limit').first().waitFor();
    await said.getByText(what).first().waitFor();
  });

  it('leads from a class to its distribution', async () => {
    await page.goto(`${LIVE}/now`);
    await page.getByRole('link', { name: 'decodePlots', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/histogram' && url.searchParams.get('root') === 'MRTS::decodePlots');
    await page.locator('.bin').first().waitFor();
  });
});

describe('rings', () => {
  it('show each process, and what it does this moment', async () => {
    await page.goto(`${LIVE}/rings`);
    const list = page.getByRole('region', { name: 'Processes' });
    await list.locator('tbody tr').first().waitFor();
    // Processes come and go meanwhile.
    await expect.poll(async () => (await ask<Rings>(LIVE, 'rings')).rings.length - await list.locator('tbody tr').count()).toBe(0);
    await list.getByRole('link', { name: /^MRTS/ }).first().click();
    const last = page.getByRole('region', { name: 'Last transactions' });
    await last.getByText('decodePlots').first().waitFor();
    const recorded = page.getByText(/[\d,]+ recorded/);
    const before = await recorded.innerText();
    await expect.poll(() => recorded.innerText(), { timeout: 30_000 }).not.toBe(before);
    // The oldest that is shown has been collected meanwhile.
    await page.getByRole('combobox', { name: 'Last' }).selectOption('500');
    await expect.poll(() => last.locator('tbody tr').count(), { timeout: 30_000 }).toBeGreaterThan(100);
    await last.locator('tbody a').last().click();
    await page.waitForURL(/\/chain\//);
    await page.getByRole('treegrid').waitFor();
  });
});

describe('runs', () => {
  it('show what each version cost, and what moved between two', async () => {
    const { runs } = await ask<Runs>(LIVE, 'runs');
    expect(runs.length).toBe(6);
    const { series } = await ask<RunHistory>(LIVE, 'runs/history');
    await page.goto(`${LIVE}/runs`);
    await page.locator('.runs-history figure').first().waitFor();
    expect(await page.locator('.runs-history figure').count()).toBe(series.length);
    const run = (subject: string) => page.getByRole('row').filter({ hasText: subject });
    await run('a hash that tells words apart').getByRole('radio', { name: / as A$/ }).check();
    await run('leave the ordering to qsort').getByRole('radio', { name: / as B$/ }).check();
    const [a, b] = [new URL(page.url()).searchParams.get('a') ?? '', new URL(page.url()).searchParams.get('b') ?? ''];
    const diff = await ask<RunDiff>(LIVE, `runs/diff?a=${a}&b=${b}`);
    const instructions = diff.verdicts.find((verdict) => verdict.moved);
    expect(instructions?.relative).toBeLessThan(-0.1);
    await page.getByText(instructions?.sentence ?? 'nothing moved').waitFor();
    await page.getByRole('region', { name: 'Functions' }).getByText('more_frequent').first().waitFor();
    await page.getByRole('region', { name: 'Where the cost went' }).locator('[title^="more_frequent:"]').first().waitFor();
  });
});

// What goes on while somebody looks: the radar chain runs, and its collector shows it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Flame, Now, Ring, Rings, RunDiff, RunFunction, RunHistory, Runs, Scatter } from '../src/api/types';
import { answered, ask, BIN, CHAINS, launch, LIVE, open, type Watched } from './world';

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
    const until = page.getByText(/until \d\d:\d\d:\d\d UTC, refreshed every/);
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

describe('a scattergram of the last hour', () => {
  const LAST_HOUR = `${LIVE}/scatter?${CHAINS}&last_ns=3600000000000`;
  /** How many durations are drawn. */
  const drawn = async () => Number((await page.locator('.scatter-main .bar strong').innerText()).replaceAll(',', ''));

  it('shows chains that came since, and stands still while it is paused', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace('/api/v1/', '')));
    const times = (path: string) => asked.filter((each) => each === path).length;
    await page.goto(LAST_HOUR);
    await answered(page);
    const before = await drawn();
    expect(before).toBeGreaterThan(0);
    await expect.poll(drawn).toBeGreaterThan(before);

    // What stands still ends at an instant: it is asked once more.
    const still = page.waitForResponse((response) => response.url().includes('/api/v1/scatter?') && response.url().includes('until_ns='));
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.waitForURL((url) => url.searchParams.has('paused_ns'));
    await still;
    await answered(page);
    const [paused, pictures, looks] = [await drawn(), times('scatter'), times('status')];
    // The server goes on, and says so to the page, which asks for no other picture.
    await expect.poll(async () => (await ask<Scatter>(LIVE, `scatter?${CHAINS}`)).total).toBeGreaterThan(paused);
    await expect.poll(() => times('status')).toBeGreaterThan(looks + 1);
    expect([await drawn(), times('scatter')]).toEqual([paused, pictures]);
    // Whoever follows the link sees the same time, with chains that were on their way then.
    await page.reload();
    await answered(page);
    const again = await drawn();
    const until = Number(new URL(page.url()).searchParams.get('paused_ns'));
    const { total } = await ask<Scatter>(LIVE, `scatter?${CHAINS}&from_ns=${until - 3600e9}&until_ns=${until}`);
    expect(again).toBeGreaterThanOrEqual(paused);
    expect(again).toBeLessThanOrEqual(total);

    await page.keyboard.press('P');
    await page.waitForURL((url) => !url.searchParams.has('paused_ns') && url.searchParams.has('last_ns'));
    await expect.poll(drawn).toBeGreaterThan(total);
  });

  it('stands still while somebody drags, and while something is marked', async () => {
    await page.goto(LAST_HOUR);
    await answered(page);
    let looks = 0;
    // Their addresses: should there be one too many, it says what it is about.
    let pictures: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/v1/scatter?')) pictures.push(request.url());
      if (request.url().includes('/api/v1/status')) looks += 1;
    });
    const box = await page.locator('canvas').boundingBox();
    if (box === null) throw new Error('there is no canvas');
    await page.mouse.move(box.x + box.width * 0.4, box.y + 4);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + box.height - 4, { steps: 3 });
    // What was begun before the button was down may still be asked, once what began it has been drawn.
    await expect.poll(() => looks).toBeGreaterThan(0);
    await answered(page);
    [pictures, looks] = [[], 0];
    await expect.poll(() => looks).toBeGreaterThan(1);
    expect(pictures).toEqual([]);
    await page.mouse.up();
    await page.waitForURL((url) => url.searchParams.has('brush'));
    await page.getByText('not refreshed while chains are selected').waitFor();
    [pictures, looks] = [[], 0];
    await expect.poll(() => looks).toBeGreaterThan(1);
    expect(pictures).toEqual([]);
    await page.keyboard.press('p');
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => !url.searchParams.has('brush'));
    await expect.poll(() => pictures.length).toBeGreaterThan(0);
  });

  it('is chosen among the ranges of time', async () => {
    await page.goto(`${LIVE}/scatter?${CHAINS}`);
    await page.getByRole('search').getByLabel('time range').selectOption('last 10 min');
    await page.waitForURL((url) => url.searchParams.get('last_ns') === '600000000000');
    await page.getByText('refreshed every 5 s').waitFor();
    await page.getByRole('search').getByLabel('time range').selectOption('all');
    await page.waitForURL((url) => !url.searchParams.has('last_ns'));
  });
});

describe('rings', () => {
  it('show each process, and what it does this moment', async () => {
    await page.goto(`${LIVE}/rings`);
    const list = page.getByRole('region', { name: 'Processes' });
    await list.locator('tbody tr').first().waitFor();
    const alive = async () => (await ask<Rings>(LIVE, 'rings')).rings.filter((ring) => ring.alive).length;
    // Processes come and go meanwhile.
    await expect.poll(async () => await list.locator('tbody tr:not(.dead):has(a)').count() - await alive()).toBe(0);
    await list.getByRole('link', { name: /^MRTS/ }).first().click();
    const last = page.getByRole('region', { name: 'Last transactions', exact: true });
    await last.getByText('decodePlots').first().waitFor();
    const recorded = page.getByText(/[\d,]+ recorded/);
    const before = await recorded.innerText();
    await expect.poll(() => recorded.innerText(), { timeout: 30_000 }).not.toBe(before);

    // Both histograms of each class, and the worst cases by either order.
    const { classes } = await ask<Ring>(LIVE, `rings/${new URL(page.url()).pathname.split('/').at(-1) ?? ''}`);
    const pictures = page.getByRole('region', { name: 'Histograms of the classes' });
    for (const each of classes) await pictures.locator(`button[title="${each.class}"]`).waitFor();
    const decode = pictures.getByRole('row').filter({ has: page.locator('button[title="MRTS::decodePlots"]') });
    expect(await decode.locator('svg .elapsed rect').count()).toBeGreaterThan(1);
    expect(await decode.locator('svg .cpu rect').count()).toBeGreaterThan(1);
    await decode.getByRole('button').click();
    await page.waitForURL((url) => url.searchParams.get('class') === 'MRTS::decodePlots');
    for (const title of ['Worst by elapsed time', 'Worst by thread CPU time']) {
      const worst = page.getByRole('region', { name: title });
      await worst.getByText('of MRTS::decodePlots').waitFor();
      await expect.poll(() => worst.locator('tbody tr').count()).toBe(10);
    }

    // What is called stands below its caller, as bars and as lines.
    const bars = page.getByRole('application', { name: /transactions of \d+ threads/ });
    expect(await bars.locator('svg .span').count()).toBeGreaterThan(20);
    const depths = async () => (await last.locator('td.depth').allInnerTexts()).map(Number);
    await expect.poll(async () => Math.max(...await depths())).toBeGreaterThan(0);
    await page.keyboard.press('P');
    await page.waitForURL((url) => url.searchParams.get('still') === 'yes');
    // It is asked once more, and stands still from then on.
    const stands = async () => {
      const one = await recorded.innerText();
      await page.waitForTimeout(2500);
      return one === await recorded.innerText();
    };
    await expect.poll(stands, { timeout: 30_000 }).toBe(true);
    const paused = await recorded.innerText();
    await bars.focus();
    await page.keyboard.press('End');
    await page.locator('.ring-timeline .readout strong').waitFor();
    expect(await recorded.innerText()).toBe(paused);
    await page.keyboard.press('P');
    await expect.poll(() => recorded.innerText(), { timeout: 30_000 }).not.toBe(paused);

    // The oldest that is shown has been collected meanwhile.
    await page.getByRole('combobox', { name: 'Last' }).selectOption('500');
    await expect.poll(() => last.locator('tbody tr').count(), { timeout: 30_000 }).toBeGreaterThan(100);
    await last.locator('tbody a').last().click();
    await page.waitForURL(/\/chain\//);
    await page.getByRole('treegrid').waitFor();
  });

  it('of another host come through its agent, and the list says when it is away', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'chronoscope-e2e-'));
    const run = (args: readonly string[]) => spawn(join(BIN, 'chronoscope'), args, { stdio: 'ignore', env: { ...process.env, CHRONOSCOPE_DIR: dir } });
    const trips = run(['net', 'rtt', `connect:${new URL(LIVE).host}`, '--count', '100000', '--every', '50ms']);
    const agent = run(['agent', '--to', LIVE, '--rings', dir, '--spool', join(dir, 'spool')]);
    try {
      await page.goto(`${LIVE}/rings`);
      const there = page.getByRole('region', { name: 'Processes' }).locator('tbody').filter({ has: page.locator('th[title^="by its agent"]') }).last();
      await there.getByRole('link').first().click();
      await page.getByText(/recorded, by its agent/).waitFor();
      await page.getByRole('region', { name: 'Histograms of the classes' }).locator('svg .elapsed rect').first().waitFor();
      const recorded = page.getByText(/[\d,]+ recorded/);
      const before = await recorded.innerText();
      await expect.poll(() => recorded.innerText(), { timeout: 30_000 }).not.toBe(before);
      watched.expected = /503/;
      agent.kill('SIGKILL');
      await there.getByText(/away since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/).waitFor();
      await page.getByRole('alert').getByText(/is not connected/).waitFor();
    } finally {
      agent.kill('SIGKILL');
      trips.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    }
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

  it('have a flame graph, functions with callers and callees, and the difference from another run', async () => {
    const { runs } = await ask<Runs>(LIVE, 'runs');
    const of = (subject: string) => runs.find((run) => run.subject === subject)?.id ?? '';
    const [run, before] = [of('leave the ordering to qsort'), of('a hash that tells words apart')];
    const flame = await ask<Flame>(LIVE, `profiles/flame?run=${run}&process=count/words`);
    expect(flame.frames[0]?.inclusive).toBe(flame.total);
    await page.goto(`${LIVE}/runs`);
    await page.getByRole('row').filter({ hasText: 'leave the ordering to qsort' }).getByRole('link', { name: 'flame graph' }).click();
    await page.waitForURL((url) => url.pathname === `/runs/${run}`);
    const frame = (name: string) => page.locator('.flame g').filter({ has: page.locator('title', { hasText: new RegExp(`^${name} `) }) }).first();
    await frame('main').waitFor();
    // A click zooms; Escape shows all again.
    await frame('order').click();
    await page.waitForURL((url) => url.searchParams.has('zoom'));
    await page.locator('.flame-said', { hasText: 'order' }).waitFor();
    await page.locator('.flame').press('Escape');
    await page.waitForURL((url) => !url.searchParams.has('zoom'));
    // A search marks.
    await page.getByRole('searchbox', { name: 'Find' }).fill('hash');
    await page.locator('.flame .hit').first().waitFor();
    await page.getByRole('searchbox', { name: 'Find' }).fill('');
    // From a function to its caller.
    await page.getByRole('region', { name: 'Functions' }).getByRole('link', { name: 'hash', exact: true }).click();
    const calls = page.getByRole('region', { name: 'Callers and callees' });
    await calls.getByRole('heading', { name: 'hash' }).waitFor();
    const hash = await ask<RunFunction>(LIVE, `profiles/function?run=${run}&process=count/words&function=hash`);
    expect(hash.callers.map((call) => call.name)).toEqual(['find']);
    await calls.getByText(hash.inclusive.toLocaleString('en')).first().waitFor();
    await calls.getByRole('link', { name: 'find', exact: true }).click();
    await calls.getByRole('heading', { name: 'find' }).waitFor();
    // Beside the run before.
    await page.locator('label', { hasText: 'Beside' }).locator('select').selectOption(before);
    await page.getByText('Red: the function itself costs more').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Firefox Profiler file' }).click()]);
    const saved = JSON.parse(await readFile(await file.path(), 'utf8')) as { threads: { samples: { weight: number[] } }[] };
    expect(saved.threads[0]?.samples.weight.reduce((sum, each) => sum + each, 0)).toBe(flame.total);
  });
});

// What a person does who looks for the slow chain: on a real store, through the real server.

import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Chain, Chains, Groups, HistogramAnswer, Marks, Paths, Scatter, Status } from '../src/api/types';
import { answered, CHAINS, launch, open, Server, type Watched } from './world';

let browser: Browser;
const server = new Server();

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
  expect([...watched.origins].filter((origin) => origin !== server.origin && origin !== 'null')).toEqual([]);
  await page.context().close();
});

const rows = () => page.locator('.chains tbody tr');

/** How many pixels of the density are painted. */
const painted = () => page.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
  const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
  let count = 0;
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] !== 0) count += 1;
  return count;
});

/** Drags a rectangle, in shares of the plot. */
async function drag(from: readonly [number, number], to: readonly [number, number]): Promise<void> {
  const box = await page.locator('canvas').boundingBox();
  if (box === null) throw new Error('there is no canvas');
  const at = ([x, y]: readonly [number, number]) => [box.x + box.width * x, box.y + box.height * y] as const;
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(to), { steps: 5 });
  await page.mouse.up();
}

describe('the page', () => {
  // One server at a time writes a store.
  beforeAll(() => server.start());
  afterAll(() => server.end());

  it('opens on the longest way there is, and draws as many chains as the server has', async () => {
    await page.goto(server.origin);
    await page.waitForURL((url) => url.searchParams.get('root') === 'MRTS::decodePlots');
    const { paths } = await server.api<Paths>('paths');
    const longest = Math.max(...paths.map((path) => path.level));
    const { root, leaf } = Object.fromEntries(new URL(page.url()).searchParams);
    expect(paths.filter((path) => path.root === root && path.level === longest).map((path) => path.leaf)).toContain(leaf);
    await page.locator('canvas').waitFor();
    const { total } = await server.api<Scatter>(`scatter?kind=acpd&root=${root ?? ''}&leaf=${leaf ?? ''}&width=100&height=100&scale=log`);
    expect(total).toBeGreaterThan(100);
    await page.getByText(`${total.toLocaleString('en')} durations`).waitFor();
    expect(await painted()).toBeGreaterThan(500);
  });

  it('reaches the waterfall of the slowest chain', async () => {
    const slowest = (await server.api<Chains>(`chains?${CHAINS}&order=longest&limit=1`)).chains[0];
    if (slowest === undefined) throw new Error('the store has no chain');
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await rows().first().getByRole('link').click();
    await page.waitForURL(/\/chain\//);
    expect(page.url()).toContain(slowest.chain);
    const chain = await server.api<Chain>(`chains/${slowest.chain}?near_ns=${slowest.start_ns}`);
    const grid = page.getByRole('treegrid');
    await grid.waitFor();
    expect(Number(await grid.getAttribute('aria-rowcount'))).toBe(chain.rows.length);
    // By keys: to the rows, down one, and what is known of it stands beside.
    await page.keyboard.press('w');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('complementary').getByText('thread CPU').waitFor();
    expect(new URL(page.url()).searchParams.get('row')).not.toBeNull();
    // A reload is the same picture.
    await page.reload();
    await page.getByRole('complementary').getByText('thread CPU').waitFor();
  });

  it('shows the attributes of a span legibly: important ones first, all by keys, long ones folded', async () => {
    const slowest = (await server.api<Chains>(`chains?${CHAINS}&order=longest&limit=1`)).chains[0];
    if (slowest === undefined) throw new Error('the store has no chain');
    const statement = `select ${'a_column_with_a_long_name, '.repeat(40)}1`;
    const properties = {
      ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`telemetry.resource.attribute.of.some.length.number.${n}`, `value ${n}`])),
      'messaging.destination.name': 'orders', 'db.statement': statement, 'exception.message': 'java.net.SocketTimeoutException:timeout'.repeat(3),
    };
    // As the server would answer about a span of OpenTelemetry, of which the radar chain has none.
    await page.route('**/api/v1/chains/*', async (route) => {
      const response = await route.fetch();
      const chain = await response.json() as Chain;
      await route.fulfill({ response, json: { ...chain, rows: chain.rows.map((row) => ({ ...row, cpu_ns: null, properties, metrics: {} })) } });
    });
    const row = (await server.api<Chain>(`chains/${slowest.chain}?near_ns=${slowest.start_ns}`)).rows[0]?.id ?? '';
    await page.goto(`${server.origin}/chain/${slowest.chain}?near_ns=${slowest.start_ns}&row=${row}`);
    const context = page.getByRole('region', { name: 'Context' });
    await context.waitFor();
    const names = () => context.locator('dt').allInnerTexts();
    expect(await names()).toEqual(['exception.message', 'messaging.destination.name', 'db.statement']);
    // Nothing stands in a column that is one letter wide.
    const widths = () => context.locator('dt, dd').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
    expect(Math.min(...await widths())).toBeGreaterThan(150);
    await context.getByRole('button', { name: 'Show all 23' }).focus();
    await page.keyboard.press('Enter');
    expect((await names()).length).toBe(23);
    expect(Math.min(...await widths())).toBeGreaterThan(150);
    const folded = context.locator('dd').filter({ hasText: 'select' });
    expect(await folded.innerText()).not.toContain(statement);
    await folded.locator('summary').focus();
    await page.keyboard.press('Enter');
    expect(await folded.innerText()).toContain(statement);
    await context.getByRole('button', { name: 'Show the important ones' }).press('Space');
    expect((await names()).length).toBe(3);
    // Its CPU time was not measured.
    expect(await page.getByRole('complementary').getByTitle(/^Its CPU time was not measured/).innerText()).toContain('unknown');
  });

  it('compares what is brushed with the rest, and back takes the brush away', async () => {
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await page.locator('canvas').waitFor();
    await drag([0.1, 0.02], [0.9, 0.5]);
    await page.waitForURL((url) => url.searchParams.has('brush'));
    await page.getByRole('heading', { name: 'Marked' }).waitFor();
    await page.locator('.parts li').first().waitFor();
    expect((await page.locator('.sentence').first().innerText()).length).toBeGreaterThan(10);
    const [from, until, min, max] = (new URL(page.url()).searchParams.get('brush') ?? '').split(',');
    const inside = await server.api<Chains>(`chains?${CHAINS}&from_ns=${from}&until_ns=${until}&min_ns=${min}&max_ns=${max}&order=longest&limit=100`);
    await page.locator('caption').getByText(inside.total > 100 ? `of ${inside.total.toLocaleString('en')}` : `All ${inside.total}`).waitFor();
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('brush'));
    await page.getByRole('heading', { name: 'Marked' }).waitFor({ state: 'detached' });
  });

  it('brushes and zooms by keys alone', async () => {
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await page.locator('canvas').waitFor();
    await page.keyboard.press('p');
    await page.keyboard.press('b');
    await page.waitForURL((url) => url.searchParams.has('brush'));
    const before = new URL(page.url()).searchParams.get('brush');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowUp');
    await page.keyboard.press('Shift+ArrowLeft');
    await page.waitForURL((url) => url.searchParams.get('brush') !== before);
    const [from = ''] = (new URL(page.url()).searchParams.get('brush') ?? '').split(',');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('from_ns') === from);
    expect(new URL(page.url()).searchParams.has('brush')).toBe(false);
  });

  it('zooms by the wheel around the pointer, in one step of the history', async () => {
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await page.locator('canvas').waitFor();
    const { from_ns, until_ns } = await server.api<Scatter>(`scatter?${CHAINS}`);
    const steps = () => page.evaluate(() => history.length);
    const [before, box] = [await steps(), await page.locator('canvas').boundingBox()];
    if (box === null) throw new Error('there is no canvas');
    const param = (name: string) => Number(new URL(page.url()).searchParams.get(name));
    await page.mouse.move(box.x + box.width / 4, box.y + box.height / 2);
    // At once: a pause would make two steps of them.
    await Promise.all(Array.from({ length: 6 }, () => page.mouse.wheel(0, -100)));
    await page.waitForURL((url) => Number(url.searchParams.get('until_ns')) - Number(url.searchParams.get('from_ns')) < (until_ns - from_ns) / 3
      && url.searchParams.has('from_ns'));
    // What was under the pointer still is.
    const under = param('from_ns') + (param('until_ns') - param('from_ns')) / 4;
    expect(Math.abs(under - (from_ns + (until_ns - from_ns) / 4))).toBeLessThan((until_ns - from_ns) / 200);
    expect(await steps()).toBe(before + 1);

    await page.keyboard.down('Shift');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Shift');
    await page.waitForURL((url) => url.searchParams.has('min_ns') && url.searchParams.has('max_ns'));
    const inside = await server.api<Scatter>(`scatter?${CHAINS}&${['from_ns', 'until_ns', 'min_ns', 'max_ns'].map((name) => `${name}=${param(name)}`).join('&')}`);
    await page.getByText(`${inside.total.toLocaleString('en')} durations`).waitFor();

    const [from, min] = [param('from_ns'), param('min_ns')];
    await page.mouse.down({ button: 'middle' });
    await page.mouse.move(box.x + box.width / 4 - 60, box.y + box.height / 2 + 40, { steps: 4 });
    await page.mouse.up({ button: 'middle' });
    await page.waitForURL((url) => Number(url.searchParams.get('from_ns')) > from && Number(url.searchParams.get('min_ns')) > min);

    await page.goBack();
    await page.waitForURL((url) => url.searchParams.get('from_ns') === String(from));
    await page.keyboard.press('0');
    await page.waitForURL((url) => !url.searchParams.has('from_ns') && !url.searchParams.has('min_ns'));
  });

  it('zooms and moves by keys as by the wheel', async () => {
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await page.locator('canvas').waitFor();
    await page.keyboard.press('p');
    await page.keyboard.press('+');
    await page.waitForURL((url) => url.searchParams.has('from_ns'));
    const from = Number(new URL(page.url()).searchParams.get('from_ns'));
    await page.keyboard.press('ArrowRight');
    await page.waitForURL((url) => Number(url.searchParams.get('from_ns')) > from);
    await page.keyboard.press('d');
    await page.waitForURL((url) => url.searchParams.has('min_ns'));
    // As far as the minutes reach that the store has rows of, and no further.
    for (let times = 0; times < 12; times += 1) await page.keyboard.press('-');
    await page.waitForURL((url) => !url.searchParams.has('from_ns') && !url.searchParams.has('until_ns'));
  });

  it('shows all of a time in its field', async () => {
    const { from_ns, until_ns } = await server.api<Scatter>(`scatter?${CHAINS}`);
    await page.goto(`${server.origin}/scatter?${CHAINS}&from_ns=${Math.floor(from_ns / 1e9) * 1e9 + 1_234_567_000}&until_ns=${until_ns}`);
    const field = page.getByLabel('first start, UTC');
    await field.waitFor();
    expect(await field.inputValue()).toMatch(/\.234567$/);
    expect(await field.evaluate((input: HTMLInputElement) => input.scrollWidth <= input.clientWidth)).toBe(true);
  });

  it('shows the same to whoever follows a link', async () => {
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await page.locator('canvas').waitFor();
    await drag([0.2, 0.02], [0.8, 0.6]);
    await page.locator('.sentence').first().waitFor();
    const [link, sentence] = [page.url(), await page.locator('.sentence').first().innerText()];
    const other = await open(browser);
    await other.page.goto(link);
    await other.page.locator('.brush').waitFor();
    expect(await other.page.locator('.sentence').first().innerText()).toBe(sentence);
    await other.page.context().close();
  });

  it('says whether the limit holds, and goes from a bar to its chains', async () => {
    await page.goto(`${server.origin}/histogram?${CHAINS}`);
    await page.getByRole('region', { name: 'Requirement' }).getByLabel('longest allowed duration').fill('1 us');
    await page.keyboard.press('Enter');
    await page.getByText('Not met', { exact: true }).waitFor();
    // Longer than any duration, and shorter than what was measured: most roots are decided.
    await page.getByRole('search').getByLabel('longest allowed duration').fill('10 s');
    await page.keyboard.press('Enter');
    // A block of the radar without plots leads nowhere: what has to arrive is for the reader to say.
    await page.getByText('Undetermined', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'each root must arrive' }).click();
    await page.getByText('Not met', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'only chains that arrived' }).click();
    await page.getByText('Holds', { exact: true }).waitFor();
    expect(page.url()).toContain('judge=arrived');
    await page.locator('.histogram-area').click({ position: { x: 300, y: 200 }, trial: true });
    // Closer, everything is still counted; and back.
    const count = await page.getByRole('region', { name: 'Parameters' }).locator('dd').first().innerText();
    await page.locator('.histogram-area').hover({ position: { x: 300, y: 200 } });
    await page.mouse.wheel(0, -300);
    await page.waitForURL((url) => url.searchParams.has('x'));
    await answered(page);
    expect(await page.getByRole('region', { name: 'Parameters' }).locator('dd').first().innerText()).toBe(count);
    await page.getByRole('button', { name: 'All durations' }).click();
    await page.waitForURL((url) => !url.searchParams.has('x'));
    await answered(page);
    const bar = await page.locator('.bin').first().boundingBox();
    if (bar === null) throw new Error('there is no bar');
    await page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height - 1);
    await page.waitForURL((url) => url.pathname === '/scatter' && url.searchParams.has('max_ns'));
  });

  it('saves pictures and tables as PNG, SVG and CSV with the exact numbers', async () => {
    await page.goto(`${server.origin}/histogram?${CHAINS}`);
    await page.locator('.bin').first().waitFor();
    await page.keyboard.press('S');
    const sheet = page.getByRole('dialog', { name: 'Save' });
    const saved = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent('download'), sheet.getByRole('button', { name, exact: true }).click()]);
      return { name: download.suggestedFilename(), octets: readFileSync(await download.path()) };
    };
    const csv = await saved('Histogram as CSV');
    expect(csv.name).toMatch(/^histogram-\d{8}T\d{6}Z\.csv$/);
    const [head, ...lines] = csv.octets.toString().split('\r\n');
    expect(head).toBe('From (ns),Until (ns),Count');
    const { distribution, paths } = await server.api<HistogramAnswer>(`histogram?${CHAINS}`);
    expect(lines.filter((line) => line !== '').reduce((sum, line) => sum + Number(line.split(',')[2]), 0)).toBe(distribution?.count);
    const table = (await saved('By path as CSV')).octets.toString().split('\r\n');
    expect(table[0]).toContain('median (ns)');
    expect(table[1]).toContain(`,${paths[0]?.distribution.median_ns ?? ''},`);
    const svg = (await saved('Histogram as SVG')).octets.toString();
    // It opens elsewhere: everything it refers to is in it, its colours are numbers.
    expect(svg).toMatch(/^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    expect(svg).not.toMatch(/var\(--|class=|href="http/);
    expect(svg).toContain('>median ');
    const png = await saved('Histogram as PNG');
    expect(png.name).toMatch(/\.png$/);
    expect(png.octets.subarray(1, 4).toString()).toBe('PNG');
    expect(png.octets.length).toBeGreaterThan(5_000);
  });

  it('marks an instant on the axis of time, and compares before with after', async () => {
    const { from_ns, until_ns } = await server.api<Scatter>(`scatter?${CHAINS}`);
    const middle = new Date((from_ns + until_ns) / 2e6).toISOString().slice(0, 19).replace('T', ' ');
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await page.locator('canvas').waitFor();
    await page.keyboard.press('V');
    const sheet = page.getByRole('dialog', { name: 'Named views and marks' });
    await sheet.getByLabel('when it happened, UTC').fill(middle);
    await sheet.getByLabel('What happened').fill('v4.2 on shop');
    await page.keyboard.press('Enter');
    await sheet.getByRole('button', { name: 'Remove the mark v4.2 on shop' }).waitFor();
    await sheet.getByRole('button', { name: 'Close' }).click();
    await page.locator('.time-mark').getByText('v4.2 on shop', { exact: true }).waitFor();
    await page.goto(`${server.origin}/compare?${CHAINS}`);
    await page.getByRole('main').getByRole('button', { name: 'before | after v4.2 on shop' }).click();
    await page.waitForURL((url) => url.searchParams.get('until_ns') !== null && url.searchParams.get('until_ns') === url.searchParams.get('b_from_ns'));
    await page.locator('.compare-picture path.b').waitFor();
    // As another program has noted it, and removed.
    const { marks } = await server.api<Marks>('marks');
    expect(marks.map(({ text }) => text)).toEqual(['v4.2 on shop']);
    await page.keyboard.press('V');
    await sheet.getByRole('button', { name: 'Remove the mark v4.2 on shop' }).click();
    await sheet.getByText('None yet.').nth(1).waitFor();
    expect((await server.api<Marks>('marks')).marks).toEqual([]);
  });

  it('gives a view a name, which leads others to it', async () => {
    await page.goto(`${server.origin}/histogram?${CHAINS}&counts=log`);
    await page.locator('.bin').first().waitFor();
    await page.keyboard.press('V');
    await page.getByRole('dialog').getByLabel('Name of this view').fill('redraws & more');
    await page.keyboard.press('Enter');
    const link = page.getByRole('dialog').getByRole('link', { name: 'redraws & more' });
    const href = await link.getAttribute('href');
    const other = await open(browser);
    await other.page.goto(`${server.origin}${href ?? ''}`);
    await other.page.waitForURL((url) => url.pathname === '/histogram' && url.searchParams.get('counts') === 'log');
    await other.page.locator('.bin').first().waitFor();
    await other.page.goto(`${server.origin}/#view=nothing`);
    await other.page.getByText('No view is called “nothing”').waitFor();
    expect(other.errors).toEqual([]);
    await other.page.context().close();
    await page.getByRole('button', { name: 'Remove the name redraws & more' }).click();
    await link.waitFor({ state: 'detached' });
  });

  it('groups durations by an attribute, and filters by a value', async () => {
    await page.goto(`${server.origin}/groups?${CHAINS}`);
    await page.getByRole('region', { name: 'Attributes' }).getByRole('link', { name: 'host.name', exact: true }).click();
    const groups = page.getByRole('region', { name: 'Groups' }).locator('tbody tr');
    await groups.first().waitFor();
    const { groups: answer } = await server.api<Groups>(`groups?${CHAINS}&by=host.name`);
    expect(await groups.count()).toBe(answer.length);
    expect(await page.locator('.spread-of').count()).toBe(answer.length);
    const value = answer[0]?.group.values[0] ?? '';
    await groups.first().getByRole('link', { name: value, exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get('where') === `host.name=${value}`);
    await groups.first().waitFor();
    await groups.first().getByRole('link', { name: 'Scattergram' }).click();
    await page.waitForURL((url) => url.pathname === '/scatter' && url.searchParams.get('where') === `host.name=${value}`);
  });

  it('draws further parents, and leads to their chains; and names the call that takes most of the longest', async () => {
    const slowest = (await server.api<Chains>(`chains?${CHAINS}&order=longest&limit=1`)).chains[0];
    if (slowest === undefined) throw new Error('the store has no chain');
    const chain = await server.api<Chain>(`chains/${slowest.chain}?near_ns=${slowest.start_ns}`);
    const [root] = chain.rows;
    if (root === undefined) throw new Error('the chain has no row');
    // As the server would answer about a batch, of which the radar chain has none.
    await page.route('**/api/v1/chains/*', async (route) => {
      if (!route.request().url().includes(slowest.chain)) {
        await route.continue();
        return;
      }
      const response = await route.fetch();
      const link = { chain: 'f'.repeat(32), id: '1'.repeat(16), class: 'MRTS::decodePlots', root_start_ns: slowest.start_ns };
      const own = { chain: chain.chain, id: root.id, class: `${root.application}::${root.class}`, root_start_ns: null };
      const rows = chain.rows.map((row, index) => (index === 0 ? { ...row, elapsed_ns: 1e9 } : { ...row, links: [link, own] }));
      const lookup = { ...root, id: 'a'.repeat(16), parent: root.id, class: 'lookup_customer', start_ns: 1000, elapsed_ns: 9e8, asynchronous: false };
      await route.fulfill({ response, json: { ...chain, rows: [rows[0], lookup, ...rows.slice(1)] } });
    });
    await page.goto(`${server.origin}/chain/${slowest.chain}?near_ns=${slowest.start_ns}`);
    await page.getByRole('treegrid').waitFor();
    await page.getByText('lookup_customer: 900 ms of the 1.00 s of').waitFor();
    expect(await page.locator('.bars .inner').count()).toBeGreaterThan(0);
    expect(await page.locator('.bars .call.link').count()).toBeGreaterThan(1);
    watched.expected = /status of 404/; // there is no such chain
    await page.getByRole('treegrid').getByRole('link', { name: 'MRTS::decodePlots' }).first().click();
    await page.waitForURL((url) => url.pathname === `/chain/${'f'.repeat(32)}`);
  });

  it('refuses in words what it cannot read', async () => {
    await page.goto(`${server.origin}/scatter?${CHAINS}&min_ns=soon`);
    await page.getByText('Part of the address was left out').waitFor();
    await page.getByRole('search').getByLabel('longest duration').fill('fast');
    await page.keyboard.press('Enter');
    await page.getByText('a duration with its unit').waitFor();
  });

  it('has a sheet of its keys', async () => {
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await page.locator('canvas').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('zoom into the brush').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('says that the server is lost, and goes on when it is back', async () => {
    await page.goto(`${server.origin}/scatter?${CHAINS}`);
    await page.locator('canvas').waitFor();
    watched.expected = /net::ERR_/;
    await server.kill();
    await page.getByText('Server lost').waitFor({ timeout: 30_000 });
    await page.locator('canvas').waitFor(); // what was there is still there
    await server.start();
    await page.getByText('Server lost').waitFor({ state: 'detached', timeout: 30_000 });
    const { rows: stored } = await server.api<Status>('status');
    await page.getByText(`${(stored ?? 0).toLocaleString('en')} rows`).waitFor();
    await drag([0.1, 0.02], [0.9, 0.5]);
    await page.locator('.parts li').first().waitFor();
  });
});

describe('a server with a token', () => {
  const guarded = new Server('a-secret-of-some-letters');
  beforeAll(() => guarded.start());
  afterAll(() => guarded.end());

  it('is asked with it, once it was typed in, for as long as the tab is open', async () => {
    const other = await open(browser);
    other.expected = /status of 401/;
    await other.page.goto(`${guarded.origin}/scatter?${CHAINS}`);
    const prompt = other.page.getByRole('dialog');
    await prompt.getByLabel('Token').fill('wrong');
    await other.page.keyboard.press('Enter');
    await other.page.getByText('The token was refused').waitFor();
    await prompt.getByLabel('Token').fill('a-secret-of-some-letters');
    await other.page.keyboard.press('Enter');
    await other.page.locator('canvas').waitFor();
    await other.page.reload();
    await other.page.locator('canvas').waitFor();
    expect(other.errors).toEqual([]);
    await other.page.context().close();
  });
});

// A journey through the working position, as it is built into radar-display, on a real chain that
// this file starts: generator, tracker, message server, display.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { built, launchBrowser, open, type Watched } from './world';

const BIN = process.env['BIN'] ?? '';

/** The programs of a chain, ended whatever happens. */
class Chain {
  private readonly folder = mkdtempSync(join(tmpdir(), 'working-position-'));
  private readonly programs = new Map<string, ChildProcess>();

  private start(name: string, args: readonly string[]): void {
    const env = { ...process.env, CHRONOSCOPE_DIR: this.folder };
    this.programs.set(name, spawn(join(BIN, name), args, { stdio: 'ignore', env }));
  }

  /** Waits for a file that a program writes when it listens. */
  private async address(file: string): Promise<string> {
    const path = join(this.folder, file);
    for (let turn = 0; turn < 1200; turn++) {
      if (existsSync(path)) return readFileSync(path, 'utf8').trim();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`${file}: nobody listens after 60 s`);
  }

  async begin(): Promise<string> {
    const path = (file: string) => join(this.folder, file);
    this.start('radar-tracker', ['--plots-port-file', path('plots'), '--port-file', path('tracks')]);
    const plots = await this.address('plots');
    this.start('radar-generator', [
      '--scenario', 'circles', '--circles', '8', '--flights', '12', '--radars', '3', '--speed', '4', '--to', plots, '--flight-plans', path('plans.csv'),
    ]);
    await this.address('plans.csv');
    this.start('radar-messages', ['--tracker', await this.address('tracks'), '--flight-plans', path('plans.csv'), '--port-file', path('messages')]);
    await this.address('messages');
    return this.display('127.0.0.1:0');
  }

  /** Starts the display; returns where it is. */
  async display(listen: string): Promise<string> {
    const file = join(this.folder, 'browsers');
    rmSync(file, { force: true });
    const messages = readFileSync(join(this.folder, 'messages'), 'utf8').trim();
    this.start('radar-display', ['--messages', messages, '--listen', listen, '--port-file', file]);
    return this.address('browsers');
  }

  async kill(name: string): Promise<void> {
    const child = this.programs.get(name);
    this.programs.delete(name);
    if (child === undefined || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async end(): Promise<void> {
    for (const name of [...this.programs.keys()]) await this.kill(name);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

let browser: Browser;
let address: string;
let watched: Watched;
let page: Page;
const chain = new Chain();
beforeAll(async () => {
  address = await chain.begin();
  await built(`http://${address}/`);
  browser = await launchBrowser();
  watched = await open(browser, { width: 1600, height: 1000, colorScheme: 'dark' });
  ({ page } = watched);
  await page.goto(`http://${address}/`);
});
afterAll(async () => {
  // The programs first: where no browser was had, closing it fails.
  await chain.end();
  await browser.close();
});

/** What the page says that it shows. */
function shown(): Promise<{ tracks: number; labels: { id: number; detail: number; rect: number[] | null }[] }> {
  return page.evaluate(() => {
    const position = (window as unknown as { workingPosition: { targets: Map<number, unknown>; picture: { labels: () => [] } } }).workingPosition;
    return { tracks: position.targets.size, labels: position.picture.labels() };
  });
}

const choices = () => new URL(page.url()).searchParams;

it('targets are seen, and no two labels overlap', async () => {
  await page.waitForFunction(() => (window as unknown as { workingPosition?: { targets: Map<number, unknown> } }).workingPosition?.targets.size === 96, undefined, { timeout: 60_000 });
  for (let look = 0; look < 5; look++) {
    const { labels } = await shown();
    const rects = labels.flatMap(({ rect }) => rect === null ? [] : [rect]);
    expect(rects.length).toBeGreaterThan(40);
    for (const [index, [ax0 = 0, ay0 = 0, ax1 = 0, ay1 = 0]] of rects.entries()) {
      for (const [bx0 = 0, by0 = 0, bx1 = 0, by1 = 0] of rects.slice(index + 1)) {
        expect(ax0 < bx1 && bx0 < ax1 && ay0 < by1 && by0 < ay1).toBe(false);
      }
    }
    await page.waitForTimeout(400);
  }
  // They are on the canvas, too: the colour of a correlated target's symbol.
  const pixels = await page.evaluate(() => {
    const canvas = document.querySelector('canvas');
    const data = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
    let count = 0;
    for (let at = 0; at < data.length; at += 4) if ((data[at] ?? 0) > 150 && (data[at + 1] ?? 0) > 190) count++;
    return count;
  });
  expect(pixels).toBeGreaterThan(96 * 10);
  expect(await page.getByRole('status').textContent()).toBe('messages up');
});

it('a range-bearing line is drawn by keys', async () => {
  await page.keyboard.press('b');
  for (let step = 0; step < 5; step++) await page.keyboard.press('Shift+ArrowUp');
  await page.keyboard.press('b');
  const words = await page.getByRole('status', { name: 'Range and bearing' }).textContent();
  // 200 pixels up, of 940 that are 510 NM: 108.5 NM to the north.
  const [, nm, bearing] = /^([\d.]+) NM (\d{3})°$/.exec(words ?? '') ?? [];
  expect(Math.abs(Number(nm) - (200 / 940) * 510)).toBeLessThan(1);
  expect(bearing).toBe('000');
  await page.keyboard.press('Escape');
  await page.getByRole('status', { name: 'Range and bearing' }).waitFor({ state: 'detached' });
});

it('the level filter leaves out, and the URL keeps every choice', async () => {
  const before = (await shown()).labels.length;
  await page.getByLabel('FL from').fill('225');
  await page.getByLabel('FL from').press('Enter');
  await page.locator('canvas').focus();
  await page.keyboard.press('v');
  await page.keyboard.press('+');
  await page.keyboard.press('3');
  await page.waitForFunction(() => new URL(location.href).searchParams.get('height') !== null);
  const after = (await shown()).labels.length;
  expect(after).toBeLessThan(before);
  expect(Object.fromEntries(choices())).toMatchObject({ low: '225', vector: '2', height: '408.0', off: 'airways' });
  await page.reload();
  await page.waitForFunction(() => (window as unknown as { workingPosition?: { targets: Map<number, unknown> } }).workingPosition?.targets.size === 96, undefined, { timeout: 60_000 });
  expect(await page.getByLabel('FL from').inputValue()).toBe('225');
  await page.getByText('layers (1 off)').click();
  expect(await page.getByLabel('airways').isChecked()).toBe(false);
  await page.getByText('layers (1 off)').click();
  expect((await shown()).labels.length).toBeLessThan(before);
});

it('a picture that is moved is the same as one that is drawn anew', async () => {
  const differing = await page.evaluate(() => {
    interface Inside { columns: number; rows: number; visible: Set<unknown>; draw: () => void; region: (...args: unknown[]) => void }
    const position = (window as unknown as { workingPosition: { pan: (right: number, down: number) => void; picture: Inside } }).workingPosition;
    const { picture } = position;
    const canvas = document.querySelector('canvas');
    const pixels = () => canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
    picture.draw();
    return [[37, 0], [0, -51], [-130, 23]].map(([right = 0, down = 0]) => {
      position.pan(right, down);
      picture.draw();
      const moved = pixels();
      // With the labels where they stand.
      picture.region(0, 0, picture.columns, picture.rows, [...picture.visible]);
      const anew = pixels();
      const differing = (by: number) => moved.filter((value, at) => value !== anew[at + by]).length / moved.length;
      // As many as differ, and as would if it were moved by one pixel too few or too many.
      return { share: differing(0), beside: Math.min(differing(4), differing(-4)) };
    });
  });
  // Edges that were smoothed across the seam may differ.
  for (const { share, beside } of differing) expect(share).toBeLessThan(beside / 20);
});

it('while it is zoomed a picture is scaled, and drawn anew now and then, and when that rests', async () => {
  const found = await page.evaluate(async () => {
    interface Inside { columns: number; rows: number; visible: Set<{ at: { x: number; y: number } }>; region: (...args: unknown[]) => void; cost: { whole: number; scaled: number } }
    interface Zoomed { zoomBy: (factor: number) => void; camera: { centre: { x: number; y: number }; metresPerPixel: number; width: number; height: number }; picture: Inside }
    const position = (window as unknown as { workingPosition: Zoomed }).workingPosition;
    const { picture } = position;
    const canvas = document.querySelector('canvas');
    const pixels = () => canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
    const frame = () => new Promise(requestAnimationFrame);
    // As they were drawn: they go on.
    const current = () => [...picture.visible].map(({ at }) => at);
    let [places, whole] = [current(), picture.cost.whole];
    /** The share of places with something as bright as a symbol within 3 pixels of where a camera has them. */
    const seen = (camera: Zoomed['camera']) => {
      const data = pixels();
      let [count, bright] = [0, 0];
      for (const at of places) {
        const x = Math.round(camera.width / 2 + (at.x - camera.centre.x) / camera.metresPerPixel);
        const y = Math.round(camera.height / 2 - (at.y - camera.centre.y) / camera.metresPerPixel);
        if (x < 3 || y < 3 || x >= camera.width - 3 || y >= camera.height - 3) continue;
        count++;
        let isBright = false;
        for (let dy = -3; dy <= 3; dy++) for (let dx = -3; dx <= 3; dx++) isBright ||= (data[((y + dy) * camera.width + x + dx) * 4 + 1] ?? 0) > 140;
        if (isBright) bright++;
      }
      return bright / count;
    };
    const before = { ...picture.cost };
    const first = position.camera;
    const begin = performance.now();
    for (let times = 0; times < 8; times++) {
      position.zoomBy(0.95);
      await frame();
      // Drawn anew, on a busy machine: with the places of then.
      if (picture.cost.whole !== whole) [places, whole] = [current(), picture.cost.whole];
    }
    const zoomed = { scaled: picture.cost.scaled - before.scaled, whole: picture.cost.whole - before.whole, there: seen(position.camera), elsewhere: seen(first) };
    for (let times = 0; performance.now() - begin < 1800; times++) {
      position.zoomBy(times % 2 === 0 ? 0.99 : 1 / 0.99);
      await frame();
    }
    const anew = picture.cost.whole - before.whole;
    // At rest it is drawn anew, once more.
    const moved = picture.cost.whole;
    for (let turn = 0; turn < 100 && picture.cost.whole === moved; turn++) await new Promise((resolve) => setTimeout(resolve, 50));
    const rested = pixels();
    picture.region(0, 0, picture.columns, picture.rows, [...picture.visible]);
    const drawn = pixels();
    const differing = (by: number) => rested.filter((value, at) => value !== drawn[at + by]).length / rested.length;
    return { zoomed, anew, share: differing(0), beside: Math.min(differing(4), differing(-4)) };
  });
  expect(found.zoomed.scaled).toBeGreaterThan(0);
  expect(found.zoomed.there).toBeGreaterThan(0.9);
  expect(found.zoomed.elsewhere).toBeLessThan(0.7 * found.zoomed.there);
  // About each half of a second.
  expect(found.anew).toBeGreaterThanOrEqual(2);
  expect(found.share).toBeLessThan(found.beside / 20);
});

it('a target is selected by keys, and said', async () => {
  await page.keyboard.press('n');
  const selected = page.getByRole('region', { name: 'Selected target' });
  await selected.waitFor();
  expect(await selected.textContent()).toMatch(/Mode A[0-7]{4}state/);
  await page.waitForFunction(() => new URL(location.href).searchParams.get('track') !== null);
});

it('a label is dragged, and placed automatically again by the menu', async () => {
  const canvas = page.locator('canvas');
  const box = await canvas.boundingBox();
  if (box === null) throw new Error('the picture is not there');
  const label = async () => page.evaluate(() => {
    interface Inside { view: { value: { track: number } }; targets: Map<number, { x: number; y: number; pinned?: object }>; picture: { labels: () => { id: number; rect: number[] | null }[] } }
    const { view, targets, picture } = (window as unknown as { workingPosition: Inside }).workingPosition;
    const id = view.value.track;
    const target = targets.get(id);
    const rect = picture.labels().find((one) => one.id === id)?.rect ?? null;
    return { rect, symbol: [target?.x ?? 0, target?.y ?? 0], pinned: target?.pinned !== undefined };
  });
  const before = await label();
  const [x0 = 0, y0 = 0] = before.rect ?? [];
  await page.mouse.move(box.x + x0 + 6, box.y + y0 + 6);
  await page.mouse.down();
  await page.mouse.move(box.x + x0 + 36, box.y + y0 + 46, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => {
    const { view, targets } = (window as unknown as { workingPosition: { view: { value: { track: number } }; targets: Map<number, { pinned?: object }> } }).workingPosition;
    return targets.get(view.value.track)?.pinned !== undefined;
  });
  const after = await label();
  expect(after.pinned).toBe(true);
  // The picture did not move with it: the menu opens at the symbol.
  await page.keyboard.press('m');
  const menu = page.getByRole('menu');
  await menu.waitFor();
  await menu.getByRole('menuitem', { name: 'label: placed automatically' }).click();
  await menu.waitFor({ state: 'detached' });
  expect((await label()).pinned).toBe(false);
  await page.keyboard.press('m');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached' });
});

it('coasts are there, no label stands on a name, and the layers are at hand at 1280 pixels, too', async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press('Escape');
  const { lines, over } = await page.evaluate(async () => {
    interface Inside { sheet: { ground: { world?: { coasts: unknown[] } } }; mapNames: () => { x0: number; y0: number; x1: number; y1: number }[]; labels: () => { id: number; rect: number[] | null }[] }
    const { picture, targets } = (window as unknown as { workingPosition: { picture: Inside; targets: Map<number, { urgent: boolean }> } }).workingPosition;
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    const names = picture.mapNames();
    const over = picture.labels().filter(({ id, rect }) => rect !== null && targets.get(id)?.urgent === false
      && names.some((name) => (rect[0] ?? 0) < name.x1 && name.x0 < (rect[2] ?? 0) && (rect[1] ?? 0) < name.y1 && name.y0 < (rect[3] ?? 0)));
    return { lines: picture.sheet.ground.world?.coasts.length ?? 0, over: over.length };
  });
  expect(lines).toBeGreaterThan(100);
  expect(over).toBe(0);
  await page.getByText(/^layers/).click();
  await page.getByLabel('radars').uncheck();
  await page.waitForFunction(() => new URL(location.href).searchParams.get('off')?.includes('radars') === true);
  await page.getByLabel('radars').check();
  await page.getByText(/^layers/).click();
  await page.setViewportSize({ width: 1600, height: 1000 });
});

it('a display that is lost is said to be, and found again', async () => {
  watched.expected = /ERR_CONNECTION_(REFUSED|RESET)|WebSocket/;
  await chain.kill('radar-display');
  await page.getByText('connection lost').waitFor();
  await chain.display(address);
  await page.getByText('messages up').waitFor();
  await page.waitForFunction(() => (window as unknown as { workingPosition: { targets: Map<number, unknown> } }).workingPosition.targets.size === 96, undefined, { timeout: 60_000 });
  expect(watched.errors).toEqual([]);
  // It talked to nobody else.
  expect([...watched.origins]).toEqual([`http://${address}`]);
});

it('a picture whose tracker is dead is said to be stale', async () => {
  await chain.kill('radar-tracker');
  await page.getByRole('alert').getByText('STALE PICTURE').waitFor();
  expect(await page.getByRole('status').first().textContent()).toBe('STALE: no track updates');
  // Nothing in the head is green or says that all is normal.
  expect(await page.locator('header .good').count()).toBe(0);
  expect(await page.locator('header').textContent()).not.toMatch(/messages up|normal/);
  // Its age goes on.
  await page.getByText(/Positions are \d+ s old, usually updated every/).waitFor();
});

it('axe finds nothing to object to', async () => {
  const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
  const found = await page.evaluate(`${axe}; axe.run({ runOnly: ['wcag2a', 'wcag2aa'] }).then((results) => results.violations.map((one) => one.id + ' ' + one.nodes.map((node) => node.html).join(' ')))`);
  expect(found).toEqual([]);
});

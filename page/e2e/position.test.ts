// A journey through the working position, as it is built into radar-display, on a real chain that
// this file starts.

import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Chain } from './chain';
import { built, launchBrowser, open, type Watched } from './world';

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

/** What the page has of itself for tests. */
interface Inside {
  readonly targets: ReadonlyMap<number, { readonly urgent: boolean; readonly at: { readonly x: number; readonly y: number } }>;
  readonly camera: { readonly centre: { readonly x: number; readonly y: number }; readonly metresPerPixel: number; readonly width: number; readonly height: number };
  readonly broken: { readonly value: string };
  readonly pan: (right: number, down: number) => void;
  readonly zoomBy: (factor: number) => void;
  readonly screen: {
    readonly isSettled: boolean;
    readonly cost: { readonly frames: number } | undefined;
    readonly labels: () => { readonly id: number; readonly detail: number; readonly rect: readonly number[] | null }[];
    readonly mapNames: () => readonly { readonly x0: number; readonly y0: number; readonly x1: number; readonly y1: number }[];
  };
}

/** What the page says that it shows. */
function shown(): Promise<{ tracks: number; labels: { id: number; detail: number; rect: readonly number[] | null }[] }> {
  return page.evaluate(() => {
    const { targets, screen } = (window as unknown as { workingPosition: Inside }).workingPosition;
    return { tracks: targets.size, labels: screen.labels() };
  });
}

/** Waits until all labels are placed and the map is drawn for what is looked at: twice, because a report
 * may be of before. */
async function settled(): Promise<void> {
  for (let report = 0; report < 2; report++) {
    await page.waitForTimeout(120);
    await page.waitForFunction(() => (window as unknown as { workingPosition: Inside }).workingPosition.screen.isSettled);
  }
}

/** The pixels of the picture, kept in the page by a name: they are too many to be handed over. */
async function keep(name: string): Promise<void> {
  await page.evaluate(async (name) => {
    const canvas = document.querySelector('canvas');
    if (canvas === null) throw new Error('the picture is not there');
    const bitmap = await createImageBitmap(canvas);
    const copy = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
    copy?.drawImage(bitmap, 0, 0);
    const image = copy?.getImageData(0, 0, bitmap.width, bitmap.height);
    (window as unknown as Record<string, unknown>)[name] = image;
  }, name);
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
  await settled();
  await keep('first');
  const pixels = await page.evaluate(() => {
    const { data } = (window as unknown as { first: ImageData }).first;
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

it('a picture that is moved is the same, elsewhere', async () => {
  // Nothing moves meanwhile but the picture.
  chain.signal('radar-tracker', 'SIGSTOP');
  try {
    await page.waitForTimeout(300);
    await settled();
    await keep('before');
    // The last one leads beyond what is held of the map.
    for (const [right, down] of [[37, 0], [0, -51], [-130, 23], [300, 200]] as const) {
      await page.evaluate(([right, down]) => {
        (window as unknown as { workingPosition: Inside }).workingPosition.pan(right, down);
      }, [right, down] as const);
      await settled();
      await keep('after');
      const { share, beside } = await page.evaluate(([right, down]) => {
        const { before, after } = window as unknown as Record<'before' | 'after', ImageData>;
        const { width, height } = before;
        /** The share of pixels that differ from where they were, looked for so many pixels beside it. */
        const differing = (by: number) => {
          let [count, different] = [0, 0];
          for (let y = Math.max(0, -down); y < Math.min(height, height - down); y++) {
            for (let x = Math.max(1, 1 - right); x < Math.min(width, width - right) - 1; x++) {
              count++;
              const [to, from] = [4 * (y * width + x), 4 * ((y + down) * width + x + right + by)];
              if (before.data[from] !== after.data[to] || before.data[from + 1] !== after.data[to + 1]) different++;
            }
          }
          return different / count;
        };
        Object.assign(window, { before: after });
        return { share: differing(0), beside: Math.min(differing(1), differing(-1)) };
      }, [right, down] as const);
      // Labels at the edges may have found another place, and alerts may have changed.
      expect(share).toBeLessThan(beside / 10);
    }
  } finally {
    chain.signal('radar-tracker', 'SIGCONT');
  }
  await page.getByText('messages up').waitFor();
});

it('while it is zoomed targets are drawn where they are, and labels are placed anew', async () => {
  const frames = await page.evaluate(() => (window as unknown as { workingPosition: Inside }).workingPosition.screen.cost?.frames ?? 0);
  /** The share of targets with something as bright as a symbol within 3 pixels of where they are. */
  const seen = async () => {
    await keep('zoomed');
    return page.evaluate(() => {
      const { workingPosition: { targets, camera }, zoomed: { data, width } } = window as unknown as { workingPosition: Inside; zoomed: ImageData };
      let [count, bright] = [0, 0];
      for (const { at } of targets.values()) {
        const x = Math.round(camera.width / 2 + (at.x - camera.centre.x) / camera.metresPerPixel);
        const y = Math.round(camera.height / 2 - (at.y - camera.centre.y) / camera.metresPerPixel);
        if (x < 3 || y < 3 || x >= camera.width - 3 || y >= camera.height - 3) continue;
        let isBright = false;
        for (let dy = -3; dy <= 3; dy++) for (let dx = -3; dx <= 3; dx++) isBright ||= (data[((y + dy) * width + x + dx) * 4 + 1] ?? 0) > 140;
        count++;
        if (isBright) bright++;
      }
      return bright / count;
    });
  };
  await page.getByLabel('FL from').fill('0');
  await page.getByLabel('FL from').press('Enter');
  await page.locator('canvas').focus();
  for (const factor of [0.95, 0.95, 0.8, 1.1, 1.3]) {
    await page.evaluate(async (factor) => {
      (window as unknown as { workingPosition: Inside }).workingPosition.zoomBy(factor);
      for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame);
    }, factor);
    expect(await seen()).toBeGreaterThan(0.9);
  }
  await settled();
  const { labels } = await shown();
  const rects = labels.flatMap(({ rect }) => rect === null ? [] : [rect]);
  for (const [index, [ax0 = 0, ay0 = 0, ax1 = 0, ay1 = 0]] of rects.entries()) {
    for (const [bx0 = 0, by0 = 0, bx1 = 0, by1 = 0] of rects.slice(index + 1)) expect(ax0 < bx1 && bx0 < ax1 && ay0 < by1 && by0 < ay1).toBe(false);
  }
  const later = await page.evaluate(() => (window as unknown as { workingPosition: Inside }).workingPosition.screen.cost?.frames ?? 0);
  expect(later).toBeGreaterThan(frames + 4);
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
  await settled();
  const label = async () => page.evaluate(() => {
    interface Selected { view: { value: { track: number } }; targets: Map<number, { pinned?: object }>; screen: { labels: () => { id: number; rect: number[] | null }[] } }
    const { view, targets, screen } = (window as unknown as { workingPosition: Selected }).workingPosition;
    const id = view.value.track;
    return { rect: screen.labels().find((one) => one.id === id)?.rect ?? null, pinned: targets.get(id)?.pinned !== undefined };
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
  // It stands where it was put, as far as its target has not gone on since.
  await settled();
  const [x1 = 0, y1 = 0] = (await label()).rect ?? [];
  expect(Math.hypot(x1 - x0 - 30, y1 - y0 - 40)).toBeLessThan(12);
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
  await settled();
  await keep('coasts');
  const { lines, names, over } = await page.evaluate(() => {
    const { workingPosition: { screen, targets }, coasts: { data } } = window as unknown as { workingPosition: Inside; coasts: ImageData };
    const names = screen.mapNames();
    const over = screen.labels().filter(({ id, rect }) => rect !== null && targets.get(id)?.urgent === false
      && names.some((name) => (rect[0] ?? 0) < name.x1 && name.x0 < (rect[2] ?? 0) && (rect[1] ?? 0) < name.y1 && name.y0 < (rect[3] ?? 0)));
    let lines = 0;
    // The ground of the country in the middle, which only the map of the Earth knows.
    for (let at = 0; at < data.length; at += 4) if (data[at] === 0x1d && data[at + 1] === 0x26 && data[at + 2] === 0x2f) lines++;
    return { lines, over: over.length, names: names.length };
  });
  expect(lines).toBeGreaterThan(10_000);
  expect(names).toBeGreaterThan(5);
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

it('a picture that cannot be drawn is said to be', async () => {
  const other = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await other.route('**/picture-worker*', (route) => route.abort());
  await other.goto(`http://${address}/`);
  await other.getByText('the picture cannot be drawn: its worker does not start').waitFor();
  await other.close();
});

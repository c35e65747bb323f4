import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { seeded } from '../../../../../page/src/random';
import { pixelAt, Projection, windowOf, type Window } from '../geometry';
import { FULL, SHORT, TINY, type Detail, type Stand } from '../labels';
import type { View } from '../place';
import { Target } from '../target';
import type { Track } from '../wire';
import { Clock } from './clock';
import type { SheetOrder } from './messages';
import { Painter, type Painted } from './painter';
import { Pixels } from './pixels';
import { MapSheet } from './sheet';

const [WIDTH, HEIGHT, SCALE] = [320, 240, 400];
const ORIGIN = { lat: 51, lon: 10 };
const plane = new Projection(ORIGIN);
const VIEW: View = { centre: ORIGIN, height: 100, vector: 1, dots: 6, low: 0, high: 999, off: [], track: 5 };

/** What there is of a canvas in a browser: shapes that are read are blots, pictures are taken as they are handed over. */
class Canvas {
  shown = new Uint32Array(0);
  private columns = 1;
  constructor(public width: number, public height: number) {}

  getContext(): object {
    const nothing = () => undefined;
    return {
      setTransform: nothing, beginPath: nothing, stroke: nothing, arc: nothing, rect: nothing, moveTo: nothing, lineTo: nothing, closePath: nothing, fillText: nothing,
      getImageData: (_x: number, _y: number, width: number, height: number) => {
        const data = new Uint8ClampedArray(4 * width * height);
        for (let at = 0; at < width * height; at++) {
          const away = Math.max(Math.abs((at % width) - width / 3), Math.abs(Math.floor(at / width) - height / 3));
          data[4 * at + 3] = away < 2 ? 255 : away < width / 4 ? 90 : 0;
        }
        return { data };
      },
      putImageData: ({ data, width }: ImageData, _x: number, _y: number, left = 0, top = 0, columns = width, rows = data.length / 4 / width) => {
        const from = new Uint32Array(data.buffer);
        if (this.shown.length !== from.length) [this.shown, this.columns] = [new Uint32Array(from.length), width];
        for (let y = top; y < top + rows; y++) for (let x = left; x < left + columns; x++) this.shown[y * this.columns + x] = from[y * width + x] ?? 0;
      },
    };
  }
}

beforeAll(() => {
  vi.stubGlobal('OffscreenCanvas', Canvas);
  vi.stubGlobal('ImageData', class { constructor(readonly data: Uint8ClampedArray | number, readonly width: number) {} });
});
afterAll(() => { vi.unstubAllGlobals(); });

/** A painter, and what is on its canvas. */
function made(ratio: number): { readonly painter: Painter; readonly canvas: Canvas } {
  const canvas = new Canvas(1, 1);
  const painter = new Painter(canvas as unknown as OffscreenCanvas);
  painter.resize(WIDTH, HEIGHT, ratio);
  return { painter, canvas };
}

/** A map that is larger than what is looked at, at one scale. */
function mapOf(window: Window, ratio: number): MapSheet {
  const orders: SheetOrder[] = [];
  const sheet = new MapSheet((order) => orders.push(order));
  sheet.want({ camera: { centre: { x: 0, y: 0 }, metresPerPixel: window.metresPerPixel, width: WIDTH, height: HEIGHT }, window, ratio, off: [], origin: ORIGIN }, 0);
  const [order] = orders;
  if (order === undefined) throw new Error('the map is ordered');
  const [width, height] = [Math.round(order.width * ratio), Math.round(order.height * ratio)];
  const pixels = new Pixels(width, height);
  pixels.data.forEach((_, at) => { pixels.data[at] = 0xff000000 + Math.imul(at, 2_654_435_761) % 0x303030; });
  sheet.take({ kind: 'sheet', order, width, height, pixels: pixels.data.buffer as ArrayBuffer, names: [], ms: 1 }, ORIGIN);
  return sheet;
}

/** Traffic that flies, turns, comes and goes; `next`: random numbers. */
class Traffic {
  readonly all = new Map<number, Painted>();
  constructor(private readonly next: () => number) {
    for (let number = 0; number < 60; number++) this.update(number);
  }

  update(number: number): void {
    const { next } = this;
    const before = this.all.get(number);
    const at = before?.target.track.at ?? { lat: 50.5 + next(), lon: 9.1 + 1.8 * next() };
    const track: Track = {
      number, flags: number % 3 === 0 ? 1 : 0, at: { lat: at.lat + 0.01 * (next() - 0.5), lon: at.lon + 0.01 * (next() - 0.5) }, east: 400 * next() - 200, north: 400 * next() - 200,
      code: 0o1000, level: 350, climb: 0, cleared: null, history: [at, ...(before?.target.track.history ?? [])].slice(0, 6), callsign: `DLH${number}`, type: 'A320', departure: 'EDDF', destination: 'EDDM',
    };
    const target = before?.target ?? new Target(track, plane);
    target.update(track, plane);
    target.alert = next() < 0.1 ? 'violation' : 'none';
    target.write();
    this.all.set(number, { target, x: 0, y: 0, stand: this.stand(), box: before?.box, isStale: true });
  }

  private stand(): Stand | undefined {
    const { next } = this;
    if (next() < 0.3) return undefined;
    const [dx, dy] = [Math.round(120 * next() - 90), Math.round(80 * next() - 60)];
    const detail: Detail = next() < 0.5 ? FULL : next() < 0.5 ? SHORT : TINY;
    // Room for all letters: 'DLH10 STCA! 350' and '39 A320 EDDM'.
    return { dx, dy, w: 102, h: detail === FULL ? 39 : 13, detail, rect: { x0: 0, y0: 0, x1: 0, y1: 0 } };
  }

  /** Those that are looked at, where they are on the screen; the others are taken out of the picture. */
  in({ metresPerPixel, corner }: Window, painter: Painter): Painted[] {
    return [...this.all.values()].filter((one) => {
      const at = pixelAt(one.target.at, metresPerPixel);
      [one.x, one.y] = [at.x - corner.x, at.y - corner.y];
      const isInside = one.x > -60 && one.y > -60 && one.x < WIDTH + 60 && one.y < HEIGHT + 60;
      if (!isInside) painter.remove(one);
      return isInside;
    });
  }
}

/** Draws a hundred frames in which the picture is moved and targets change; the share of them drawn in part. Each has
 * the pixels of one that is drawn whole. */
function frames(ratio: number, seed: number): number {
  const next = seeded(seed);
  const traffic = new Traffic(next);
  const [{ painter, canvas }, whole] = [made(ratio), made(ratio)];
  let [east, north, parts] = [0, 0, 0];
  const camera = () => ({ centre: { x: east * SCALE, y: north * SCALE }, metresPerPixel: SCALE, width: WIDTH, height: HEIGHT });
  const sheet = mapOf(windowOf(camera()), ratio);
  for (let frame = 0; frame < 100; frame++) {
    if (next() < 0.6) [east, north] = [east + 4 * Math.round(6 * next() - 3), north + 4 * Math.round(4 * next() - 2)];
    for (let count = Math.floor(4 * next()); count > 0; count--) traffic.update(Math.floor(60 * next()));
    const gone = traffic.all.get(Math.floor(400 * next()));
    if (gone !== undefined) {
      painter.remove(gone);
      traffic.all.delete(gone.target.id);
    }
    const window = windowOf(camera());
    const shown = traffic.in(window, painter);
    const sums = { map: 0, symbols: 0, labels: 0, placement: 0, hand: 0 };
    if (painter.draw(shown, { window, view: VIEW, sheet }, new Clock(sums)) === 'parts') parts++;
    whole.painter.spoil();
    expect(whole.painter.draw(shown.map((one) => ({ ...one })), { window, view: VIEW, sheet }, new Clock(sums))).toBe('all');
    const differing = whole.canvas.shown.findIndex((pixel, at) => pixel !== canvas.shown[at]);
    const columns = Math.round(WIDTH * ratio);
    expect(differing < 0 ? 'the same' : `another pixel at ${differing % columns}, ${Math.floor(differing / columns)} in frame ${frame}`).toBe('the same');
  }
  return parts / 100;
}

it('what is drawn in part is what drawing everything gives, pixel for pixel', () => {
  for (const [ratio, seed] of [[1, 1], [1, 2], [1, 3], [2, 4], [1.25, 5]] as const) expect(frames(ratio, seed)).toBeGreaterThan(0.5);
});

it('everything is drawn at another scale, and where the device has pixels that nothing is a multiple of', () => {
  expect(frames(1.1, 6)).toBe(0);
});

it('nothing is drawn when nothing has changed', () => {
  const { painter } = made(1);
  const window = windowOf({ centre: { x: 0, y: 0 }, metresPerPixel: SCALE, width: WIDTH, height: HEIGHT });
  const traffic = new Traffic(seeded(7));
  const shown = traffic.in(window, painter);
  const sheet = mapOf(window, 1);
  const draw = (view: View) => painter.draw(shown, { window, view, sheet }, new Clock({ map: 0, symbols: 0, labels: 0, placement: 0, hand: 0 }));
  // The second is drawn again so that it is known where all stand: while it is zoomed nobody asks.
  expect([draw(VIEW), draw(VIEW), draw(VIEW)]).toEqual(['all', 'all', 'nothing']);
  const first = shown.find(({ x, y }) => x > 0 && y > 0 && x < WIDTH && y < HEIGHT);
  if (first === undefined) throw new Error('there is traffic');
  first.isStale = true;
  expect([draw(VIEW), draw(VIEW), draw({ ...VIEW, dots: 2 })]).toEqual(['parts', 'nothing', 'all']);
  painter.spoil();
  expect(draw({ ...VIEW, dots: 2 })).toBe('all');
});

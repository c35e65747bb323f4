import { expect, it } from 'vitest';
import { seeded } from '../../../../../page/src/random';
import { pixelAt, Projection, type Window } from '../geometry';
import { overlaps, type Rect } from '../labels';
import { Target } from '../target';
import type { Track } from '../wire';
import { Placement } from './placement';

const plane = new Projection({ lat: 51, lon: 10 });

function targets(count: number, seed: number): Map<number, Target> {
  const next = seeded(seed);
  return new Map(Array.from({ length: count }, (_, number) => {
    const track: Track = {
      number, flags: 1, at: { lat: 50 + 2 * next(), lon: 9 + 2 * next() }, east: 200, north: 0, code: 0o1000, level: 350, climb: 0, cleared: null,
      history: [], callsign: `DLH${100 + number}`, type: 'A320', departure: 'EDDF', destination: 'EDDM',
    };
    return [number, new Target(track, plane)];
  }));
}

/** Works until nothing is left; returns how many times it took. */
function settle(placement: Placement, window: Window, all: ReadonlyMap<number, Target>, budgetMs = 1): number {
  let turns = 0;
  for (; !placement.isSettled(window); turns++) {
    if (turns > 100_000) throw new Error('it never ends');
    placement.work(window, all.values(), all, budgetMs);
  }
  return turns;
}

function rects(placement: Placement, window: Window, all: ReadonlyMap<number, Target>): Rect[] {
  return [...all.values()].flatMap((target) => {
    const stand = placement.stand(target.id);
    if (stand === undefined) return [];
    const { x, y } = pixelAt(target.at, window.metresPerPixel);
    return [{ x0: x + stand.dx, y0: y + stand.dy, x1: x + stand.dx + stand.w, y1: y + stand.dy + stand.h }];
  });
}
function overlapping(all: readonly Rect[]): number {
  return all.flatMap((one, index) => all.slice(index + 1).filter((other) => overlaps(one, other))).length;
}

const WIDE: Window = { metresPerPixel: 300, corner: { x: -640, y: -370 } };

it('with no time to spare all are placed in the end, and none overlap', () => {
  const [placement, all] = [new Placement(), targets(400, 1)];
  expect(settle(placement, WIDE, all, 0)).toBeGreaterThan(400 / 8 - 1);
  const placed = rects(placement, WIDE, all);
  expect(placed.length).toBeGreaterThan(350);
  expect(overlapping(placed)).toBe(0);
});

it('at another scale labels go on to stand where they stood, until all are placed again', () => {
  const [placement, all] = [new Placement(), targets(400, 2)];
  settle(placement, WIDE, all);
  const stands = () => [...all.keys()].map((id) => placement.stand(id));
  const before = stands();
  const closer = { ...WIDE, metresPerPixel: 200 };
  expect(placement.work(closer, all.values(), all, 0)).toBe(false);
  expect(placement.isSettled(closer)).toBe(false);
  expect(stands()).toEqual(before);
  settle(placement, closer, all);
  expect(overlapping(rects(placement, closer, all))).toBe(0);
  expect(stands()).not.toEqual(before);
  // Moving changes nothing at all.
  expect(placement.isSettled({ ...closer, corner: { x: 4000, y: -9 } })).toBe(true);
});

it('who comes, changes and goes while all are placed again is as it should be afterwards', () => {
  const [placement, all] = [new Placement(), targets(300, 3)];
  const late = all.get(299);
  if (late === undefined) throw new Error('there are 300');
  all.delete(299);
  settle(placement, WIDE, all);
  const closer = { ...WIDE, metresPerPixel: 150 };
  placement.work(closer, all.values(), all, 0);
  all.set(299, late);
  placement.change(late);
  for (const id of [3, 290]) {
    const gone = all.get(id);
    if (gone === undefined) throw new Error('it is there');
    all.delete(id);
    placement.remove(gone);
  }
  const moved = all.get(7);
  if (moved === undefined) throw new Error('it is there');
  moved.update({ ...moved.track, at: { lat: 51.2, lon: 10.1 } }, plane);
  placement.change(moved);
  settle(placement, closer, all);
  expect(placement.stand(299)).toBeDefined();
  expect(placement.stand(3)).toBeUndefined();
  expect(placement.stand(290)).toBeUndefined();
  expect(overlapping(rects(placement, closer, all))).toBe(0);
});

it('a name of the map that comes later moves the labels that stand on it', () => {
  const [placement, all] = [new Placement(), targets(60, 4)];
  settle(placement, WIDE, all);
  const [first] = rects(placement, WIDE, all);
  if (first === undefined) throw new Error('there is room');
  placement.block([first], WIDE.metresPerPixel, all);
  expect(placement.isSettled(WIDE)).toBe(false);
  settle(placement, WIDE, all);
  expect(rects(placement, WIDE, all).filter((rect) => overlaps(rect, first))).toEqual([]);
  // At another scale they are where they are then.
  placement.block([{ x0: 0, y0: 0, x1: 5000, y1: 5000 }], 77, all);
  expect(placement.isSettled(WIDE)).toBe(true);
});

import { expect, it } from 'vitest';
import { seeded } from '../../../../page/src/random';
import { FULL, HIDDEN, LabelField, overlaps, SHORT, type Labelled, type Rect } from './labels';

function labelled(id: number, x: number, y: number, urgent = false): Labelled {
  return { id, x, y, full: { w: 64, h: 39 }, short: { w: 50, h: 13 }, urgent, place: 0, detail: HIDDEN };
}

/** Every pair of labels that overlap. */
function pairs(field: LabelField, all: Iterable<Labelled>): [number, number][] {
  const shown: (readonly [number, Rect])[] = [];
  const found: [number, number][] = [];
  for (const { id } of all) {
    const rect = field.rect(id);
    if (rect === undefined) continue;
    for (const [other, taken] of shown) if (overlaps(rect, taken)) found.push([other, id]);
    shown.push([id, rect]);
  }
  return found;
}

it('no two labels overlap, whatever moves, comes, goes and becomes urgent', () => {
  for (let seed = 1; seed <= 12; seed++) {
    const next = seeded(seed);
    const within = (size: number) => Math.floor(next() * size);
    const field = new LabelField();
    const all = new Map<number, Labelled>();
    const crowd = 40 + within(300);
    for (let step = 0; step < 1500; step++) {
      const id = within(crowd);
      if (next() < 0.05) {
        field.remove(id);
        all.delete(id);
        continue;
      }
      const it = all.get(id) ?? labelled(id, within(900), within(700));
      all.set(id, it);
      it.x += within(9) - 4;
      it.y += within(9) - 4;
      it.urgent = next() < 0.03;
      it.full = { w: 40 + within(40), h: next() < 0.5 ? 26 : 39 };
      field.set(it);
      if (step % 250 === 249) expect(pairs(field, all.values())).toEqual([]);
    }
    // A label has a rectangle exactly when its detail says that it is shown.
    for (const it of all.values()) expect(field.rect(it.id) === undefined).toBe(it.detail === HIDDEN);
  }
});

it('three thousand labels do not overlap, and none is hidden where there is room', () => {
  const field = new LabelField();
  const next = seeded(7);
  const all = Array.from({ length: 3000 }, (_, id) => labelled(id, Math.floor(next() * 1600), Math.floor(next() * 1200)));
  all.forEach((it) => field.set(it));
  expect(pairs(field, all)).toEqual([]);
  const alone = labelled(9999, 5000, 5000);
  field.set(alone);
  expect(alone.detail).toBe(FULL);
});

it('a label stays where it stands while it can', () => {
  const field = new LabelField();
  const [a, b] = [labelled(1, 100, 100), labelled(2, 300, 100)];
  field.set(a);
  field.set(b);
  const { place } = a;
  for (let x = 100; x < 180; x++) {
    a.x = x;
    field.set(a);
    expect(a.place).toBe(place);
  }
});

it('in a crowd labels are reduced, and an urgent one has all its lines', () => {
  const field = new LabelField();
  const all = Array.from({ length: 400 }, (_, id) => labelled(id, 300 + (id % 20) * 14, 300 + Math.floor(id / 20) * 14));
  all.forEach((it) => field.set(it));
  expect(all.filter((it) => it.detail === HIDDEN).length).toBeGreaterThan(100);
  expect(all.filter((it) => it.detail !== FULL && it.detail !== HIDDEN).every((it) => it.detail === SHORT)).toBe(true);
  const urgent = all[210];
  if (urgent === undefined) throw new Error('there are 400');
  urgent.urgent = true;
  const gaveWay = field.set(urgent);
  expect(urgent.detail).toBe(FULL);
  expect(gaveWay.every((it) => it.id !== urgent.id)).toBe(true);
  expect(pairs(field, all)).toEqual([]);
});

it('labels that are moved together stay as they are, and others find room beside them', () => {
  const field = new LabelField();
  const all = Array.from({ length: 60 }, (_, id) => labelled(id, 200 + (id % 10) * 50, 200 + Math.floor(id / 10) * 40));
  all.forEach((it) => field.set(it));
  const before = all.map((it) => field.rect(it.id));
  for (const it of all) [it.x, it.y] = [it.x - 333, it.y + 71];
  field.shift(-333, 71);
  expect(all.map((it) => field.rect(it.id))).toEqual(before.map((rect) =>
    rect === undefined ? undefined : { x0: rect.x0 - 333, y0: rect.y0 + 71, x1: rect.x1 - 333, y1: rect.y1 + 71 }));
  const others = Array.from({ length: 30 }, (_, id) => labelled(100 + id, (id % 6) * 70 - 100, 280 + Math.floor(id / 6) * 40));
  others.forEach((it) => field.set(it));
  expect(pairs(field, [...all, ...others])).toEqual([]);
});

import { describe, expect, it } from 'vitest';
import type { Compare } from '../../api/types';
import { seeded } from '../../random';
import { byState, byWeight, onlyIn, proposals, relative, storedPart } from './sides';

describe('what is proposed', () => {
  it('lies within the store, is not empty and does not overlap', () => {
    const random = seeded(14);
    for (let times = 0; times < 300; times += 1) {
      const covered = { from_ns: Math.floor(random() * 1000), until_ns: 1000 + Math.floor(random() * 1000) };
      const [one, other] = [random(), random()].map((share) => Math.floor(covered.from_ns + share * (covered.until_ns - covered.from_ns))) as [number, number];
      const selection = { ...(random() < 0.7 ? { from_ns: Math.min(one, other) } : {}), ...(random() < 0.7 ? { until_ns: Math.max(one, other) + 2 } : {}) };
      const wrong = proposals(selection, covered).filter(({ a, b }) => (
        a.until_ns <= a.from_ns || b.until_ns <= b.from_ns || a.until_ns > b.from_ns || a.from_ns < covered.from_ns || b.until_ns > covered.until_ns + 2));
      expect(wrong).toEqual([]);
    }
  });

  it('is nothing where nothing is stored, and only halves where all is selected', () => {
    expect(proposals({}, undefined)).toEqual([]);
    expect(proposals({}, { from_ns: 0, until_ns: 10 }).map((each) => each.title)).toEqual(['first half and second half']);
    expect(proposals({ from_ns: 4, until_ns: 6 }, { from_ns: 0, until_ns: 10 }).map(({ a, b }) => [a.from_ns, a.until_ns, b.from_ns, b.until_ns]))
      .toEqual([[4, 5, 5, 6], [2, 4, 4, 6], [4, 6, 6, 8]]);
  });
});

describe('a relation', () => {
  it.each([[100, 110, '+10.0 %'], [100, 50, '−50.0 %'], [100, 100, '0 %'], [100, 100.01, '0 %'], [100, 250, '×2.5'], [1, 1234, '×1,234'], [0, 5, '']])(
    'of %d to %d is %s', (a, b, words) => expect(relative(a, b)).toBe(words));
});

describe('a side', () => {
  it('is as long as what is stored of it', () => {
    const covered = { from_ns: 100, until_ns: 200 };
    expect(storedPart({ from_ns: -9e18, until_ns: 150 }, covered)).toEqual({ from_ns: 100, until_ns: 150 });
    expect(storedPart({ from_ns: 150, until_ns: 9e18 }, covered)).toEqual({ from_ns: 150, until_ns: 200 });
    expect(storedPart({ from_ns: 300, until_ns: 400 }, covered)).toEqual({ from_ns: 300, until_ns: 400 });
    expect(storedPart({ from_ns: 1, until_ns: 2 }, undefined)).toEqual({ from_ns: 1, until_ns: 2 });
  });
});

describe('the order', () => {
  const side = { count: 1, mean_ns: 1, median_ns: 1, p99_ns: 1, counts: [] };
  it('of hops is by what moved for certain, then by how far', () => {
    const hop = (name: string, shift_ns: number, p_value: number) => ({ hop: name, part: 'work' as const, a: side, b: side, shift_ns, p_value });
    const found = byWeight([hop('small', 5, 1e-9), hop('chance', 900, 0.5), hop('faster', -80, 1e-9)]);
    expect(found.map((each) => each.hop)).toEqual(['faster', 'small', 'chance']);
  });

  it('begins with a hop that only one side has: there is no chance in it', () => {
    const hop = (name: string, shift_ns: number, p_value: number, [a, b]: [number, number]) => (
      { hop: name, part: 'wait' as const, a: { ...side, count: a }, b: { ...side, count: b }, shift_ns, p_value });
    const hops = [hop('moved', 5, 0.001, [9, 9]), hop('new', 250, 1, [0, 9]), hop('gone', -7, 1, [9, 0]), hop('nowhere', 0, 1, [0, 0])];
    expect(byWeight(hops).map((each) => each.hop)).toEqual(['new', 'gone', 'moved', 'nowhere']);
    expect(hops.map(onlyIn)).toEqual([undefined, 'B', 'A', undefined]);
  });

  it('of paths is new, vanished, then most frequent', () => {
    const paths: Compare['paths'] = [
      { path: 'rare', a: 1, b: 1, state: 'both' }, { path: 'often', a: 9, b: 9, state: 'both' }, { path: 'gone', a: 2, b: 0, state: 'vanished' }, { path: 'new', a: 0, b: 1, state: 'new' },
    ];
    expect(byState(paths).map((each) => each.path)).toEqual(['new', 'gone', 'often', 'rare']);
  });
});

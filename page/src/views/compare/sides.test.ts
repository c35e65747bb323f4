import { describe, expect, it } from 'vitest';
import type { Compare } from '../../api/types';
import { seeded } from '../../random';
import { aroundMarks, byState, certain, onlyIn, proposals, relative, shareOf, storedPart, tone } from './sides';

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

describe('a hop', () => {
  const side = (count: number) => ({ count, mean_ns: 1, median_ns: 1, p99_ns: 1, counts: [] });
  const hop = (p_value: number, tail_p_value: number, [a, b]: [number, number] = [9, 9]) => (
    { hop: 'x', part: 'wait' as const, a: side(a), b: side(b), shift_ns: 0, mean_change_ns: 1, share_of_mean: 1, tail_change_ns: 1, share_of_tail: 1, p_value, tail_p_value });

  it('of which the slowest hundredth alone moved is certain there', () => {
    expect(certain(hop(0.9, 1e-9))).toEqual({ anywhere: false, tail: true });
    expect(certain(hop(1e-9, 0.9))).toEqual({ anywhere: true, tail: false });
  });

  it('that only one side has is certain: there is no chance in it', () => {
    expect([hop(1, 1), hop(1, 1, [0, 9]), hop(1, 1, [9, 0]), hop(1, 1, [0, 0])].map(onlyIn)).toEqual([undefined, 'B', 'A', undefined]);
    expect(certain(hop(1, 1, [0, 9]))).toEqual({ anywhere: true, tail: true });
  });

  it('has a colour only where it moved for certain', () => {
    expect([tone(5, true), tone(-5, true), tone(5, false), tone(0, true)]).toEqual(['slower', 'faster', undefined, undefined]);
  });

  it('may have more than all of a difference, or less than nothing', () => {
    expect([0.98, 2.5, -1.5, 0, -0.001].map(shareOf)).toEqual(['98 %', '250 %', '−150 %', '0 %', '0 %']);
  });
});

describe('the order', () => {
  it('of paths is new, vanished, then most frequent', () => {
    const paths: Compare['paths'] = [
      { path: 'rare', a: 1, b: 1, state: 'both' }, { path: 'often', a: 9, b: 9, state: 'both' }, { path: 'gone', a: 2, b: 0, state: 'vanished' }, { path: 'new', a: 0, b: 1, state: 'new' },
    ];
    expect(byState(paths).map((each) => each.path)).toEqual(['new', 'gone', 'often', 'rare']);
  });
});

describe('marks as borders', () => {
  const covered = { from_ns: 0, until_ns: 100 };
  it('end the sides of their neighbours', () => {
    const found = aroundMarks([{ at_ns: 40, text: 'v1' }, { at_ns: 60, text: 'v2' }, { at_ns: 500, text: 'later' }], {}, covered);
    expect(found).toEqual([
      { title: 'before | after v1', a: { from_ns: 0, until_ns: 40 }, b: { from_ns: 40, until_ns: 60 } },
      { title: 'before | after v2', a: { from_ns: 40, until_ns: 60 }, b: { from_ns: 60, until_ns: 100 } },
    ]);
  });

  it('leave no side empty', () => {
    expect(aroundMarks([{ at_ns: 40, text: 'v1' }, { at_ns: 40, text: 'v2' }], {}, covered)).toEqual([]);
    expect(aroundMarks([{ at_ns: 40, text: 'v1' }], { from_ns: 40 }, covered)).toEqual([]);
    expect(aroundMarks([{ at_ns: 40, text: 'v1' }], {}, undefined)).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { RunDiff, RunHistory } from '../../api/types';
import { NARROW } from '../../draw/format';
import { seeded } from '../../random';
import { OTHERS, pieces, PIECES } from './cost';
import { byChange, changeIndices, formatCounter, formatTick, lastTwo, shortCommit } from './series';

const moved = (name: string, a: number, b: number): RunDiff['functions'][number] => ({
  function: name, process: 'p', source: 's', a, b, difference: b - a, inclusive_difference: b - a, callers: [],
});

describe('two bars of functions', () => {
  it('are whole: each side adds up to its share of the longer one, whatever is left to the others', () => {
    const random = seeded(15);
    for (let times = 0; times < 200; times += 1) {
      const functions = Array.from({ length: Math.floor(random() * 60) }, (_, index) => moved(`f${index}`, Math.floor(random() * 1e6), random() < 0.2 ? 0 : Math.floor(random() * 1e6)));
      const found = pieces(functions);
      const [a, b] = [functions.reduce((sum, each) => sum + each.a, 0), functions.reduce((sum, each) => sum + each.b, 0)];
      expect(found.length).toBeLessThanOrEqual(PIECES + 1);
      expect(found.reduce((sum, each) => sum + each.a, 0)).toBeCloseTo(a + b === 0 ? 0 : a / Math.max(a, b), 9);
      expect(found.reduce((sum, each) => sum + each.b, 0)).toBeCloseTo(a + b === 0 ? 0 : b / Math.max(a, b), 9);
      expect(found.filter((each) => each.change < -1 || each.change > 1)).toEqual([]);
    }
  });

  it('show a small function that moved much rather than a large one that did not', () => {
    const functions = [...Array.from({ length: 30 }, (_, index) => moved(`large${index}`, 1000, 1000)), moved('small', 50, 250)];
    const found = pieces(functions);
    expect(found.find((each) => each.function === 'small')?.change).toBe(0.8);
    expect(found.at(-1)?.function).toBe(OTHERS);
  });

  it('of new and gone functions change wholly', () => {
    expect(pieces([moved('new', 0, 10), moved('gone', 10, 0)]).map((each) => [each.function, each.change])).toEqual([['new', 1], ['gone', -1]]);
  });
});

describe('a history', () => {
  const series = (process: string, relative: number[], counter = 'syscalls'): RunHistory['series'][number] => ({
    process, counter, unit: '',
    points: ['r1', 'r2', 'r3'].map((run, index) => ({ run, commit: run, at_ns: index, value: 1 })),
    changes: relative.map((each, index) => ({ run: `r${index + 2}`, before: 1, after: 1 + each, relative: each, sentence: '' })),
  });

  it('marks the runs that changed; one that is not among the points is not marked', () => {
    expect(changeIndices(series('a', [0.1, 0.2, 0.3]))).toEqual([{ at: 1, relative: 0.1 }, { at: 2, relative: 0.2 }]);
  });

  it('begins with instructions, then with what changed most, up or down', () => {
    expect(byChange([series('a', [9]), series('a', [], 'instructions')]).map((each) => each.counter)).toEqual(['instructions', 'syscalls']);
    expect(byChange([series('b', []), series('a', []), series('d', [0.1]), series('c', [-0.4])]).map((each) => each.process)).toEqual(['c', 'd', 'a', 'b']);
  });

  it('is compared at its end', () => {
    const run = (id: string, at_ns: number) => ({ id, commit: id, subject: '', at_ns, machine: '', load: 0, complete: true, suite: '', profiles: [] });
    expect(lastTwo([run('new', 3), run('old', 1), run('middle', 2)])).toEqual({ a: 'middle', b: 'new' });
    expect(lastTwo([run('only', 1)])).toBeUndefined();
  });

  it('has ticks that differ, and values to the last unit', () => {
    expect([400e6, 400.2e6].map((value) => formatTick(value, 0.2e6).replace(NARROW, ' '))).toEqual(['400.0 M', '400.2 M']);
    expect(formatTick(0, 50)).toBe('0');
    expect([400_112_233, 12, 0.123_456].map(formatCounter)).toEqual(['400,112,233', '12', '0.1235']);
  });

  it('has commits in few letters, and names as they are', () => {
    expect(shortCommit('0123456789abcdef0123')).toBe('012345678');
    expect(shortCommit('9a4754311f leave the ordering to qsort')).toBe('9a4754311');
    expect(shortCommit('v4.1-release-candidate')).toBe('v4.1-release-candidate');
  });
});

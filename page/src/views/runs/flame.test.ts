import { describe, expect, it } from 'vitest';
import type { Flame } from '../../api/types';
import { beside, boxesOf, changesOf, found, nameOf, objectsOf, pathTo, widthsOf } from './flame';

const fn = (name: string, own: number, object = 'program') => ({
  name, file: 'main.c', object, own, inclusive: own, own_before: null, inclusive_before: null, in_cycle: false,
});
const frame = (func: number | null, parent: number | null, inclusive: number, own: number) => ({
  function: func, parent, inclusive, own, left_out: 0, inclusive_before: null, own_before: null,
});

/** all 100 → main 100 (own 10) → work 60, rest 30 → work 20. */
const FLAME: Flame = {
  event: 'Ir', events: ['Ir'], stacks: false, total: 100, total_before: null, function_count: 3,
  functions: [fn('main', 10), fn('work', 80, 'lib.so'), fn('rest', 10)],
  frames: [frame(null, null, 100, 0), frame(0, 0, 100, 10), frame(1, 1, 60, 60), frame(2, 1, 30, 10), frame(1, 3, 20, 20)],
};

describe('boxes', () => {
  it('are as wide as their costs, callees below callers', () => {
    const boxes = boxesOf(FLAME, 0, 0).map(({ frame: at, x, width, row }) => [nameOf(FLAME, at), x, width, row]);
    expect(boxes).toHaveLength(5);
    expect(boxes).toContainEqual(['main', 0, 1, 1]);
    expect(boxes).toContainEqual(['work', 0, 0.6, 2]);
    expect(boxes).toContainEqual(['rest', 0.6, 0.3, 2]);
    expect(boxes).toContainEqual(['work', 0.6, 0.2, 3]);
  });

  it('of a zoomed frame take the whole width, below its callers', () => {
    const boxes = boxesOf(FLAME, 3, 0).map(({ frame: at, x, width }) => [nameOf(FLAME, at), x, width]);
    expect(boxes).toEqual([['all', 0, 1], ['main', 0, 1], ['rest', 0, 1], ['work', 0, 20 / 30]]);
    expect(pathTo(FLAME, 4).map((at) => nameOf(FLAME, at))).toEqual(['all', 'main', 'rest', 'work']);
  });

  it('that would be too narrow are left out, and a zoom into nothing shows its path', () => {
    expect(boxesOf(FLAME, 0, 0.25).map(({ frame: at }) => at)).toEqual([0, 1, 2, 3]);
    expect(boxesOf(FLAME, 99, 0)).toEqual([]);
  });

  it('of what is gone are as wide as it was', () => {
    const gone = { ...FLAME, frames: [...FLAME.frames, { ...frame(2, 1, 0, 0), inclusive_before: 40, own_before: 40 }] };
    expect(widthsOf(gone)[5]).toBe(40);
    expect(widthsOf(gone)[1]).toBe(130);
    expect(changesOf(gone)[5]).toBe(-1);
    expect(changesOf(gone)[2]).toBeNull();
  });
});

it('a search finds frames by function, file and object, and counts nested ones once', () => {
  expect(found(FLAME, 'WORK').share).toBe(0.8);
  expect([...found(FLAME, 'lib.so').frames]).toEqual([2, 4]);
  expect(found(FLAME, 'main.c').share).toBe(1);
  expect(found(FLAME, ' ').frames.size).toBe(0);
});

it('arrows go to the caller, the first callee and beside', () => {
  expect(beside(FLAME, 2, 'ArrowUp')).toBe(1);
  expect(beside(FLAME, 1, 'ArrowDown')).toBe(2);
  expect(beside(FLAME, 2, 'ArrowRight')).toBe(3);
  expect(beside(FLAME, 2, 'ArrowLeft')).toBe(2);
  expect(beside(FLAME, 0, 'ArrowUp')).toBe(0);
});

it('objects come by their own cost', () => {
  expect(objectsOf(FLAME)).toEqual(['lib.so', 'program']);
});

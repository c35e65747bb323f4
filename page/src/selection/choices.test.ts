import { describe, expect, it } from 'vitest';
import type { PathSummary } from '../api/types';
import { classes, firstChoice, leaves, levels, roots } from './choices';

const path = (count: number, ...hops: string[]): PathSummary => ({
  path: hops.join(' > '), hops, root: hops[0] ?? '', leaf: hops.at(-1) ?? '', level: hops.length - 1,
  count, p50_ns: 1, p99_ns: 1, max_ns: 1,
});
// Normal mode and MPA mode of a radar chain: the second goes one step further.
const PATHS = [
  path(100, 'decode'), path(90, 'decode', 'track'), path(80, 'decode', 'track', 'redraw'),
  path(30, 'decode', 'mpa'), path(30, 'decode', 'mpa', 'track'), path(20, 'decode', 'mpa', 'track', 'redraw'),
];

describe('choices', () => {
  it('are roots that have something below them, and classes below those', () => {
    expect(roots(PATHS)).toEqual(['decode', 'track', 'mpa']);
    expect(leaves(PATHS, 'decode')).toEqual(['track', 'redraw', 'mpa']);
    expect(leaves(PATHS, 'redraw')).toEqual([]);
    expect(classes(PATHS)).toEqual(['track', 'decode', 'redraw', 'mpa']);
  });

  it('have the levels of both modes', () => {
    expect(levels(PATHS, { root: 'decode', leaf: 'redraw' })).toEqual([2, 3]);
    expect(levels(PATHS, { root: 'track', leaf: 'redraw' })).toEqual([1]);
  });

  it('begin with the longest way, or a class where nothing is below anything', () => {
    expect(firstChoice(PATHS)).toEqual({ kind: 'acpd', root: 'decode', leaf: 'redraw' });
    // Some are still on their way to the screen.
    const last = { ...path(19, 'decode', 'mpa', 'track', 'show'), p50_ns: 2 };
    expect(firstChoice([...PATHS, last])?.leaf).toBe('show');
    const rare = { ...path(2, 'decode', 'mpa', 'track', 'alarm'), p50_ns: 3 };
    expect(firstChoice([...PATHS, rare])?.leaf).toBe('redraw');
    expect(firstChoice([path(1, 'a'), path(2, 'b')])).toEqual({ kind: 'sync', root: 'b' });
    expect(firstChoice([])).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { durationsOf, shownRange, timesOf, within } from './range';

const covered = { from_ns: 1e18, until_ns: 1e18 + 60e9 };
const answer = { ...covered, min_ns: 1000, max_ns: 9999, edges_ns: [1000, 5000, 10_000] };

describe('the range that is shown', () => {
  it('is the selection’s where it says one, otherwise the answer’s', () => {
    expect(shownRange({}, answer)).toEqual({ ...covered, min_ns: 1000, max_ns: 10_000 });
    expect(shownRange({ from_ns: 1e18 + 1e9, max_ns: 50_000 }, answer)).toEqual({ from_ns: 1e18 + 1e9, until_ns: covered.until_ns, min_ns: 1000, max_ns: 50_000 });
  });

  it('reaches to what is covered while an answer about that is awaited', () => {
    const zoomed = { ...answer, from_ns: 1e18 + 5e9, until_ns: 1e18 + 6e9 };
    expect(shownRange({ until_ns: 1e18 + 9e9 }, zoomed, covered)).toMatchObject({ from_ns: 1e18, until_ns: 1e18 + 9e9 });
    expect(shownRange({}, zoomed)).toMatchObject({ from_ns: 1e18 + 5e9, until_ns: 1e18 + 6e9 });
  });

  it('is the answer’s where the selection’s is none, as a logarithmic axis has no 0', () => {
    expect(shownRange({ from_ns: 2e18, min_ns: 1e6 }, answer)).toEqual({ ...covered, min_ns: 1000, max_ns: 9999 });
    expect(shownRange({ min_ns: 0 }, answer).min_ns).toBe(1000);
  });
});

describe('starts that were zoomed to', () => {
  it('are left open at an end that reaches what is covered', () => {
    expect(timesOf([1e18 - 1e9, 1e18 + 10e9], covered)).toEqual({ from_ns: undefined, until_ns: 1e18 + 10e9 });
    expect(timesOf([1e18 - 1e9, 1e18 + 99e9], covered)).toEqual({ from_ns: undefined, until_ns: undefined });
    expect(timesOf([1e18, 1e18 + 10e9], undefined)?.from_ns).toBe(1e18);
  });

  it('are not closer than a browser tells times apart', () => {
    expect(timesOf([1e18, 1e18 + 10_000], covered)).toBeUndefined();
  });

  it('stay as long when they are moved, and within what is covered', () => {
    expect(within([1e18 - 5e9, 1e18 + 5e9], covered)).toEqual([1e18, 1e18 + 10e9]);
    expect(within([1e18 + 55e9, 1e18 + 65e9], covered)).toEqual([1e18 + 50e9, 1e18 + 60e9]);
    expect(within([1e18 + 5e9, 1e18 + 15e9], covered)).toEqual([1e18 + 5e9, 1e18 + 15e9]);
    expect(within([1e18 - 5e9, 1e18 + 95e9], covered)).toEqual([1e18, 1e18 + 60e9]);
    expect(within([5, 15], undefined)).toEqual([5, 15]);
  });
});

describe('durations that were zoomed to', () => {
  it('have bounds that can be read, and none beyond what a transaction takes', () => {
    expect(durationsOf([9_270_486.4, 87_804_726.7])).toEqual({ min_ns: 9_270_000, max_ns: 87_805_000 });
    expect(durationsOf([0.2, 2e15])).toEqual({ min_ns: undefined, max_ns: undefined });
  });

  it('are never none', () => {
    expect(durationsOf([1e6, 1e6 + 5])).toBeUndefined();
    expect(durationsOf([1e9, 1e9 + 1e5])).toBeUndefined();
  });
});

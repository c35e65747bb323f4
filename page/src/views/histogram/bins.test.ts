import { describe, expect, it } from 'vitest';
import { linear, log } from '../../draw/scale';
import { barTop, binAt, binsFor, BINS, formatShown, inside, parseShown, type Bin } from './bins';

const FOUR: Bin[] = [1, 2, 4, 8].map((from_ns, index) => ({ from_ns, until_ns: from_ns * 2, count: index }));

describe('bins', () => {
  it('are found by what they hold, from inclusive, until exclusive', () => {
    for (const bin of FOUR) {
      expect(binAt(FOUR, bin.from_ns)).toBe(bin);
      expect(binAt(FOUR, bin.until_ns - 0.001)).toBe(bin);
    }
    for (const outside of [0.99, 16, Number.NaN]) expect(binAt(FOUR, outside)?.from_ns).toBeUndefined();
    expect(binAt([], 1)).toBeUndefined();
  });

  it('are seen when anything is in them, and fill the plot at the most', () => {
    for (const scale of [linear(0, 1e6, 300), log(1, 1e6, 300)]) {
      expect(barTop(0, scale)).toBe(0);
      expect(barTop(1, scale)).toBeGreaterThanOrEqual(1);
      expect(barTop(1e6, scale)).toBeCloseTo(300, 6);
    }
  });
});

describe('a zoom of the histogram', () => {
  const whole = [1000, 1e9] as const;

  it('is in the URL what it is', () => {
    expect(parseShown(formatShown([2e6, 5e6], whole))).toEqual([2e6, 5e6]);
    expect(formatShown([1, 1e12], whole)).toBeUndefined();
    expect(formatShown([1, 5e6], whole)).toBe('1000,5000000');
    for (const text of [undefined, '', '5', '5,5', '6,5', 'a,b', '1,2,3']) expect(parseShown(text)).toBeUndefined();
  });

  it('asks for finer bins the closer it is, and never for more than the server cuts', () => {
    expect(binsFor(undefined, [2e6, 5e6], 'log')).toBe(BINS);
    expect(binsFor(whole, undefined, 'log')).toBe(BINS);
    expect(binsFor(whole, [1e6, 1e9], 'log')).toBe(BINS * 2);
    expect(binsFor(whole, [1e6, 1.001e6], 'linear')).toBe(10_000);
  });

  it('is moved back into the whole, as wide as it was on its axis', () => {
    const [from, until] = inside([100, 1e4], whole, 'log');
    expect(from).toBeCloseTo(1e3, 6);
    expect(until).toBeCloseTo(1e5, 3);
    expect(inside([10, 1e12], whole, 'log')).toEqual(whole);
  });
});

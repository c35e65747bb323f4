import { describe, expect, it } from 'vitest';
import { linear, log } from '../../draw/scale';
import { barTop, binAt, labels, type Bin } from './bins';

const BINS: Bin[] = [1, 2, 4, 8].map((from_ns, index) => ({ from_ns, until_ns: from_ns * 2, count: index }));

describe('bins', () => {
  it('are found by what they hold, from inclusive, until exclusive', () => {
    for (const bin of BINS) {
      expect(binAt(BINS, bin.from_ns)).toBe(bin);
      expect(binAt(BINS, bin.until_ns - 0.001)).toBe(bin);
    }
    for (const outside of [0.99, 16, Number.NaN]) expect(binAt(BINS, outside)?.from_ns).toBeUndefined();
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

describe('labels', () => {
  it('stand side by side where there is room, below each other where there is none', () => {
    expect(labels([[0, 50], [60, 50], [80, 50], [90, 50]], 200, 3).map((label) => label.row)).toEqual([0, 0, 1, 2]);
  });

  it('turn to the left at the right end', () => {
    expect(labels([[180, 50]], 200, 3)).toEqual([{ row: 0, left: true }]);
  });
});

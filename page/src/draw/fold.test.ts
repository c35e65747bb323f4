import { describe, expect, it } from 'vitest';
import { seeded } from '../random';
import { axisOf, FOLD_PX, foldable, type Stretch } from './fold';

const stretch = (from_ns: number, until_ns: number): Stretch => ({ from_ns, until_ns });

describe('folding', () => {
  it('takes stretches longer than all that ran, and no others', () => {
    // 100 ns in all: 10 run, 60 and 30 idle, of which 5 is too short to hide anything.
    expect(foldable(stretch(0, 100), [stretch(5, 65), stretch(70, 95)])).toEqual([stretch(5, 65), stretch(70, 95)]);
    expect(foldable(stretch(0, 100), [stretch(10, 40)])).toEqual([]);
  });

  it('keeps to the chain, whatever the stretches say', () => {
    expect(foldable(stretch(0, 100), [stretch(-50, 95), stretch(200, 300)])).toEqual([stretch(0, 95)]);
  });

  it('gives an axis without gaps or overlaps, as wide as asked for, on which later is never left', () => {
    const random = seeded(8);
    for (let times = 0; times < 300; times += 1) {
      const whole = stretch(-Math.floor(random() * 100), 1000 + Math.floor(random() * 1e6));
      const edges = Array.from({ length: 6 }, () => whole.from_ns + Math.floor(random() * (whole.until_ns - whole.from_ns))).sort((a, b) => a - b);
      const idle = [stretch(edges[0] ?? 0, edges[1] ?? 0), stretch(edges[2] ?? 0, edges[3] ?? 0), stretch(edges[4] ?? 0, edges[5] ?? 0)];
      const axis = axisOf(whole, foldable(whole, idle), 900);
      let left = 0;
      let ns = whole.from_ns;
      for (const piece of axis.pieces) {
        expect(piece.left).toBeCloseTo(left, 6);
        expect(piece.from_ns).toBe(ns);
        left += piece.width;
        ns = piece.until_ns;
      }
      expect(left).toBeCloseTo(900, 6);
      const at = Array.from({ length: 50 }, (_, index) => axis.at(whole.from_ns + ((whole.until_ns - whole.from_ns) * index) / 49));
      at.forEach((x, index) => expect(x).toBeGreaterThanOrEqual((at[index - 1] ?? 0) - 1e-9));
    }
  });

  it('shows the short beside the long', () => {
    const axis = axisOf(stretch(0, 1e9), [stretch(1e6, 999e6)], 864);
    expect(axis.at(1e6)).toBeCloseTo((864 - FOLD_PX) / 2, 6);
    expect(axis.at(999e6) - axis.at(1e6)).toBeCloseTo(FOLD_PX, 6);
    expect(axis.at(2e9)).toBeCloseTo(864, 6);
    expect(axis.at(-5)).toBe(0);
  });

  it('of a chain without length does not divide by nothing', () => {
    const axis = axisOf(stretch(0, 0), [], 500);
    expect(Number.isFinite(axis.at(0))).toBe(true);
  });
});

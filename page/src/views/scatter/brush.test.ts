import { describe, expect, it } from 'vitest';
import { linear, log } from '../../draw/scale';
import { seeded } from '../../random';
import { between, brushOf, formatBrush, grown, parseBrush, rectangleOf, shifted, zoomedOut, type Axes } from './brush';

const NOON = Date.UTC(2026, 10, 23, 12) * 1e6;
const axes: Axes = { time: linear(NOON, NOON + 60e9, 800), duration: log(1e5, 1e9, 400) };

describe('a brush', () => {
  it('is drawn where it was marked, and in the URL is what it was', () => {
    const random = seeded(6);
    for (let times = 0; times < 500; times += 1) {
      const marked = between([random() * 900 - 50, random() * 500 - 50], [random() * 800, random() * 400], axes);
      const brush = brushOf(marked, axes);
      expect(parseBrush(formatBrush(brush))).toEqual(brush);
      const drawn = rectangleOf(brush, axes);
      for (const edge of ['left', 'right', 'top', 'bottom'] as const) {
        expect(drawn[edge]).toBeCloseTo(marked[edge], 1);
      }
    }
  });

  it('holds what lies in it: up is longer, right is later', () => {
    const brush = brushOf({ left: 400, right: 800, top: 0, bottom: 200 }, axes);
    expect(brush.from_ns).toBe(NOON + 30e9);
    expect(Math.abs(brush.min_ns - 1e7)).toBeLessThan(10);
    expect(Math.abs(brush.max_ns - 1e9)).toBeLessThan(10);
  });

  it('of a single point still holds something', () => {
    const brush = brushOf({ left: 10, right: 10, top: 10, bottom: 10 }, axes);
    expect(brush.until_ns).toBeGreaterThan(brush.from_ns);
    expect(brush.max_ns).toBeGreaterThan(brush.min_ns);
  });

  it('that is shifted keeps its size and stays in the plot', () => {
    const random = seeded(7);
    for (let times = 0; times < 200; times += 1) {
      const rectangle = between([random() * 800, random() * 400], [random() * 800, random() * 400], axes);
      const there = shifted(rectangle, random() * 2000 - 1000, random() * 2000 - 1000, axes);
      expect(there.right - there.left).toBeCloseTo(rectangle.right - rectangle.left, 6);
      expect(there.bottom - there.top).toBeCloseTo(rectangle.bottom - rectangle.top, 6);
      expect(there.left).toBeGreaterThanOrEqual(-1e-6);
      expect(there.right).toBeLessThanOrEqual(800 + 1e-6);
      expect(there.top).toBeGreaterThanOrEqual(-1e-6);
      expect(there.bottom).toBeLessThanOrEqual(400 + 1e-6);
    }
  });

  it('shrinks to a few pixels and no further', () => {
    const small = grown({ left: 100, right: 110, top: 50, bottom: 60 }, -100, -100, axes);
    expect(small).toEqual({ left: 100, right: 104, top: 56, bottom: 60 });
  });

  it.each([undefined, '', '1,2,3', '2,1,0,1', '1,2,5,4', 'a,b,c,d', '1,2,3,4,5'])('%s is none', (text) => {
    expect(parseBrush(text)).toBeUndefined();
  });

  it('is left by doubling the range', () => {
    expect(zoomedOut(NOON + 20e9, NOON + 30e9)).toEqual({ from_ns: NOON + 15e9, until_ns: NOON + 35e9 });
  });
});

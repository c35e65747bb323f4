import { describe, expect, it } from 'vitest';
import { axisOfClasses, bars, mostOf, shares, TWIN, type RingClass } from './twins';

const distribution = (bins: readonly (readonly [number, number, number])[]) => ({
  count: bins.reduce((sum, bin) => sum + bin[2], 0), mean_ns: 1, p50_ns: 1, p99_ns: 1, max_ns: 1,
  bins: bins.map(([from_ns, until_ns, count]) => ({ from_ns, until_ns, count })),
});
const one = (elapsed: Parameters<typeof distribution>[0], cpu?: Parameters<typeof distribution>[0]): RingClass => ({
  class: 'A::a', enabled: true, count: 1, p50_ns: 1, p99_ns: 1, max_ns: 1, cpu_ns: 1, worst: [], worst_cpu: [],
  elapsed: distribution(elapsed), cpu: cpu === undefined ? null : distribution(cpu),
});

describe('histograms about one line', () => {
  const classes = [one([[1000, 2000, 90], [64_000, 80_000, 1]], [[100, 200, 91]]), one([[0, 8, 5]])];

  it('share an axis over all classes, elapsed and CPU', () => {
    const x = axisOfClasses(classes);
    expect([x.from, x.until]).toEqual([1, 80_000]);
    expect(axisOfClasses([]).until).toBe(1e9);
    const ticks = shares(x, 6);
    expect(ticks.length).toBeGreaterThan(2);
    expect(ticks.every(({ share }) => share >= 0 && share <= 1)).toBe(true);
  });

  it('stand above and below the line, within the drawing, and a single one is seen', () => {
    const [first] = classes;
    if (first === undefined) throw new Error('there is no class');
    const x = axisOfClasses(classes);
    const above = bars(first.elapsed.bins, mostOf(first), x, 'above');
    const below = bars(first.cpu?.bins ?? [], mostOf(first), x, 'below');
    expect(above.every((bar) => bar.y >= 0 && bar.y + bar.height === TWIN.height / 2)).toBe(true);
    expect(below.every((bar) => bar.y === TWIN.height / 2 && bar.height <= TWIN.height / 2)).toBe(true);
    expect(above[1]?.height).toBeGreaterThanOrEqual(3);
    expect(above[0]?.height).toBeGreaterThan(above[1]?.height ?? 0);
    expect(Math.max(...below.map((bar) => bar.height))).toBeCloseTo(TWIN.height / 2);
  });
});

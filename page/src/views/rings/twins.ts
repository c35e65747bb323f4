// Two histograms about one line: elapsed times above, thread CPU times below, on one axis for all
// classes of a ring, so that what waits and what computes is seen at a glance.

import type { Ring } from '../../api/types';
import { log, ticks, type Scale } from '../../draw/scale';

export type RingClass = Ring['classes'][number];
type Bin = RingClass['elapsed']['bins'][number];

/** Width and height of the drawing in its own units; it is stretched to its cell. */
export const TWIN = { width: 1000, height: 100 } as const;
/** Height of the smallest bar: a single transaction has to be seen. */
const LEAST = 3;

/** The axis that all classes share; from 1 ns to 1 s where nothing has ended. */
export function axisOfClasses(classes: readonly RingClass[]): Scale {
  const bins = classes.flatMap((each) => [...each.elapsed.bins, ...(each.cpu?.bins ?? [])]);
  const from = bins.reduce((least, bin) => Math.min(least, Math.max(1, bin.from_ns)), Infinity);
  const until = bins.reduce((most, bin) => Math.max(most, bin.until_ns), 0);
  return Number.isFinite(from) ? log(from, Math.max(until, from * 10), TWIN.width) : log(1, 1e9, TWIN.width);
}

/** A bar of the drawing. */
export interface Bar {
  readonly x: number;
  readonly width: number;
  readonly y: number;
  readonly height: number;
}

/** The bars of one histogram, above the line or below it; heights are logarithmic in the count. */
export function bars(bins: readonly Bin[], most: number, x: Scale, side: 'above' | 'below'): Bar[] {
  const half = TWIN.height / 2;
  const tall = Math.log1p(Math.max(1, most));
  return bins.map((bin) => {
    const [left, right] = [x.at(Math.max(1, bin.from_ns)), x.at(Math.max(1, bin.until_ns))];
    const height = LEAST + (half - LEAST) * (Math.log1p(bin.count) / tall);
    return { x: left, width: Math.max(2, right - left - 0.5), y: side === 'above' ? half - height : half, height };
  });
}

/** The largest count of either histogram. */
export function mostOf({ elapsed, cpu }: RingClass): number {
  return [...elapsed.bins, ...(cpu?.bins ?? [])].reduce((most, bin) => Math.max(most, bin.count), 1);
}

/** Ticks of the axis, each at its share of the width. */
export function shares(x: Scale, count: number): { ns: number; share: number }[] {
  return ticks(x, count).map((ns) => ({ ns, share: x.at(ns) / x.length }));
}

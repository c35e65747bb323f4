// Bins of a histogram and where they are drawn.

import type { HistogramAnswer } from '../../api/types';
import type { Scale } from '../../draw/scale';

export type Bin = HistogramAnswer['bins'][number];

/** The bin that holds a duration, in [from, until); `undefined` beyond the ends. */
export function binAt(bins: readonly Bin[], ns: number): Bin | undefined {
  let [low, high] = [0, bins.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const bin = bins[middle];
    if (bin === undefined) return undefined;
    if (ns < bin.from_ns) high = middle - 1;
    else if (ns < bin.until_ns) return bin;
    else low = middle + 1;
  }
  return undefined;
}

/** A single one on a logarithmic scale would have no height: it gets this many pixels. */
const LEAST_PX = 3;

/** How high a bar is, in pixels. Whatever is counted is seen. */
export function barTop(count: number, scale: Scale): number {
  if (count <= 0) return 0;
  const height = scale.kind === 'log'
    ? LEAST_PX + scale.at(count) * ((scale.length - LEAST_PX) / scale.length) : scale.at(count);
  return Math.max(1, height);
}

/** Where a label stands: its row, from above, and on which side of its mark. */
export interface Label {
  readonly row: number;
  readonly left: boolean;
}

/**
 * Places labels, `[at, width]` from left to right, in as few rows as keep them apart, at most
 * `rows`; what has no room stands in the last row all the same. None passes the right end.
 */
export function labels(marks: readonly (readonly [number, number])[], end: number, rows: number): Label[] {
  const taken = Array.from({ length: rows }, () => -Infinity);
  return marks.map(([at, width]) => {
    const left = at + width > end;
    const from = left ? at - width : at;
    const free = taken.findIndex((until) => until <= from);
    const row = free < 0 ? rows - 1 : free;
    taken[row] = left ? at : at + width;
    return { row, left };
  });
}

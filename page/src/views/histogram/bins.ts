// Bins of a histogram and where they are drawn.

import type { HistogramAnswer } from '../../api/types';
import { scaleOf, type Scale } from '../../draw/scale';
import { rounded, type Range } from '../../draw/zoom';

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

/** Number of bins that can be told apart on a screen. */
export const BINS = 160;
/** Largest number of bins that the server makes of the whole range; at a closer zoom the bins look wider. */
const MOST_BINS = 10_000;

/** Number of bins of the whole range, such that the range shown has about [`BINS`]. It changes in few steps, so that one answer serves many zooms. */
export function binsFor(whole: Range | undefined, shown: Range | undefined, kind: Scale['kind']): number {
  if (whole === undefined || shown === undefined) return BINS;
  const scale = scaleOf(kind, whole[0], whole[1], 1);
  const part = Math.max(1e-6, scale.at(shown[1]) - scale.at(shown[0]));
  return Math.min(MOST_BINS, BINS * 2 ** Math.max(0, Math.round(Math.log2(1 / part))));
}

/** The durations that the axis shows, as the URL has them: `from,until` in ns. */
export function parseShown(text: string | undefined): Range | undefined {
  if (text === undefined || !/^\d{1,19},\d{1,19}$/.test(text)) return undefined;
  const [from = 0, until = 0] = text.split(',').map(Number);
  return until > from ? [from, until] : undefined;
}

/** Writes a range in the form that [`parseShown`] reads; `undefined` for the whole range and for one too narrow to tell durations apart. */
export function formatShown([from, until]: Range, whole: Range): string | undefined {
  const [low, high] = [Math.max(from, whole[0]), Math.min(until, whole[1])];
  if (low <= whole[0] && high >= whole[1]) return undefined;
  return `${rounded(low, high - low, Math.floor)},${Math.max(Math.floor(low) + 1, rounded(high, high - low, Math.ceil))}`;
}

/** The range, as long as it is, moved back into the whole. */
export function inside([from, until]: Range, whole: Range, kind: Scale['kind']): Range {
  const scale = scaleOf(kind, whole[0], whole[1], 1);
  const [left, right] = [scale.at(from), scale.at(until)];
  const back = Math.max(0, -left) - Math.max(0, right - 1);
  return right - left >= 1 ? whole : [scale.value(left + back), scale.value(right + back)];
}

/** A single one on a logarithmic scale would have no height: it gets this many pixels. */
const LEAST_PX = 3;

/** Height of a bar in pixels; a count above 0 is always visible. */
export function barTop(count: number, scale: Scale): number {
  if (count <= 0) return 0;
  const height = scale.kind === 'log'
    ? LEAST_PX + scale.at(count) * ((scale.length - LEAST_PX) / scale.length) : scale.at(count);
  return Math.max(1, height);
}

// The rectangle of starts and durations that the reader has marked.

import type { Scale } from '../../draw/scale';
import { rounded } from '../../draw/zoom';

/** Starts in [from, until), durations in [min, max], in ns. */
export interface Brush {
  readonly from_ns: number;
  readonly until_ns: number;
  readonly min_ns: number;
  readonly max_ns: number;
}

/** The same in pixels of the plot: x to the right, y downwards. */
export interface Rectangle {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Time to the right, duration upwards. */
export interface Axes {
  readonly time: Scale;
  readonly duration: Scale;
}

/** Writes a brush for the URL: `from,until,min,max`. */
export function formatBrush(brush: Brush): string {
  return [brush.from_ns, brush.until_ns, brush.min_ns, brush.max_ns].join(',');
}

/** Reads it back; `undefined` when there is none, or it is none. */
export function parseBrush(text: string | undefined): Brush | undefined {
  if (text === undefined || !/^\d{1,19}(,\d{1,19}){3}$/.test(text)) return undefined;
  const [from_ns = 0, until_ns = 0, min_ns = 0, max_ns = 0] = text.split(',').map(Number);
  return until_ns > from_ns && max_ns >= min_ns ? { from_ns, until_ns, min_ns, max_ns } : undefined;
}

/** The brush that a rectangle of pixels marks: whole nanoseconds, at least one in each direction. */
export function brushOf(rectangle: Rectangle, { time, duration }: Axes): Brush {
  const [from, until] = [time.value(rectangle.left), time.value(rectangle.right)];
  const [min, max] = [duration.value(duration.length - rectangle.bottom), duration.value(duration.length - rectangle.top)];
  const from_ns = Math.max(0, rounded(from, until - from, Math.floor));
  const min_ns = Math.max(0, rounded(min, max - min, Math.floor));
  return {
    from_ns,
    // Numbers as large as a time are 256 apart: one more would be the same.
    until_ns: Math.max(from_ns + 256, rounded(until, until - from, Math.ceil)),
    min_ns,
    max_ns: Math.max(min_ns + 1, rounded(max, max - min, Math.ceil)),
  };
}

/** The rectangle of pixels in which a brush is drawn. */
export function rectangleOf(brush: Brush, { time, duration }: Axes): Rectangle {
  return {
    left: time.at(brush.from_ns),
    right: time.at(brush.until_ns),
    top: duration.length - duration.at(brush.max_ns),
    bottom: duration.length - duration.at(brush.min_ns),
  };
}

/** The rectangle between two corners, within the plot. */
export function between(a: readonly [number, number], b: readonly [number, number], { time, duration }: Axes): Rectangle {
  const x = [a[0], b[0]].map((value) => clamp(value, time.length));
  const y = [a[1], b[1]].map((value) => clamp(value, duration.length));
  return { left: Math.min(...x), right: Math.max(...x), top: Math.min(...y), bottom: Math.max(...y) };
}

/** A rectangle put elsewhere, as a whole and within the plot. */
export function shifted(rectangle: Rectangle, dx: number, dy: number, { time, duration }: Axes): Rectangle {
  const right = Math.max(-rectangle.left, Math.min(dx, time.length - rectangle.right));
  const down = Math.max(-rectangle.top, Math.min(dy, duration.length - rectangle.bottom));
  return {
    left: rectangle.left + right, right: rectangle.right + right,
    top: rectangle.top + down, bottom: rectangle.bottom + down,
  };
}

/** A rectangle made wider or higher by so many pixels at its right and its upper edge. */
export function grown(rectangle: Rectangle, dx: number, dy: number, { time }: Axes): Rectangle {
  return {
    ...rectangle,
    right: Math.max(rectangle.left + 4, Math.min(time.length, rectangle.right + dx)),
    top: Math.min(rectangle.bottom - 4, Math.max(0, rectangle.top - dy)),
  };
}

/** Twice the range around its middle; zooming out of a brush. Durations are all shown again. */
export function zoomedOut(fromNs: number, untilNs: number): { from_ns: number; until_ns: number } {
  const half = (untilNs - fromNs) / 2;
  return { from_ns: Math.max(0, Math.floor(fromNs - half)), until_ns: Math.ceil(untilNs + half) };
}

function clamp(value: number, length: number): number {
  return Math.max(0, Math.min(length, value));
}

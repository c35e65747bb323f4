// Closer, further and along an axis, by wheel, pointer or key: in pixels, so that it is the same on a
// linear and on a logarithmic one.

import { useRef } from 'preact/hooks';
import type { Scale } from './scale';

/** From and until, in the axis' unit. */
export type Range = readonly [number, number];

/** Factor by which a key that zooms in shrinks the range; zooming out uses its inverse. */
export const STEP = 0.7;

/** The range after zooming: `factor` times as long, and what is at `pixel` stays there. */
export function zoomed(scale: Scale, pixel: number, factor: number): Range {
  return [scale.value(pixel - pixel * factor), scale.value(pixel + (scale.length - pixel) * factor)];
}

/** The range after its picture was pushed so many pixels towards its end. */
export function panned(scale: Scale, pixels: number): Range {
  // Without movement the bounds are returned unchanged: the scale's arithmetic would round them.
  return pixels === 0 ? [scale.from, scale.until] : [scale.value(-pixels), scale.value(scale.length - pixels)];
}

/**
 * A bound of a range, rounded outwards (`Math.floor` or `Math.ceil`) to what is less than a tenth of a
 * pixel: addresses and fields then hold numbers that can be read. Whole; no more than 4 digits differ
 * from its own size, and no more than a ten-thousandth of the range.
 */
export function rounded(bound: number, range: number, outwards: (value: number) => number): number {
  const size = Math.min(Math.abs(bound) / 1000, range / 10_000);
  const step = size < 1 ? 1 : 10 ** Math.floor(Math.log10(size));
  const steps = bound / step;
  // A bound that misses a step only by the rounding error of the scale's arithmetic counts as on it.
  const nearest = Math.round(steps);
  return (Math.abs(steps - nearest) <= Math.min(1e-3, 1e-12 * Math.abs(steps)) ? nearest : outwards(steps)) * step;
}

/** The parts of a wheel event that say how far it was turned; with shift, browsers report it in `deltaX`. */
export type Turn = Pick<WheelEvent, 'deltaX' | 'deltaY' | 'deltaMode'>;

/** Size of one wheel unit in pixels, by `deltaMode`: pixel, line and page of text. The latter two are rare. */
const UNITS_PX = [1, 16, 400] as const;
/** Limit for one event, in pixels: a busy browser sums up many turns in one event; a single turn is about 100. */
const MOST_PX = 1000;
const PER_PX = 0.0022;

/** The factor that a turn of the wheel zooms by: below 1, closer, where it is turned away. */
export function wheelFactor({ deltaX, deltaY, deltaMode }: Turn): number {
  const pixels = (deltaY === 0 ? deltaX : deltaY) * (UNITS_PX[deltaMode] ?? 1);
  return Math.exp(Math.max(-MOST_PX, Math.min(MOST_PX, pixels)) * PER_PX);
}

/** Between two steps of one gesture there is less. */
const PAUSE_MS = 700;

/** Whether a step at `at` (ms) goes on with the gesture before it: only its first is a step of the history. */
export function goesOn(last: number, at: number): boolean {
  return at - last < PAUSE_MS;
}

/** Tells, of each step of a wheel or a key, by its time stamp whether it goes on with the one before. */
export function useGesture(): (event: Event) => boolean {
  const last = useRef(-Infinity);
  return ({ timeStamp }) => {
    const held = goesOn(last.current, timeStamp);
    last.current = timeStamp;
    return held;
  };
}

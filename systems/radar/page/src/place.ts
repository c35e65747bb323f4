// The view as the URL holds it: a link leads others to the same picture.

import type { Place } from './wire';

/** Layers that may be switched. */
export const LAYERS = ['land', 'sectors', 'airways', 'airports', 'radars', 'rings', 'areas'] as const;
export type Layer = (typeof LAYERS)[number];

/** The choices of a reader. */
export interface View {
  /** Position in the middle of the picture. */
  readonly centre: Place;
  /** Height of the picture, NM. */
  readonly height: number;
  /** Length of the speed vectors, minutes of flight. */
  readonly vector: 0 | 1 | 2 | 3;
  /** History dots behind a symbol, in [0, 10]. */
  readonly dots: number;
  /** Flight levels shown. */
  readonly low: number;
  readonly high: number;
  /** Layers that are not shown. */
  readonly off: readonly Layer[];
  /** The track that is looked at. */
  readonly track: number | null;
}

export const LEVEL_MAX = 999;
export const DOTS_MAX = 10;

function number(from: URLSearchParams, name: string, low: number, high: number, otherwise: number): number {
  const text = from.get(name);
  const value = text === null || text === '' ? NaN : Number(text);
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : otherwise;
}

/** Reads a URL's question; what is missing or senseless is as in `first`. */
export function read(search: string, first: View): View {
  const from = new URLSearchParams(search);
  const vector = Math.round(number(from, 'vector', 0, 3, first.vector));
  const low = Math.round(number(from, 'low', 0, LEVEL_MAX, first.low));
  const track = number(from, 'track', 0, 65535, -1);
  return {
    centre: { lat: number(from, 'lat', -85, 85, first.centre.lat), lon: number(from, 'lon', -180, 180, first.centre.lon) },
    height: number(from, 'height', 1, 5000, first.height),
    vector: vector as View['vector'],
    dots: Math.round(number(from, 'dots', 0, DOTS_MAX, first.dots)),
    low,
    high: Math.round(number(from, 'high', low, LEVEL_MAX, Math.max(low, first.high))),
    off: LAYERS.filter((layer) => (from.get('off') ?? first.off.join(' ')).split(' ').includes(layer)),
    track: track < 0 ? first.track : Math.round(track),
  };
}

/** Writes what differs from `first`. */
export function write(view: View, first: View): string {
  const to = new URLSearchParams();
  const put = (name: string, value: string, otherwise: string) => { if (value !== otherwise) to.set(name, value); };
  put('lat', view.centre.lat.toFixed(4), first.centre.lat.toFixed(4));
  put('lon', view.centre.lon.toFixed(4), first.centre.lon.toFixed(4));
  put('height', view.height.toFixed(1), first.height.toFixed(1));
  put('vector', String(view.vector), String(first.vector));
  put('dots', String(view.dots), String(first.dots));
  put('low', String(view.low), String(first.low));
  put('high', String(view.high), String(first.high));
  put('off', view.off.join(' '), first.off.join(' '));
  if (view.track !== null) to.set('track', String(view.track));
  const text = to.toString();
  return text === '' ? '' : `?${text}`;
}

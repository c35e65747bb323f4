// Where a label may stand around its symbol, and how large it is.

/** Amount of a label that is shown: none; its first line in small letters; that with the level; the same in
 * letters of usual size; all lines. */
export const HIDDEN = 0;
export const NAME = 1;
export const TINY = 2;
export const SHORT = 3;
export const FULL = 4;
export type Detail = typeof HIDDEN | typeof NAME | typeof TINY | typeof SHORT | typeof FULL;

export interface Rect {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** Width and height, pixels. */
export interface Size {
  readonly w: number;
  readonly h: number;
}

/** An object with a label. All sizes are in pixels; positions are whole pixels. */
export interface Labelled {
  readonly id: number;
  /** Position of its symbol. */
  x: number;
  y: number;
  /** Size with all lines, with the first and the level, with that in small letters, and without the level. */
  full: Size;
  short: Size;
  tiny: Size;
  name: Size;
  /** Its label has priority over all labels that are not urgent. */
  urgent: boolean;
  /** Where the reader has put its label: its upper left corner, seen from the symbol. */
  pinned: { readonly x: number; readonly y: number } | undefined;
  /** Index of its label's place, in [0, `PLACES`); set by the field. */
  place: number;
  detail: Detail;
}

/** A label where it stands: its upper left corner, seen from its symbol, and its size. */
export interface Stand extends Size {
  readonly rect: Rect;
  readonly dx: number;
  readonly dy: number;
  readonly detail: Detail;
}

/** Places in each direction, from near to far: distances from the symbol, pixels. */
const GAPS = [9, 20, 34, 52, 74, 100, 130, 165, 200] as const;
const DIRECTIONS = 8;
/** Places around a symbol. */
export const PLACES = GAPS.length * DIRECTIONS;
/** Places that are tried for a label with all its lines: who reads it must not search for it. */
export const NEAR_PLACES = 2 * DIRECTIONS;

export function overlaps(a: Rect, b: Rect): boolean {
  return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

export function sizeOf(of: Labelled, detail: Detail): Size {
  return detail === FULL ? of.full : detail === SHORT ? of.short : detail === TINY ? of.tiny : of.name;
}

/** How many distances a place is away from the nearest. */
export function ringOf(place: number): number {
  return Math.floor(place / DIRECTIONS);
}

/** The label's rectangle, were it at `place` with `detail`, which is not HIDDEN. */
export function rectAt(of: Labelled, place: number, detail: Detail): Rect {
  const { w, h } = sizeOf(of, detail);
  const gap = GAPS[ringOf(place)] ?? GAPS[0];
  const { x, y } = of;
  let [x0, y0] = [x, y];
  switch (place & 7) {
    case 0: x0 = x + gap; y0 = y - gap - h; break;
    case 1: x0 = x + gap + 4; y0 = y - (h >> 1); break;
    case 2: x0 = x + gap; y0 = y + gap; break;
    case 3: x0 = x - (w >> 1); y0 = y + gap + 4; break;
    case 4: x0 = x - gap - w; y0 = y + gap; break;
    case 5: x0 = x - gap - 4 - w; y0 = y - (h >> 1); break;
    case 6: x0 = x - gap - w; y0 = y - gap - h; break;
    default: x0 = x - (w >> 1); y0 = y - gap - 4 - h; break;
  }
  return { x0, y0, x1: x0 + w, y1: y0 + h };
}

/** The rectangle of a label where the reader has put it. */
export function pinnedRect(of: Labelled, detail: Detail): Rect | undefined {
  if (of.pinned === undefined) return undefined;
  const { w, h } = sizeOf(of, detail);
  const [x0, y0] = [of.x + of.pinned.x, of.y + of.pinned.y];
  return { x0, y0, x1: x0 + w, y1: y0 + h };
}

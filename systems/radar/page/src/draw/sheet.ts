// The map under the targets: a sheet that is larger than the screen, drawn by a worker of its own. While
// the picture is moved it is looked at elsewhere, while it is zoomed it is scaled, until a new one has come.

import type { Camera, Window } from '../geometry';
import { GROUND } from '../colours';
import type { Rect } from '../labels';
import type { Layer } from '../place';
import type { Place } from '../wire';
import type { FromMap, SheetOrder } from './messages';
import { pixelOf, Pixels } from './pixels';

/** By how much the sheet is larger than the screen at each side, pixels; a new one is ordered when less than
 * the second is left. */
const MARGIN = 256;
const MARGIN_LEFT = 96;
/** A sheet of another scale is ordered when the scale has rested for the first of these times, or when the last
 * one was ordered so long ago, ms: the map is not to take the processor from the targets. */
const REST_MS = 80;
const ANEW_MS = 400;
const GROUND_PIXEL = pixelOf(GROUND);

/** What is wanted of the map. */
export interface Wanted {
  readonly camera: Camera;
  readonly window: Window;
  readonly ratio: number;
  readonly off: readonly Layer[];
  readonly origin: Place;
}

export class MapSheet {
  private held: { readonly order: SheetOrder; readonly pixels: Pixels; readonly names: readonly Rect[] } | undefined;
  private ordered = false;
  private orderedAt = 0;
  /** The scale looked at, and since when. */
  private scale = 0;
  private scaleAt = 0;
  private isSpoilt = true;
  /** How many were drawn, and in what time, ms. */
  count = 0;
  ms = 0;

  constructor(private readonly order: (order: SheetOrder) => void) {}

  /** The map is to be drawn anew. */
  spoil(): void {
    this.isSpoilt = true;
  }

  /** The plane is another one: what is held is of no use. */
  drop(): void {
    this.held = undefined;
    this.isSpoilt = true;
  }

  /** Orders a new sheet when it is time to, one at a time. `now`: ms of any clock. Returns whether the one that is
   * held is the right one. */
  want({ camera: { width, height }, window, ratio, off, origin }: Wanted, now: number): boolean {
    const { held } = this;
    const isScale = held !== undefined && held.order.metresPerPixel === window.metresPerPixel && held.order.ratio === ratio;
    const isRight = isScale && !this.isSpoilt && held.order.off.join() === off.join() && this.room(held.order, window, width, height) >= MARGIN_LEFT;
    if (isRight || this.ordered) return isRight;
    if (window.metresPerPixel !== this.scale) [this.scale, this.scaleAt] = [window.metresPerPixel, now];
    const isZooming = held !== undefined && !isScale && now - this.scaleAt < REST_MS;
    if (isZooming && !this.isSpoilt && now - this.orderedAt < ANEW_MS) return false;
    this.ordered = true;
    this.orderedAt = now;
    this.isSpoilt = false;
    const corner = { x: window.corner.x - MARGIN, y: window.corner.y - MARGIN };
    this.order({ metresPerPixel: window.metresPerPixel, corner, width: width + 2 * MARGIN, height: height + 2 * MARGIN, ratio, off, origin });
    return false;
  }

  /** How far the screen is from the nearest edge of a sheet of its scale; below 0 when it is beyond. */
  private room({ corner, width, height }: SheetOrder, window: Window, screenWidth: number, screenHeight: number): number {
    const [left, top] = [window.corner.x - corner.x, window.corner.y - corner.y];
    return Math.min(left, top, width - left - screenWidth, height - top - screenHeight);
  }

  /** A sheet has come. Returns whether it is of the plane whose origin is `origin`. */
  take({ order, width, height, pixels, names, ms }: Extract<FromMap, { readonly kind: 'sheet' }>, origin: Place): boolean {
    this.ordered = false;
    this.count++;
    this.ms += ms;
    if (order.origin.lat !== origin.lat || order.origin.lon !== origin.lon) return false;
    this.held = { order, pixels: new Pixels(width, height, pixels), names };
    return true;
  }

  /** What is copied for a scale; undefined while what is held is of another one. */
  at({ metresPerPixel }: Window, ratio: number): Pixels | undefined {
    const { held } = this;
    return held?.order.metresPerPixel === metresPerPixel && held.order.ratio === ratio ? held.pixels : undefined;
  }

  /** Copies what is seen of it; beyond its edges there is the bare ground. */
  paint(to: Pixels, { metresPerPixel, corner }: Window, ratio: number): void {
    if (this.held === undefined) {
      to.data.fill(GROUND_PIXEL);
      return;
    }
    const { order, pixels } = this.held;
    if (this.at({ metresPerPixel, corner }, ratio) !== undefined) {
      to.copy(pixels, Math.round((corner.x - order.corner.x) * ratio), Math.round((corner.y - order.corner.y) * ratio), GROUND_PIXEL);
      return;
    }
    const by = metresPerPixel / order.metresPerPixel;
    to.scale(pixels, (corner.x * by - order.corner.x) * order.ratio, (corner.y * by - order.corner.y) * order.ratio, (by * order.ratio) / ratio, GROUND_PIXEL);
  }

  /** Where names stand on the screen; none while the scale is another one. */
  namesOn({ metresPerPixel, corner }: Window, width: number, height: number): Rect[] {
    if (this.held?.order.metresPerPixel !== metresPerPixel) return [];
    const all = this.held.names.map(({ x0, y0, x1, y1 }) => ({ x0: x0 - corner.x, y0: y0 - corner.y, x1: x1 - corner.x, y1: y1 - corner.y }));
    return all.filter(({ x0, y0, x1, y1 }) => x1 > 0 && y1 > 0 && x0 < width && y0 < height);
  }
}

// The map, drawn once on a sheet that is larger than the screen: while the picture is moved the sheet is
// only looked at elsewhere, until its edge comes near.

import { shiftBetween, type Camera, type Point } from './geometry';
import type { Rect } from './labels';
import { GROUND, type GroundMap } from './map';
import type { Layer } from './place';

/** By how much the sheet is larger than the screen at each side, pixels. */
const MARGIN = 192;

export class MapSheet {
  private readonly canvas = new OffscreenCanvas(1, 1);
  /** By which it was drawn: of the screen, not of the sheet. */
  private drawn: Camera | undefined;
  private ratio = 1;
  private places: readonly Rect[] = [];
  /** How often it was drawn, for the bench. */
  count = 0;

  constructor(public ground: GroundMap) {}

  /** It is to be drawn anew. */
  spoil(): void {
    this.drawn = undefined;
  }

  /** By how many pixels the screen of `camera` is farther to the right and down than when it was drawn. */
  private offset(camera: Camera): Point | undefined {
    return this.drawn === undefined ? undefined : shiftBetween(this.drawn, camera);
  }

  /** Makes it hold all that `camera` sees. */
  hold(camera: Camera, ratio: number, off: readonly Layer[]): void {
    const moved = this.offset(camera);
    const isHeld = moved !== undefined && Math.abs(moved.x) <= MARGIN && Math.abs(moved.y) <= MARGIN;
    // Parts of a screen's pixel would be blurred.
    const isSharp = Number.isInteger(ratio) || (moved?.x === 0 && moved.y === 0);
    if (isHeld && isSharp && ratio === this.ratio) return;
    const context = this.canvas.getContext('2d', { alpha: false });
    if (context === null) return;
    const sheet = { ...camera, width: camera.width + 2 * MARGIN, height: camera.height + 2 * MARGIN };
    const [width, height] = [Math.round(sheet.width * ratio), Math.round(sheet.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = GROUND;
    this.places = this.ground.draw(context, sheet, off);
    [this.drawn, this.ratio] = [camera, ratio];
    this.count++;
  }

  /** Copies a rectangle of the screen. */
  copy(to: CanvasRenderingContext2D, camera: Camera, left: number, top: number, width: number, height: number): void {
    const moved = this.offset(camera);
    if (moved === undefined) return;
    const { ratio } = this;
    const [x, y] = [(left + moved.x + MARGIN) * ratio, (top + moved.y + MARGIN) * ratio];
    // The copied area is cut at the sheet's edge.
    const [w, h] = [Math.min(this.canvas.width - x, width * ratio), Math.min(this.canvas.height - y, height * ratio)];
    if (w > 0 && h > 0) to.drawImage(this.canvas, x, y, w, h, left, top, w / ratio, h / ratio);
  }

  /** Where names stand on the screen. */
  names(camera: Camera): Rect[] {
    const moved = this.offset(camera);
    if (moved === undefined) return [];
    const [right, down] = [MARGIN + moved.x, MARGIN + moved.y];
    const all = this.places.map(({ x0, y0, x1, y1 }) => ({ x0: x0 - right, y0: y0 - down, x1: x1 - right, y1: y1 - down }));
    return all.filter(({ x0, y0, x1, y1 }) => x1 > 0 && y1 > 0 && x0 < camera.width && y0 < camera.height);
  }
}

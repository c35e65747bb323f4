// While the reader zooms: the last picture that was drawn, larger or smaller; and where it moves by
// parts of a pixel, elsewhere. To draw thousands of targets anew takes a processor several frames, to
// scale what was drawn a part of one.

import { toScreen, type Camera } from './geometry';
import { GROUND } from './map';

/** Zooming rests when nobody has zoomed for so long, ms. */
export const REST_MS = 100;
/** While zooming goes on, all is drawn anew after this time, ms, so that the picture is never much older. */
const ANEW_MS = 500;

/** A picture that is scaled instead of drawn. */
export class Scaled {
  private readonly copy = new OffscreenCanvas(1, 1);
  /** Camera of the copy; undefined while nobody zooms. */
  private camera: Camera | undefined;
  private since = 0;
  private last = 0;

  get isOn(): boolean {
    return this.camera !== undefined;
  }

  /** Whether it is time to draw anew. */
  get isDue(): boolean {
    const now = performance.now();
    return now - this.last >= REST_MS || now - this.since >= ANEW_MS;
  }

  /** The reader zooms, or goes on to, from `shown`, which is on `canvas`. */
  zoom(canvas: HTMLCanvasElement, shown: Camera): void {
    this.last = performance.now();
    if (this.isOn) return;
    this.since = this.last;
    this.camera = shown;
    // This clears it, too.
    this.copy.width = canvas.width;
    this.copy.height = canvas.height;
    this.copy.getContext('2d', { alpha: false })?.drawImage(canvas, 0, 0);
  }

  end(): void {
    this.camera = undefined;
  }

  /** Draws the copy as `to` sees it; nothing is known of what it did not show. */
  draw(context: CanvasRenderingContext2D, to: Camera, ratio: number): void {
    if (this.camera === undefined) return;
    const scale = this.camera.metresPerPixel / to.metresPerPixel;
    const { x, y } = toScreen(to, this.camera.centre);
    const [width, height] = [this.camera.width * scale, this.camera.height * scale];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = GROUND;
    context.fillRect(0, 0, to.width, to.height);
    context.drawImage(this.copy, x - width / 2, y - height / 2, width, height);
  }
}

/** Whether the middle of what `from` shows is seen by `to`: elsewhere a copy has too little of it. */
export function isNear(from: Camera, to: Camera): boolean {
  const { x, y } = toScreen(to, from.centre);
  return x >= 0 && y >= 0 && x < to.width && y < to.height;
}

// Draws a frame into the canvas: all of it, or where only little has changed since the one before, that alone.
//
// While the picture is moved, what is on it is moved as it stands, and drawn is what comes in at the edges;
// a target with a new state is drawn again with what is around it. All of that gives the same pixels as
// drawing everything would. At another scale, or with another map, everything is drawn.

import type { Point, Window } from '../geometry';
import type { View } from '../place';
import type { Clock } from './clock';
import { Damage, touching } from './damage';
import { boxOf, drawLabels, drawMarks, type Scene, type Shown } from './ink';
import { Pixels, type Box } from './pixels';
import type { MapSheet } from './sheet';
import { Stencils } from './stencils';

/** Above this share of the picture all of it is drawn: parts that lie on each other are drawn for each of them. */
const PARTS_MAX = 0.4;

/** A target as it is in the picture. */
export interface Painted extends Shown {
  /** What it covers there, pixels of the device from `Painter.base`; undefined while it is not there. */
  box: Box | undefined;
  /** Whether it looks otherwise by now, or stands elsewhere. */
  isStale: boolean;
}

/** What a frame shows besides the targets. */
export interface Looked {
  readonly window: Window;
  readonly view: View;
  readonly sheet: MapSheet;
}

export class Painter {
  private readonly context: OffscreenCanvasRenderingContext2D;
  private stencils = new Stencils(1);
  private pixels = new Pixels(1, 1);
  private image = new ImageData(1, 1);
  /** The picture that is on the canvas. `isKept`: the boxes of its targets are known. */
  private before: { readonly key: string; readonly corner: Point; readonly ground: Pixels | undefined; readonly isKept: boolean } | undefined;
  /** By how much the picture has been moved since all was drawn. */
  private base = { x: 0, y: 0 };
  /** What targets covered that are not shown any more. */
  private left: Box[] = [];

  constructor(private readonly canvas: OffscreenCanvas) {
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) throw new Error('this browser has no 2D canvas in a worker');
    this.context = context;
  }

  /** Size in pixels of the style sheet, and how many of the device each of them has. */
  resize(screenWidth: number, screenHeight: number, ratio: number): void {
    if (ratio !== this.stencils.ratio) this.stencils = new Stencils(ratio);
    const [width, height] = [Math.round(screenWidth * ratio), Math.round(screenHeight * ratio)];
    if (width === this.pixels.width && height === this.pixels.height) return;
    const octets = new Uint8ClampedArray(4 * width * height);
    this.image = new ImageData(octets, width, height);
    this.pixels = new Pixels(width, height, octets.buffer);
    [this.canvas.width, this.canvas.height] = [width, height];
    this.before = undefined;
  }

  /** Pixels of the device in one of the style sheet. */
  get ratio(): number {
    return this.stencils.ratio;
  }

  /** A target is not shown any more. */
  remove(one: Painted): void {
    if (one.box !== undefined) this.left.push(one.box);
    one.box = undefined;
  }

  /** Everything is to be drawn. */
  spoil(): void {
    this.before = undefined;
  }

  /** Draws a frame; returns how much of it was drawn. */
  draw(shown: readonly Painted[], looked: Looked, clock: Clock): 'all' | 'parts' | 'nothing' {
    const { window, view, sheet } = looked;
    const { before, stencils } = this;
    const key = [window.metresPerPixel, stencils.ratio, view.vector, view.dots, view.track].join();
    const ground = sheet.at(window, stencils.ratio);
    const scene: Scene = { ...window, view, stencils };
    const isResting = before?.key === key;
    this.before = { key, corner: window.corner, ground, isKept: isResting };
    if (isResting && before.isKept && ground !== undefined && ground === before.ground) {
      const drawn = this.change(shown, looked, scene, before.corner, clock);
      if (drawn !== undefined) return drawn;
    }
    this.paint(shown, looked, scene, clock);
    this.context.putImageData(this.image, 0, 0);
    clock.add('hand');
    this.base = { x: 0, y: 0 };
    this.left = [];
    // While it is zoomed nothing can be kept, and nothing is to be paid for it.
    if (isResting) for (const one of shown) this.keep(one, scene);
    clock.add('symbols');
    return 'all';
  }

  /** What is within the restriction of `pixels`. */
  private paint(shown: readonly Shown[], { window, sheet }: Looked, scene: Scene, clock: Clock): void {
    sheet.paint(this.pixels, window, scene.stencils.ratio);
    clock.add('map');
    drawMarks(this.pixels, shown, scene);
    clock.add('symbols');
    drawLabels(this.pixels, shown, scene);
    clock.add('labels');
  }

  private keep(one: Painted, scene: Scene): void {
    one.box = moved(boxOf(one, scene), this.base.x, this.base.y);
    one.isStale = false;
  }

  /** Draws what differs from the frame before, whose corner was `corner`; undefined when that is too much. */
  private change(shown: readonly Painted[], looked: Looked, scene: Scene, corner: Point, clock: Clock): 'parts' | 'nothing' | undefined {
    const { pixels, base } = this;
    const { ratio } = scene.stencils;
    const [right, down] = [(corner.x - looked.window.corner.x) * ratio, (corner.y - looked.window.corner.y) * ratio];
    if (!isExact(ratio) || !Number.isInteger(right) || !Number.isInteger(down)) return undefined;
    const damage = new Damage(pixels.width, pixels.height);
    damage.addEdges(right, down);
    [base.x, base.y] = [base.x - right, base.y - down];
    const onScreen = (box: Box) => moved(box, -base.x, -base.y);
    for (const box of this.left) damage.add(onScreen(box));
    this.left = [];
    for (const one of shown) {
      if (!one.isStale && one.box !== undefined) continue;
      const { box } = one;
      this.keep(one, scene);
      if (one.box === undefined) continue;
      if (box === undefined) damage.add(onScreen(one.box));
      else damage.addBoth(onScreen(box), onScreen(one.box));
    }
    if (damage.area > PARTS_MAX * pixels.width * pixels.height) return undefined;
    const isMoved = right !== 0 || down !== 0;
    if (isMoved) pixels.shift(right, down);
    clock.add('map');
    if (damage.boxes.length === 0) return 'nothing';
    touching(shown, damage.boxes.map((box) => moved(box, base.x, base.y)), (box, those) => {
      const { x0, y0, x1, y1 } = onScreen(box);
      pixels.within({ x0, y0, x1, y1 }, () => this.paint(those, looked, scene, clock));
      if (!isMoved) this.context.putImageData(this.image, 0, 0, x0, y0, x1 - x0, y1 - y0);
    });
    if (isMoved) this.context.putImageData(this.image, 0, 0);
    clock.add('hand');
    return 'parts';
  }
}

/** Whether multiples of `ratio` are exact, so that what is moved stands where it would be drawn. */
function isExact(ratio: number): boolean {
  return Number.isInteger(8 * ratio);
}

function moved({ x0, y0, x1, y1 }: Box, right: number, down: number): Box {
  return { x0: x0 + right, y0: y0 + down, x1: x1 + right, y1: y1 + down };
}

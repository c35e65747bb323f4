// The picture: map below, targets above, on one canvas. Only cells in which something changed are
// drawn again; when the camera moves, what is drawn is moved; while it zooms, scaled.

import type { GroundMap } from './map';
import { shiftBetween, toScreen, type Camera, type Point } from './geometry';
import { dotsOf, Ink, RING, vectorEnd } from './ink';
import { FULL, HIDDEN, LabelField, type Rect } from './labels';
import type { View } from './place';
import { isNear, Scaled } from './scaled';
import { MapSheet } from './sheet';
import type { Target } from './target';

const CELL_SHIFT = 6;
const CELL = 1 << CELL_SHIFT;
/** Above this share of dirty cells all is drawn: clipping costs, too. */
const ALL_SHARE = 0.6;
/** Targets this far outside have parts inside: a vector, a label. */
const MARGIN = 120;
/** Choices that change how everything looks, wherever it is. */
const CHOICES = ['vector', 'dots', 'low', 'high', 'off'] as const;

type Context = CanvasRenderingContext2D;

/** Area in which a target was drawn, in cells: it has to be redrawn when the target changes. */
interface Drawn {
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

/** Cost of the frames, for the bench. */
export interface Cost {
  frames: number;
  whole: number;
  /** Scaled, not drawn. */
  scaled: number;
  cells: number;
}

/** Draws. Its owner says what changed, and when a frame is due. */
export class Picture {
  private readonly context: Context;
  private readonly sheet: MapSheet;
  private readonly field = new LabelField();
  private readonly drawn = new Map<Target, Drawn>();
  private readonly changed = new Set<Target>();
  private readonly visible = new Set<Target>();
  private readonly ink = new Ink();
  private dirty = new Uint8Array(0);
  private columns = 0;
  private rows = 0;
  private whole = true;
  /** By which what is drawn has to be moved, pixels. */
  private shift: Point = { x: 0, y: 0 };
  private readonly scaled = new Scaled();
  private ratio = 1;
  /** By which what is on the canvas was drawn. */
  private shown: Camera = { centre: { x: 0, y: 0 }, metresPerPixel: 1000, width: 1, height: 1 };
  camera: Camera = { centre: { x: 0, y: 0 }, metresPerPixel: 1000, width: 1, height: 1 };
  readonly cost: Cost = { frames: 0, whole: 0, scaled: 0, cells: 0 };

  constructor(private readonly canvas: HTMLCanvasElement, ground: GroundMap, private view: View, private readonly targets: ReadonlyMap<number, Target>) {
    const context = canvas.getContext('2d', { alpha: false });
    if (context === null) throw new Error('this browser has no 2D canvas');
    this.context = context;
    this.sheet = new MapSheet(ground);
  }

  /** The screen, the place or the choices have changed: everything is to be drawn, or moved or
   * scaled when only the place has. */
  look(camera: Camera, view: View): void {
    const ratio = devicePixelRatio;
    const isSameScreen = this.columns > 0 && ratio === this.ratio && camera.width === this.camera.width && camera.height === this.camera.height;
    if (view.off.join() !== this.view.off.join()) this.sheet.spoil();
    const isElsewhere = isSameScreen && CHOICES.every((name) => view[name] === this.view[name]);
    if (!isSameScreen) this.resize(camera, ratio);
    for (const id of [this.view.track, view.track]) {
      const target = id === null || view.track === this.view.track ? undefined : this.targets.get(id);
      if (target !== undefined) this.change(target);
    }
    // A pixel of the style sheet is one of the screen, where what is drawn is to be moved.
    const shift = isElsewhere && ratio === 1 && !this.scaled.isOn ? shiftBetween(this.camera, camera) : undefined;
    const isScaled = isElsewhere && (this.scaled.isOn || !this.whole) && isNear(this.shown, camera);
    this.camera = camera;
    this.view = view;
    if (shift !== undefined) {
      this.shift = { x: this.shift.x + shift.x, y: this.shift.y + shift.y };
      return;
    }
    if (isScaled) this.scaled.zoom(this.canvas, this.shown);
    else this.scaled.end();
    this.all();
  }

  private resize({ width, height }: Camera, ratio: number): void {
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.columns = Math.ceil(width / CELL);
    this.rows = Math.ceil(height / CELL);
    this.dirty = new Uint8Array(this.columns * this.rows);
  }

  /** Everything is to be drawn. */
  all(): void {
    this.whole = true;
  }

  /** Another map lies below. */
  lay(ground: GroundMap): void {
    this.sheet.ground = ground;
    this.sheet.spoil();
    this.all();
  }

  /** Notes that a target has changed or is new. */
  change(target: Target): void {
    this.changed.add(target);
  }

  /** Removes a target. */
  remove(target: Target): void {
    this.changed.delete(target);
    this.visible.delete(target);
    this.field.remove(target.id);
    this.spoil(target);
    this.drawn.delete(target);
  }

  /** All targets are gone. */
  clear(): void {
    this.changed.clear();
    this.visible.clear();
    this.drawn.clear();
    this.field.clear();
    this.scaled.end();
    this.whole = true;
  }

  /** Whether a frame would change anything. */
  get isStale(): boolean {
    return this.whole || this.shift.x !== 0 || this.shift.y !== 0 || this.changed.size > 0 || this.dirty.includes(1);
  }

  /** Draws what has changed. */
  draw(): void {
    this.cost.frames++;
    if (this.scaled.isOn && !this.scaled.isDue) {
      this.cost.scaled++;
      this.scaled.draw(this.context, this.camera, this.ratio);
      return;
    }
    this.scaled.end();
    // Cells that are dirty already refer to the picture before the move, so that all is drawn again.
    if (this.dirty.includes(1) && (this.shift.x !== 0 || this.shift.y !== 0)) this.all();
    if (!this.whole) this.scroll(this.shift);
    this.shift = { x: 0, y: 0 };
    this.sheet.hold(this.camera, this.ratio, this.view.off);
    this.field.block(this.sheet.names(this.camera));
    if (this.whole) this.placeAll();
    else this.changed.forEach((target) => { this.move(target); });
    this.changed.clear();
    const count = this.whole ? this.dirty.length : this.dirty.reduce((sum, one) => sum + one, 0);
    if (this.whole || count > ALL_SHARE * this.dirty.length) {
      this.cost.whole++;
      this.region(0, 0, this.columns, this.rows, [...this.visible]);
    } else if (count > 0) {
      this.runs();
    }
    this.cost.cells += count;
    this.dirty.fill(0);
    this.whole = false;
    this.shown = this.camera;
  }

  /** The target nearest to a place on the screen, within some pixels of its symbol or on its label. */
  targetAt({ x, y }: Point): Target | undefined {
    let nearest: Target | undefined;
    let least = 14;
    for (const target of this.visible) {
      // The current position: x and y are those of the last drawing, and the picture may have been scaled since.
      const at = toScreen(this.camera, target.at);
      const distance = Math.hypot(at.x - x, at.y - y);
      if (distance < least) [nearest, least] = [target, distance];
    }
    if (nearest !== undefined || this.scaled.isOn) return nearest;
    return this.labelAt({ x, y });
  }

  /** The target whose label is at a place on the screen. */
  labelAt({ x, y }: Point): Target | undefined {
    return [...this.visible].find((target) => {
      const rect = this.field.rect(target.id);
      return rect !== undefined && x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1;
    });
  }

  /** Where the label of a target stands, seen from its symbol. */
  labelOffset(target: Target): Point | undefined {
    const rect = this.field.rect(target.id);
    return rect === undefined ? undefined : { x: rect.x0 - target.x, y: rect.y0 - target.y };
  }

  /** Names of the map on the screen, for tests. */
  mapNames(): Rect[] {
    return this.sheet.names(this.camera);
  }

  /** The positions of all labels, for the screen and for tests. */
  labels(): { readonly id: number; readonly detail: number; readonly x: number; readonly y: number; readonly rect: readonly number[] | null }[] {
    return [...this.visible].map(({ id, detail, x, y }) => {
      const rect = this.field.rect(id);
      return { id, detail, x, y, rect: rect === undefined ? null : [rect.x0, rect.y0, rect.x1, rect.y1] };
    });
  }

  /** Labels with fewer lines than all, and with none. */
  reduced(): { readonly short: number; readonly hidden: number } {
    let [short, hidden] = [0, 0];
    for (const target of this.visible) {
      if (target.detail === HIDDEN) hidden++;
      else if (target.detail !== FULL) short++;
    }
    return { short, hidden };
  }

  get visibleCount(): number {
    return this.visible.size;
  }

  private isShown(target: Target): boolean {
    const { x, y } = target;
    const { width, height } = this.camera;
    if (x < -MARGIN || y < -MARGIN || x > width + MARGIN || y > height + MARGIN) return false;
    // Urgent targets are shown whatever the filter says.
    return target.urgent || target.id === this.view.track || target.isWithin(this.view.low, this.view.high);
  }

  private locate(target: Target): void {
    const { x, y } = toScreen(this.camera, target.at);
    target.x = Math.round(x);
    target.y = Math.round(y);
  }

  /** Everything anew; labels stay where they stand, seen from their symbols, where they can. */
  private placeAll(): void {
    this.field.clear();
    this.visible.clear();
    this.drawn.clear();
    const all = [...this.targets.values()];
    // The urgent first, so that nobody has to give way.
    for (const target of [...all.filter((one) => one.urgent), ...all.filter((one) => !one.urgent)]) {
      this.locate(target);
      if (!this.isShown(target)) continue;
      this.visible.add(target);
      this.field.set(target);
    }
    for (const target of this.visible) this.bound(target);
  }

  /** Moves what is drawn, and draws what comes in at the edges. */
  private scroll({ x, y }: Point): void {
    if (x === 0 && y === 0) return;
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.drawImage(this.canvas, -x, -y);
    this.field.shift(-x, -y);
    for (const target of this.visible) {
      target.x -= x;
      target.y -= y;
      this.bound(target);
    }
    for (const target of this.targets.values()) {
      const isSeen = this.visible.has(target);
      if (!isSeen) this.locate(target);
      if (isSeen !== this.isShown(target)) this.change(target);
    }
    const { width, height } = this.camera;
    this.spoilCells(x > 0 ? width - x : 0, 0, x > 0 ? width : -x, height);
    this.spoilCells(0, y > 0 ? height - y : 0, width, y > 0 ? height : -y);
  }

  private spoilCells(x0: number, y0: number, x1: number, y1: number): void {
    if (x0 >= x1 || y0 >= y1) return;
    const [left, right] = [Math.max(0, x0 >> CELL_SHIFT), Math.min(this.columns - 1, x1 >> CELL_SHIFT)];
    for (let y = Math.max(0, y0 >> CELL_SHIFT); y <= Math.min(this.rows - 1, y1 >> CELL_SHIFT); y++) {
      this.dirty.fill(1, y * this.columns + left, y * this.columns + right + 1);
    }
  }

  private move(target: Target): void {
    this.spoil(target);
    this.locate(target);
    if (!this.isShown(target)) {
      this.visible.delete(target);
      this.drawn.delete(target);
      this.field.remove(target.id);
      return;
    }
    this.visible.add(target);
    for (const other of this.field.set(target)) {
      const gaveWay = this.targets.get(other.id);
      if (gaveWay === undefined) continue;
      this.spoil(gaveWay);
      this.bound(gaveWay);
      this.spoil(gaveWay);
    }
    this.bound(target);
    this.spoil(target);
  }

  /** Notes in which cells a target is drawn. */
  private bound(target: Target): void {
    let [x0, y0, x1, y1] = [target.x - RING, target.y - RING, target.x + RING, target.y + RING];
    const around = (x: number, y: number, by: number) => {
      x0 = Math.min(x0, x - by);
      y0 = Math.min(y0, y - by);
      x1 = Math.max(x1, x + by);
      y1 = Math.max(y1, y + by);
    };
    const end = vectorEnd(target, this.camera, this.view);
    around(end.x, end.y, 2);
    for (const dot of dotsOf(target, this.camera, this.view)) around(dot.x, dot.y, 2);
    const rect = this.field.rect(target.id);
    if (rect !== undefined) {
      around(rect.x0, rect.y0, 2);
      around(rect.x1, rect.y1, 2);
    }
    this.drawn.set(target, { x0: Math.floor(x0) >> CELL_SHIFT, y0: Math.floor(y0) >> CELL_SHIFT, x1: Math.ceil(x1) >> CELL_SHIFT, y1: Math.ceil(y1) >> CELL_SHIFT });
  }

  private spoil(target: Target): void {
    const cells = this.drawn.get(target);
    if (cells === undefined) return;
    const [left, right] = [Math.max(0, cells.x0), Math.min(this.columns - 1, cells.x1)];
    for (let y = Math.max(0, cells.y0); y <= Math.min(this.rows - 1, cells.y1); y++) {
      this.dirty.fill(1, y * this.columns + left, y * this.columns + right + 1);
    }
  }

  /** Dirty cells, as runs along the rows. */
  private runs(): void {
    const byRow: Target[][] = Array.from({ length: this.rows }, () => []);
    for (const [target, { y0, y1 }] of this.drawn) {
      for (let y = Math.max(0, y0); y <= Math.min(this.rows - 1, y1); y++) byRow[y]?.push(target);
    }
    for (let y = 0; y < this.rows; y++) {
      const inRow = byRow[y] ?? [];
      for (let x = 0; x < this.columns; x++) {
        if (this.dirty[y * this.columns + x] !== 1) continue;
        const begin = x;
        while (x < this.columns && this.dirty[y * this.columns + x] === 1) x++;
        const inRun = inRow.filter((target) => {
          const cells = this.drawn.get(target);
          return cells !== undefined && cells.x0 < x && cells.x1 >= begin;
        });
        this.region(begin, y, x, y + 1, inRun);
      }
    }
  }

  /** Draws all that lies in a rectangle of cells. */
  private region(x0: number, y0: number, x1: number, y1: number, targets: readonly Target[]): void {
    const { context, ratio } = this;
    const [left, top, width, height] = [x0 * CELL, y0 * CELL, (x1 - x0) * CELL, (y1 - y0) * CELL];
    context.save();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    this.sheet.copy(context, this.camera, left, top, width, height);
    this.ink.draw(context, targets, { camera: this.camera, view: this.view, ratio, rect: (id) => this.field.rect(id) });
    context.restore();
  }
}

// The picture: map below, targets above, drawn in every frame in which something has changed, by a worker, so
// that the page answers its reader meanwhile.

import { pixelAt, Projection, windowOf, type Camera, type Point, type Window } from '../geometry';
import { HIDDEN } from '../labels';
import type { View } from '../place';
import { Target, type Alert } from '../target';
import { decode, type Frame } from '../wire';
import { Clock } from './clock';
import type { Shown } from './ink';
import { REPORT_FIELDS, type Cost, type FromMap, type FromPicture, type Report, type SheetOrder, type ToPicture } from './messages';
import { Painter, type Painted } from './painter';
import { Placement } from './placement';
import { MapSheet } from './sheet';

/** Targets this far outside have parts inside: a vector, a label. */
const MARGIN = 120;
/** Of a frame of 16.7 ms this much is used, ms; labels are placed in what drawing leaves of it, at least for
 * the second, and at most for the third while it is zoomed: they are placed for a scale that has gone by then.
 * While there are none, they are placed for the last. */
const FRAME_MS = 12;
const PLACE_MS = 1.5;
const ZOOM_PLACE_MS = 3;
const FIRST_MS = 30;
/** Longer times from frame to frame are counted as this, ms. */
const GAP_MS = 250;
/** Between two reports to the page, ms. */
const REPORT_MS = 50;

/** A target, and whether it is on the screen. */
interface Known extends Painted {
  isInside: boolean;
  /** The pixel of the plane in which it is at a scale; 0: that is out of date. */
  planeX: number;
  planeY: number;
  scale: number;
}

/** Draws. `say` goes to the page, `order` to the worker that draws the map. */
export class Picture {
  private readonly painter: Painter;
  private readonly sheet: MapSheet;
  private readonly placement = new Placement();
  private readonly targets = new Map<number, Target>();
  private readonly known = new Map<Target, Known>();
  private alerts: ReadonlyMap<number, Alert> = new Map();
  private projection: Projection;
  private looked: { readonly camera: Camera; readonly window: Window; readonly view: View } | undefined;
  /** Those on the screen, as they are drawn. */
  private readonly shown: Known[] = [];
  private isDue = false;
  /** The last frame of states taken in that is not on the screen yet. */
  private taken = 0;
  /** What drawing took last, without placing labels, ms. */
  private drawMs = 0;
  /** Of the frame before, metres a pixel. */
  private scale = 0;
  private frameAt = 0;
  private reportedAt = 0;
  private reportTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly cost = { frames: 0, parts: 0, gaps: new Array<number>(GAP_MS + 1).fill(0), map: 0, symbols: 0, labels: 0, placement: 0, hand: 0 };
  /** Runs a task after the animation frame: then the browser has handed on what was drawn. */
  private readonly after = new MessageChannel();

  constructor(canvas: OffscreenCanvas, private readonly say: (message: FromPicture) => void, order: (order: SheetOrder) => void, origin: Projection['origin']) {
    this.painter = new Painter(canvas);
    this.sheet = new MapSheet(order);
    this.projection = new Projection(origin);
    this.after.port1.onmessage = ({ data }: MessageEvent<number>) => this.say({ kind: 'drawn', frame: data });
  }

  /** The page says something. */
  hear(message: ToPicture): void {
    switch (message.kind) {
      case 'look': this.look(message.camera, message.ratio, message.view); break;
      case 'frame': this.take(decode(message.octets)); break;
      case 'alerts': this.mark(message.alerts); break;
      case 'pin': this.pin(message.track, message.at); break;
      case 'origin': this.move(message.origin); break;
      case 'begin': throw new Error('the picture has begun');
    }
    this.ask();
  }

  /** The worker that draws the map says something. */
  hearMap(message: FromMap): void {
    if (message.kind === 'more') this.sheet.spoil();
    else if (this.sheet.take(message, this.projection.origin)) this.placement.block(message.names, message.order.metresPerPixel, this.targets);
    this.ask();
  }

  private look(camera: Camera, ratio: number, view: View): void {
    this.looked = { camera, window: windowOf(camera), view };
    this.painter.resize(camera.width, camera.height, ratio);
  }

  private take(frame: Frame): void {
    if (frame.anew) {
      this.targets.clear();
      this.known.clear();
      this.placement.clear();
      this.painter.spoil();
    }
    for (const track of frame.tracks) {
      let target = this.targets.get(track.number);
      if (target === undefined) {
        target = new Target(track, this.projection);
        this.targets.set(track.number, target);
        this.known.set(target, { target, x: 0, y: 0, stand: undefined, isInside: false, isStale: true, box: undefined, planeX: 0, planeY: 0, scale: 0 });
        target.alert = this.alerts.get(target.id) ?? 'none';
      }
      target.update(track, this.projection);
      this.change(target);
    }
    for (const number of frame.gone) this.forget(number);
    this.taken = frame.number;
  }

  private forget(number: number): void {
    const target = this.targets.get(number);
    if (target === undefined) return;
    const known = this.known.get(target);
    if (known !== undefined) this.painter.remove(known);
    this.targets.delete(number);
    this.known.delete(target);
    this.placement.remove(target);
  }

  /** It is to be drawn again and its label to be placed again, if it is on the screen. */
  private change(target: Target): void {
    const known = this.known.get(target);
    if (known === undefined) return;
    known.scale = 0;
    if (!known.isInside) return;
    known.isStale = true;
    this.placement.change(target);
  }

  private mark(alerts: ReadonlyMap<number, Alert>): void {
    for (const number of new Set([...this.alerts.keys(), ...alerts.keys()])) {
      const target = this.targets.get(number);
      const alert = alerts.get(number) ?? 'none';
      if (target === undefined || target.alert === alert) continue;
      target.alert = alert;
      target.write();
      this.change(target);
    }
    this.alerts = alerts;
  }

  private pin(number: number, at: Point | undefined): void {
    const target = this.targets.get(number);
    if (target === undefined) return;
    target.pinned = at;
    this.change(target);
  }

  private move(origin: Projection['origin']): void {
    this.projection = new Projection(origin);
    for (const target of this.targets.values()) {
      target.update(target.track, this.projection);
      this.change(target);
    }
    this.sheet.drop();
    this.placement.clear();
    this.painter.spoil();
  }

  private ask(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame((now) => {
      this.isDue = false;
      this.draw(now);
    });
  }

  /** Counts a frame that was drawn. */
  private count(now: number, isPart: boolean): void {
    this.cost.frames++;
    if (isPart) this.cost.parts++;
    const gap = Math.min(GAP_MS, Math.round(now - this.frameAt));
    this.cost.gaps[gap] = (this.cost.gaps[gap] ?? 0) + 1;
    this.frameAt = now;
  }

  private draw(now: number): void {
    if (this.looked === undefined) return;
    const { camera, window, view } = this.looked;
    const isMapRight = this.sheet.want({ camera, window, ratio: this.painter.ratio, off: view.off, origin: this.projection.origin }, performance.now());
    const clock = new Clock(this.cost);
    this.locate(window);
    this.place(window);
    clock.add('placement');
    const begin = performance.now();
    const drawn = this.painter.draw(this.shown, { window, view, sheet: this.sheet }, clock);
    this.drawMs = performance.now() - begin;
    if (drawn !== 'nothing') this.count(now, drawn === 'parts');
    if (this.taken > 0) this.after.port2.postMessage(this.taken);
    this.taken = 0;
    const isSettled = isMapRight && this.placement.isSettled(window);
    this.report(isSettled);
    if (!isSettled) this.ask();
  }

  /** Where the targets are on the screen, and which of them are. */
  private locate({ metresPerPixel, corner }: Window): void {
    const { shown } = this;
    let count = 0;
    for (const known of this.known.values()) {
      if (known.scale !== metresPerPixel) {
        const { x, y } = pixelAt(known.target.at, metresPerPixel);
        [known.planeX, known.planeY, known.scale] = [x, y, metresPerPixel];
      }
      known.x = known.planeX - corner.x;
      known.y = known.planeY - corner.y;
      const isInside = this.isNear(known) && this.isShown(known.target);
      if (isInside) shown[count++] = known;
      if (isInside !== known.isInside) this.cross(known, isInside);
    }
    shown.length = count;
  }

  private cross(known: Known, isInside: boolean): void {
    known.isInside = isInside;
    if (isInside) {
      known.isStale = true;
      this.placement.change(known.target);
    } else {
      this.painter.remove(known);
      this.placement.remove(known.target);
    }
  }

  private isNear({ x, y }: Shown): boolean {
    const { width = 0, height = 0 } = this.looked?.camera ?? {};
    return x >= -MARGIN && y >= -MARGIN && x <= width + MARGIN && y <= height + MARGIN;
  }

  private isShown(target: Target): boolean {
    const view = this.looked?.view;
    // Urgent targets are shown whatever the filter says.
    return view !== undefined && (target.urgent || target.id === view.track || target.isWithin(view.low, view.high));
  }

  private place(window: Window): void {
    const { placement } = this;
    const isZooming = window.metresPerPixel !== this.scale;
    this.scale = window.metresPerPixel;
    const budget = placement.isEmpty ? FIRST_MS : Math.max(PLACE_MS, Math.min(isZooming ? ZOOM_PLACE_MS : FRAME_MS, FRAME_MS - this.drawMs));
    placement.work(window, targetsOf(this.shown), this.targets, budget);
    for (const one of this.shown) {
      const stand = placement.stand(one.target.id);
      if (stand !== one.stand) one.isStale = true;
      one.stand = stand;
    }
  }

  /** Tells the page what is on the screen, now and then, and in the end. */
  private report(isSettled: boolean): void {
    clearTimeout(this.reportTimer);
    const wait = this.reportedAt + REPORT_MS - performance.now();
    if (wait > 0) {
      this.reportTimer = setTimeout(() => this.report(isSettled), wait);
      return;
    }
    this.reportedAt = performance.now();
    if (this.looked === undefined) return;
    const { camera: { width, height }, window } = this.looked;
    const cost: Cost = { ...this.cost, sheets: this.sheet.count, sheetMs: this.sheet.ms };
    this.say({ kind: 'report', report: { shown: numbersOf(this.shown), names: this.sheet.namesOn(window, width, height), cost, isSettled } });
  }
}

/** Asked for only where all labels are placed anew. */
function* targetsOf(shown: readonly Shown[]): Generator<Target> {
  for (const { target } of shown) yield target;
}

/** As `Report` has them. */
function numbersOf(shown: readonly Shown[]): Report['shown'] {
  const numbers = new Int32Array(REPORT_FIELDS * shown.length);
  let at = 0;
  for (const { target: { id }, x, y, stand } of shown) {
    numbers[at] = id;
    numbers[at + 1] = x;
    numbers[at + 2] = y;
    numbers[at + 3] = stand?.detail ?? HIDDEN;
    numbers[at + 4] = stand?.dx ?? 0;
    numbers[at + 5] = stand?.dy ?? 0;
    numbers[at + 6] = stand?.w ?? 0;
    numbers[at + 7] = stand?.h ?? 0;
    at += REPORT_FIELDS;
  }
  return numbers;
}

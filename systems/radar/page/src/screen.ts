// The page's side of the picture, which is drawn by a worker: what is to be drawn goes there, what is
// on the screen comes back, some twenty times a second.

import { REPORT_FIELDS, type Cost, type FromPicture, type MapTrouble, type Report, type ToMap, type ToPicture } from './draw/messages';
import { pixelAt, windowOf, type Camera, type Point } from './geometry';
import { FULL, HIDDEN, NAME, type Rect } from './labels';
import type { Chart } from './map';
import type { View } from './place';
import type { Alert, Target } from './target';
import type { Place } from './wire';

/** Told by the workers. */
export interface ScreenListener {
  /** A frame of track states is in a picture that has been handed on. */
  readonly drawn: (frame: number) => void;
  /** The picture, or a part of it, is not drawn. */
  readonly undrawn: (why: string) => void;
}

/** A label on the screen, and where it stands. */
export interface LabelOnScreen {
  readonly id: number;
  readonly detail: number;
  /** Its symbol. */
  readonly x: number;
  readonly y: number;
  /** Left, top, right, bottom; null without a label. */
  readonly rect: readonly [number, number, number, number] | null;
}

/** Pixels around a symbol that count as the symbol. */
const NEAR = 14;

export class Screen {
  private readonly worker: Worker;
  private report: Report | undefined;
  /** Where labels stand, by track: place in `report.shown`. */
  private places = new Map<number, number>();
  private camera: Camera = { centre: { x: 0, y: 0 }, metresPerPixel: 1000, width: 1, height: 1 };

  constructor(canvas: HTMLCanvasElement, chart: Chart, origin: Place, private readonly targets: ReadonlyMap<number, Target>, listener: ScreenListener) {
    this.worker = new Worker(new URL('./draw/picture-worker.ts', import.meta.url), { type: 'module', name: 'picture' });
    this.worker.onmessage = ({ data }: MessageEvent<FromPicture>) => this.hear(data, listener);
    const map = new Worker(new URL('./draw/map-worker.ts', import.meta.url), { type: 'module', name: 'map' });
    map.onmessage = ({ data }: MessageEvent<MapTrouble>) => listener.undrawn(data.broken);
    for (const one of [this.worker, map]) {
      // One that does not start has no message.
      one.onerror = (event: Partial<ErrorEvent>) => listener.undrawn(`the picture cannot be drawn: ${event.message ?? 'its worker does not start'}`);
    }
    const { port1, port2 } = new MessageChannel();
    map.postMessage({ chart, picture: port1 } satisfies ToMap, [port1]);
    const offscreen = canvas.transferControlToOffscreen();
    this.say({ kind: 'begin', canvas: offscreen, map: port2, origin }, [offscreen, port2]);
  }

  private say(message: ToPicture, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  private hear(message: FromPicture, listener: ScreenListener): void {
    switch (message.kind) {
      case 'drawn': listener.drawn(message.frame); break;
      case 'broken': listener.undrawn(message.why); break;
      case 'report':
        this.report = message.report;
        this.places = new Map();
        for (let at = 0; at < message.report.shown.length; at += REPORT_FIELDS) this.places.set(message.report.shown[at] ?? 0, at);
    }
  }

  look(camera: Camera, view: View): void {
    this.camera = camera;
    this.say({ kind: 'look', camera, ratio: devicePixelRatio, view });
  }

  /** The plane has another origin; what is looked at has to be said again. */
  move(origin: Place): void {
    this.say({ kind: 'origin', origin });
  }

  /** Takes track states; the octets are gone afterwards. */
  take(octets: ArrayBuffer): void {
    this.say({ kind: 'frame', octets }, [octets]);
  }

  alert(alerts: ReadonlyMap<number, Alert>): void {
    this.say({ kind: 'alerts', alerts });
  }

  /** Puts a label somewhere, seen from its symbol; undefined: where there is room. */
  pin(track: number, at: Point | undefined): void {
    this.say({ kind: 'pin', track, at });
  }

  /** The pixel of a target's symbol. */
  symbolOf(target: Target): Point {
    const { metresPerPixel, corner } = windowOf(this.camera);
    const { x, y } = pixelAt(target.at, metresPerPixel);
    return { x: x - corner.x, y: y - corner.y };
  }

  /** The target nearest to a place on the screen, within some pixels of its symbol or on its label. */
  targetAt(point: Point): Target | undefined {
    let nearest: Target | undefined;
    let least = NEAR;
    for (const id of this.places.keys()) {
      const target = this.targets.get(id);
      if (target === undefined) continue;
      const { x, y } = this.symbolOf(target);
      const distance = Math.hypot(x - point.x, y - point.y);
      if (distance < least) [nearest, least] = [target, distance];
    }
    return nearest ?? this.labelAt(point);
  }

  /** The target whose label is at a place on the screen. */
  labelAt({ x, y }: Point): Target | undefined {
    for (const [id, place] of this.places) {
      const target = this.targets.get(id);
      const offset = target === undefined ? undefined : this.labelOffset(target);
      if (target === undefined || offset === undefined) continue;
      const symbol = this.symbolOf(target);
      const [across, down] = [x - symbol.x - offset.x, y - symbol.y - offset.y];
      if (across >= 0 && down >= 0 && across < this.field(place, 6) && down < this.field(place, 7)) return target;
    }
    return undefined;
  }

  /** Where the label of a target stands, seen from its symbol. */
  labelOffset({ id }: Target): Point | undefined {
    const place = this.places.get(id);
    if (place === undefined || this.field(place, 3) === HIDDEN) return undefined;
    return { x: this.field(place, 4), y: this.field(place, 5) };
  }

  /** A number of the report: see `Report.shown`. */
  private field(place: number, index: number): number {
    return this.report?.shown[place + index] ?? 0;
  }

  /** All labels as they stood in the last report. */
  labels(): LabelOnScreen[] {
    return [...this.places].map(([id, place]) => {
      const [x = 0, y = 0, detail = 0, dx = 0, dy = 0, w = 0, h = 0] = [1, 2, 3, 4, 5, 6, 7].map((index) => this.field(place, index));
      return { id, detail, x, y, rect: detail === HIDDEN ? null : [x + dx, y + dy, x + dx + w, y + dy + h] };
    });
  }

  /** Labels with less than all lines, those of them without the level, and those that are not shown. */
  reduced(): { readonly short: number; readonly named: number; readonly hidden: number } {
    let [short, named, hidden] = [0, 0, 0];
    for (const place of this.places.values()) {
      const detail = this.field(place, 3);
      if (detail === HIDDEN) hidden++;
      else if (detail !== FULL) short++;
      if (detail === NAME) named++;
    }
    return { short, named, hidden };
  }

  /** Count of targets on the screen. */
  get visibleCount(): number {
    return this.places.size;
  }

  /** What frames have cost; undefined before the first. */
  get cost(): Cost | undefined {
    return this.report?.cost;
  }

  /** Whether all labels are placed and the map is drawn, as of the last report. */
  get isSettled(): boolean {
    return this.report?.isSettled === true;
  }

  /** Names of the map on the screen. */
  mapNames(): readonly Rect[] {
    return this.report?.names ?? [];
  }
}

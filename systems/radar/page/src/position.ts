// The working position: tracks in, picture out, and what the reader chose.

import { signal, type Signal } from '@preact/signals';
import { Connection } from './connection';
import { extentOf, METRES_PER_NM, Projection, rangeAndBearing, toPlane, toScreen, zoom, type Camera, type Point } from './geometry';
import { alertsOf, linkOf, type Link } from './link';
import type { Chart } from './map';
import { read, write, type View } from './place';
import { Presented } from './presented';
import { Screen } from './screen';
import { Target, type Alert } from './target';
import type { Frame, Place, Status } from './wire';

/** A range-bearing line: where it begins, and where it ends once that is said. */
export interface Rbl {
  readonly from: Place;
  readonly to: Place;
  /** Whether the line still follows the pointer or the arrow keys. */
  readonly open: boolean;
}

/** The plane gets another origin when what is looked at is farther from it than this, NM. */
const ORIGIN_NM = 500;
/** Height of the picture in which all tracks are seen, in NM: at least, and at most. */
const ALL_NM = [20, 5000] as const;
/** The URL is written once the picture has rested for this time, ms: browsers refuse a flood of changes. */
const URL_AFTER_MS = 300;

export class Position {
  readonly targets = new Map<number, Target>();
  readonly view: Signal<View>;
  readonly status = signal<Status | undefined>(undefined);
  readonly link = signal<Link>('lost');
  /** When the last status came, by `performance.now`. */
  statusAt = 0;
  /** Why the last message of the process was not understood. */
  readonly broken = signal('');
  /** Why the picture, or a part of it, is not drawn; empty while it is. */
  readonly undrawn = signal('');
  readonly rbl = signal<Rbl | undefined>(undefined);
  /** The arrows' place on the screen, while a range-bearing line is drawn by keys. */
  readonly cursor = signal<Point | undefined>(undefined);
  /** Counts of labels and frames, updated once a second; -1 before that. */
  readonly counts = signal({ shown: -1, short: 0, named: 0, hidden: 0, framesPerSecond: 0 });
  /** Raised when the selected target, or its place on the screen, may have changed. */
  readonly moved = signal(0);
  readonly screen: Screen;
  projection: Projection;
  first: View;
  /** Whether tracks may be looked for, once, because nobody has said where to look. */
  private mayLook: boolean;
  private readonly connection: Connection;
  private readonly presented: Presented;
  /** By how many ms the last frame measured was presented after its acknowledgement. */
  readonly later = signal<number | undefined>(undefined);
  private due = false;
  private urlTimer: ReturnType<typeof setTimeout> | undefined;
  /** What is alerted, by track. */
  private alerts: ReadonlyMap<number, Alert> = new Map();
  /** The target whose menu is open, and where. */
  readonly menu = signal<{ readonly track: number; readonly at: Point } | undefined>(undefined);
  private frames = 0;
  camera: Camera;

  constructor(private readonly canvas: HTMLCanvasElement, probe: HTMLElement, readonly chart: Chart) {
    const [lat, lon] = chart.centre;
    this.first = { centre: { lat, lon }, height: chart.height_nm, vector: 1, dots: 6, low: 0, high: 999, off: [], track: null };
    this.view = signal(read(location.search, this.first));
    this.projection = new Projection({ lat, lon });
    this.camera = { centre: { x: 0, y: 0 }, metresPerPixel: 1, width: 1, height: 1 };
    const asked = new URLSearchParams(location.search);
    this.mayLook = !chart.centre_is_given && !asked.has('lat') && !asked.has('lon');
    this.presented = new Presented(probe, (ms) => {
      this.later.value = ms;
      this.connection.presentedLater(ms);
    });
    this.screen = new Screen(canvas, chart, this.projection.origin, this.targets, {
      drawn: (frame) => {
        this.connection.acknowledge(frame);
        this.presented.measure();
      },
      undrawn: (why) => { this.undrawn.value = why; },
    });
    this.aim();
    addEventListener('popstate', () => {
      this.view.value = read(location.search, this.first);
      this.aim();
    });
    new ResizeObserver(() => this.aim()).observe(canvas);
    setInterval(() => {
      const frames = this.screen.cost?.frames ?? 0;
      this.counts.value = { shown: this.screen.visibleCount, ...this.screen.reduced(), framesPerSecond: frames - this.frames };
      this.frames = frames;
    }, 1000);
    this.connection = new Connection({
      frame: (frame, octets) => this.take(frame, octets),
      status: (status) => this.hear(status),
      there: (there) => { this.link.value = there ? 'quiet' : 'lost'; },
      quiet: () => { this.link.value = 'quiet'; },
      broken: (why) => { this.broken.value = why; },
    });
  }

  /** Lays the plane at another place: far from its origin lengths are not true. */
  private touch(origin: Place): void {
    this.projection = new Projection(origin);
    for (const target of this.targets.values()) target.update(target.track, this.projection);
    this.screen.move(origin);
  }

  /** Shows all tracks, wherever they are; false when there is none. */
  showAll(): boolean {
    const extent = extentOf([...this.targets.values()].map((target) => target.track.at));
    if (extent === undefined) return false;
    const { centre, nm } = extent;
    if (rangeAndBearing(centre, this.projection.origin).nm > ORIGIN_NM) this.touch(centre);
    this.choose({ centre, height: Math.min(ALL_NM[1], Math.max(ALL_NM[0], 2.2 * nm)) });
    return true;
  }

  /** Looks for the tracks when the first ones are not where nobody said to look. */
  private look(): void {
    if (!this.mayLook || this.targets.size === 0) return;
    this.mayLook = false;
    if (this.onScreen().length > 0 || !this.showAll()) return;
    this.first = { ...this.first, centre: this.view.value.centre, height: this.view.value.height };
  }

  /** The camera that the view asks for, on the screen as it is. */
  private aim(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const view = this.view.value;
    const metresPerPixel = (view.height * METRES_PER_NM) / Math.max(1, height);
    this.camera = { centre: this.projection.project(view.centre), metresPerPixel, width: Math.max(1, width), height: Math.max(1, height) };
    this.screen.look(this.camera, view);
    this.moved.value++;
  }

  /** Another choice; the URL follows. */
  choose(change: Partial<View>): void {
    this.view.value = { ...this.view.value, ...change };
    this.aim();
    this.keep();
  }

  private keep(): void {
    clearTimeout(this.urlTimer);
    this.urlTimer = setTimeout(() => {
      history.replaceState(null, '', `${location.pathname}${write(this.view.value, this.first)}`);
    }, URL_AFTER_MS);
  }

  /** Moves what is shown, by pixels. */
  pan(right: number, down: number): void {
    const { x, y } = this.camera.centre;
    const by = this.camera.metresPerPixel;
    this.choose({ centre: this.projection.unproject({ x: x + right * by, y: y - down * by }) });
  }

  /** Shows `factor` times as much, around a place on the screen. */
  zoomBy(factor: number, around: Point = { x: this.camera.width / 2, y: this.camera.height / 2 }): void {
    const camera = zoom(this.camera, factor, around);
    this.choose({ centre: this.projection.unproject(camera.centre), height: (camera.metresPerPixel * camera.height) / METRES_PER_NM });
  }

  placeAt(point: Point): Place {
    return this.projection.unproject(toPlane(this.camera, point));
  }

  pointOf(place: Place): Point {
    return toScreen(this.camera, this.projection.project(place));
  }

  /** The targets on the screen, from the left. */
  onScreen(): Target[] {
    const { width, height } = this.camera;
    const inside = ({ x, y }: Point) => x >= 0 && y >= 0 && x < width && y < height;
    return [...this.targets.values()].filter((target) => inside(toScreen(this.camera, target.at))).sort((a, b) => a.at.x - b.at.x || a.id - b.id);
  }

  get selected(): Target | undefined {
    const { track } = this.view.value;
    return track === null ? undefined : this.targets.get(track);
  }

  select(track: number | null): void {
    this.view.value = { ...this.view.value, track };
    this.screen.look(this.camera, this.view.value);
    this.moved.value++;
    this.keep();
  }

  /** Puts a label where the reader wants it, seen from its symbol; without a place it is placed again. */
  pin(target: Target, at: Point | undefined): void {
    target.pinned = at === undefined ? undefined : { x: Math.round(at.x), y: Math.round(at.y) };
    this.screen.pin(target.id, target.pinned);
  }

  /** Opens the menu of the selected target, or of the one that is meant. */
  openMenu(target: Target | undefined = this.selected, at?: Point): void {
    if (target === undefined) return;
    this.select(target.id);
    this.menu.value = { track: target.id, at: at ?? toScreen(this.camera, target.at) };
  }

  /** Looks for a callsign, a code or a number, shows it in the middle; false when there is none. */
  find(words: string): boolean {
    const wanted = words.trim().toUpperCase();
    const found = [...this.targets.values()].find((target) => target.text[0]?.split(' ')[0]?.toUpperCase().includes(wanted) ?? false);
    if (found === undefined || wanted === '') return false;
    this.choose({ track: found.id, centre: found.track.at });
    return true;
  }

  /** Range and bearing of the line that is drawn. */
  measured(): { readonly nm: number; readonly bearing: number } | undefined {
    const line = this.rbl.value;
    return line === undefined ? undefined : rangeAndBearing(line.from, line.to);
  }

  private take(frame: Frame, octets: ArrayBuffer): void {
    this.broken.value = '';
    if (frame.anew) this.targets.clear();
    for (const track of frame.tracks) {
      let target = this.targets.get(track.number);
      if (target === undefined) {
        target = new Target(track, this.projection);
        this.targets.set(track.number, target);
      } else {
        target.update(track, this.projection);
      }
      this.mark(target);
    }
    for (const number of frame.gone) this.targets.delete(number);
    this.screen.take(octets);
    this.look();
    this.ask();
  }

  private mark(target: Target): void {
    const alert = this.alerts.get(target.id) ?? 'none';
    if (alert === target.alert) return;
    target.alert = alert;
    target.write();
  }

  private hear(status: Status): void {
    this.status.value = status;
    this.statusAt = performance.now();
    this.link.value = linkOf(status);
    const before = this.alerts;
    this.alerts = alertsOf(status);
    for (const number of [...before.keys(), ...this.alerts.keys()]) {
      const target = this.targets.get(number);
      if (target !== undefined) this.mark(target);
    }
    this.screen.alert(this.alerts);
  }

  /** What lies over the picture is to be drawn again: once in a frame. */
  private ask(): void {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.moved.value++;
    });
  }
}

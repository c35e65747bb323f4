// Places the labels, some in each frame: all of 3000 take longer than a frame has time.
//
// Labels are placed in pixels of the plane at one scale, so that moving the picture changes nothing.
// At another scale all are placed again in a second field, while those of the first go on to stand
// where they stood, seen from their symbols; when all are placed the second takes the place of the first.

import { pixelAt, type Point, type Window } from '../geometry';
import { LabelField, type Labelled, type Rect, type Stand } from '../labels';
import type { Target } from '../target';

/** Farther than this from where its coordinates begin a field is made anew, pixels: its cells are numbered
 * in 16 bits. */
const FAR = 1_000_000;
/** The clock is read after so many labels. */
const BATCH = 8;

/** Labels placed at one scale. */
class Layout {
  readonly field = new LabelField();
  readonly labels = new Map<number, Labelled>();

  constructor(readonly metresPerPixel: number, readonly base: Point) {}

  fits({ metresPerPixel, corner }: Window): boolean {
    return metresPerPixel === this.metresPerPixel && Math.abs(corner.x - this.base.x) < FAR && Math.abs(corner.y - this.base.y) < FAR;
  }

  place(target: Target, before: Labelled | undefined): void {
    const at = pixelAt(target.at, this.metresPerPixel);
    const { id, full, short, tiny, name, urgent, pinned } = target;
    const label = {
      id, full, short, tiny, name, urgent, pinned, x: at.x - this.base.x, y: at.y - this.base.y, place: before?.place ?? 0, detail: before?.detail ?? 0,
    };
    this.labels.set(id, label);
    this.field.set(label);
  }

  remove(id: number): void {
    this.labels.delete(id);
    this.field.remove(id);
  }

  /** Names of the map, in pixels of the plane. */
  block(names: readonly Rect[]): void {
    const { x, y } = this.base;
    this.field.block(names.map((name) => ({ x0: name.x0 - x, y0: name.y0 - y, x1: name.x1 - x, y1: name.y1 - y })));
  }
}

export class Placement {
  /** In force. */
  private layout: Layout | undefined;
  /** Being made, and those whose labels it does not have yet. */
  private next: { readonly layout: Layout; readonly left: Target[] } | undefined;
  /** Those whose labels have to be placed again. */
  private readonly changed = new Set<Target>();
  private names: { readonly metresPerPixel: number; readonly rects: readonly Rect[] } | undefined;

  /** A target is new on the screen, or it has changed. */
  change(target: Target): void {
    this.changed.add(target);
  }

  /** A target is not on the screen any more. */
  remove(target: Target): void {
    this.changed.delete(target);
    this.layout?.remove(target.id);
    if (this.next === undefined) return;
    this.next.layout.remove(target.id);
    const at = this.next.left.indexOf(target);
    if (at >= 0) this.next.left.splice(at, 1);
  }

  clear(): void {
    this.layout = undefined;
    this.next = undefined;
    this.changed.clear();
  }

  /** Names of the map, where no label may stand, in pixels of the plane at a scale. Labels that do are
   * placed again. */
  block(names: readonly Rect[], metresPerPixel: number, targets: ReadonlyMap<number, Target>): void {
    this.names = { metresPerPixel, rects: names };
    if (this.layout?.metresPerPixel === metresPerPixel) this.avoid(this.layout, targets);
    // The next one avoids them when it takes its place.
  }

  private avoid(layout: Layout, targets: ReadonlyMap<number, Target>): void {
    if (this.names?.metresPerPixel !== layout.metresPerPixel) return;
    layout.block(this.names.rects);
    for (const id of layout.labels.keys()) {
      const target = layout.field.isOnName(id) ? targets.get(id) : undefined;
      if (target !== undefined) this.changed.add(target);
    }
  }

  /** Whether no label has been placed yet. */
  get isEmpty(): boolean {
    return this.layout === undefined;
  }

  /** Whether nothing is left to be placed for what is looked at. */
  isSettled(window: Window): boolean {
    return this.next === undefined && this.changed.size === 0 && this.layout?.fits(window) === true;
  }

  /** Places labels for `budgetMs`. `shown`: all targets on the screen; `targets`: all. Returns whether a
   * label stands elsewhere now. */
  work(window: Window, shown: Iterable<Target>, targets: ReadonlyMap<number, Target>, budgetMs: number): boolean {
    if (this.isSettled(window)) return false;
    const until = performance.now() + budgetMs;
    if (this.next === undefined && this.layout?.fits(window) !== true) this.begin(window, shown);
    if (this.next === undefined) return this.again(until);
    const { layout, left } = this.next;
    if (!this.run(left, until, (target) => layout.place(target, this.layout?.labels.get(target.id)))) return false;
    this.layout = layout;
    this.next = undefined;
    this.avoid(layout, targets);
    return true;
  }

  private begin(window: Window, shown: Iterable<Target>): void {
    const layout = new Layout(window.metresPerPixel, window.corner);
    if (this.names?.metresPerPixel === layout.metresPerPixel) layout.block(this.names.rects);
    const all = [...shown];
    // From the end: the urgent first, so that nobody has to give way.
    this.next = { layout, left: [...all.filter(({ urgent }) => !urgent), ...all.filter(({ urgent }) => urgent)] };
    this.changed.clear();
  }

  /** Places those again that have changed. */
  private again(until: number): boolean {
    const { layout } = this;
    if (layout === undefined) return false;
    const left = [...this.changed].reverse();
    const count = left.length;
    this.run(left, until, (target) => {
      this.changed.delete(target);
      layout.place(target, layout.labels.get(target.id));
    });
    return left.length < count;
  }

  /** Takes targets from the end until the time is over; true when none is left. */
  private run(left: Target[], until: number, place: (target: Target) => void): boolean {
    for (let count = 1; left.length > 0; count++) {
      const target = left.pop();
      if (target !== undefined) place(target);
      if (count % BATCH === 0 && performance.now() >= until) break;
    }
    return left.length === 0;
  }

  /** Where the label of a target stands; undefined when it has none. The same object as long as nothing has
   * changed. */
  stand(id: number): Stand | undefined {
    return this.layout?.field.stand(id);
  }
}

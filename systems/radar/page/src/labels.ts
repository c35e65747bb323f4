// Places labels so that no two overlap. A label without room for all its lines is cut to its first
// line, and one without room for that is hidden; the picture marks both.
//
// Each label is placed when its target moves, against those that stand: a grid finds them, so that
// the cost of a target is that of its neighbours and not of the sky. A label that can stay where it
// is, seen from its symbol, stays: one that jumps cannot be read. An urgent one takes the room of
// others, which then look for another.

/** Amount of a label that is shown: none, its first line, or all lines. */
export const HIDDEN = 0;
export const SHORT = 1;
export const FULL = 2;
export type Detail = typeof HIDDEN | typeof SHORT | typeof FULL;

/** An object with a label. All sizes are in pixels; positions are whole pixels. */
export interface Labelled {
  readonly id: number;
  /** Position of its symbol. */
  x: number;
  y: number;
  /** Size with all lines, and with the first only. */
  full: { readonly w: number; readonly h: number };
  short: { readonly w: number; readonly h: number };
  /** Its label has priority over all labels that are not urgent. */
  urgent: boolean;
  /** Index of its label's place, in [0, `PLACES`); set by the field. */
  place: number;
  detail: Detail;
}

export interface Rect {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** Places around a symbol: eight near, eight farther away. */
export const PLACES = 16;
const NEAR = 9;
const FAR = 26;
/** Symbols of others that a label may cover: one may cover two, not a whole crowd of them. */
const COVERED_MAX = 2;
/** Half of what a symbol covers. */
const SYMBOL = 5;
const CELL_SHIFT = 6;
const ROW = 1 << 16;

export function overlaps(a: Rect, b: Rect): boolean {
  return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

/** The label's rectangle, were it at `place` with `detail`, which is not HIDDEN. */
export function rectAt(of: Labelled, place: number, detail: Detail): Rect {
  const { w, h } = detail === FULL ? of.full : of.short;
  const gap = place < 8 ? NEAR : FAR;
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

/** A target as the field has it. */
interface Entry {
  readonly of: Labelled;
  rect: Rect | undefined;
  symbol: Rect;
}

/** All labels of a screen. */
export class LabelField {
  private readonly entries = new Map<number, Entry>();
  private readonly cells = new Map<number, Set<Entry>>();

  /** Forgets all. */
  clear(): void {
    this.entries.clear();
    this.cells.clear();
  }

  /** Everything is elsewhere on the screen, in whole pixels; the owner moves what has labels. */
  shift(right: number, down: number): void {
    const moved = ({ x0, y0, x1, y1 }: Rect): Rect => ({ x0: x0 + right, y0: y0 + down, x1: x1 + right, y1: y1 + down });
    this.cells.clear();
    for (const entry of this.entries.values()) {
      entry.symbol = moved(entry.symbol);
      if (entry.rect !== undefined) entry.rect = moved(entry.rect);
      this.list(entry);
    }
  }

  /** The rectangle of a label; undefined while it is hidden. */
  rect(id: number): Rect | undefined {
    return this.entries.get(id)?.rect;
  }

  /** Takes a target away. */
  remove(id: number): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    this.unlist(entry);
    this.entries.delete(id);
  }

  /** A target is new or has moved: places its label. Returns others whose labels gave way. */
  set(of: Labelled): Labelled[] {
    this.remove(of.id);
    const entry: Entry = { of, rect: undefined, symbol: { x0: of.x - SYMBOL, y0: of.y - SYMBOL, x1: of.x + SYMBOL, y1: of.y + SYMBOL } };
    this.entries.set(of.id, entry);
    const gaveWay = this.find(entry);
    this.list(entry);
    for (const other of gaveWay) this.again(other);
    return gaveWay.map((other) => other.of);
  }

  /** Another place for one that gave way; being ordinary, it moves nobody. */
  private again(entry: Entry): void {
    this.unlist(entry);
    this.find(entry);
    this.list(entry);
  }

  /** Chooses place and detail; returns those who stand in the way of an urgent one. */
  private find(entry: Entry): Entry[] {
    const { of } = entry;
    const details: readonly Detail[] = [FULL, SHORT];
    for (const detail of details) {
      // The current place is tried first and may cover one symbol: a label that jumps cannot be read.
      let best = -1;
      let least = Infinity;
      for (let turn = 0; turn < PLACES; turn++) {
        const place = (of.place + turn) % PLACES;
        const rect = rectAt(of, place, detail);
        const covered = this.covered(rect, entry);
        if (covered < 0) continue;
        const cost = covered * 3 + (turn === 0 ? 0 : 1) + (place < 8 ? 0 : 1);
        if (cost < least) {
          [best, least] = [place, cost];
          if (cost <= (turn === 0 ? 3 : 2)) break;
        }
      }
      if (best >= 0) {
        [of.place, of.detail] = [best, detail];
        entry.rect = rectAt(of, best, detail);
        return [];
      }
    }
    if (of.urgent) return this.force(entry);
    of.detail = HIDDEN;
    entry.rect = undefined;
    return [];
  }

  /** Takes the room of ordinary labels, where the fewest stand and no urgent one does. */
  private force(entry: Entry): Entry[] {
    const { of } = entry;
    for (const detail of [FULL, SHORT] as const) {
      let best = -1;
      let inTheWay: Entry[] | undefined;
      for (let place = 0; place < PLACES && inTheWay?.length !== 1; place++) {
        const found = this.ordinaryIn(rectAt(of, place, detail), entry);
        if (found === undefined) continue;
        if (inTheWay === undefined || found.length < inTheWay.length) [best, inTheWay] = [place, found];
      }
      if (inTheWay !== undefined) {
        [of.place, of.detail] = [best, detail];
        entry.rect = rectAt(of, best, detail);
        for (const other of inTheWay) {
          this.unlist(other);
          other.rect = undefined;
          other.of.detail = HIDDEN;
          this.list(other);
        }
        return inTheWay;
      }
    }
    of.detail = HIDDEN;
    entry.rect = undefined;
    return [];
  }

  /** Symbols of others that a rectangle covers; -1 when they are too many, or it touches a label. */
  private covered(rect: Rect, self: Entry): number {
    let symbols = 0;
    const [left, top] = [rect.x0 >> CELL_SHIFT, rect.y0 >> CELL_SHIFT];
    for (let y = top; y <= (rect.y1 - 1) >> CELL_SHIFT; y++) {
      for (let x = left; x <= (rect.x1 - 1) >> CELL_SHIFT; x++) {
        const cell = this.cells.get(y * ROW + x);
        if (cell === undefined) continue;
        for (const other of cell) {
          if (other === self) continue;
          if (other.rect !== undefined && overlaps(other.rect, rect)) return -1;
          const { symbol } = other;
          if (!overlaps(symbol, rect)) continue;
          // One that lies in several cells counts in the first of them.
          const isFirst = x === Math.max(left, symbol.x0 >> CELL_SHIFT) && y === Math.max(top, symbol.y0 >> CELL_SHIFT);
          if (isFirst && ++symbols > COVERED_MAX) return -1;
        }
      }
    }
    return symbols;
  }

  /** Labels that a rectangle touches; undefined when one of them is urgent. */
  private ordinaryIn(rect: Rect, self: Entry): Entry[] | undefined {
    const found = new Set<Entry>();
    for (let y = rect.y0 >> CELL_SHIFT; y <= (rect.y1 - 1) >> CELL_SHIFT; y++) {
      for (let x = rect.x0 >> CELL_SHIFT; x <= (rect.x1 - 1) >> CELL_SHIFT; x++) {
        for (const other of this.cells.get(y * ROW + x) ?? []) {
          if (other === self || other.rect === undefined || !overlaps(other.rect, rect)) continue;
          if (other.of.urgent) return undefined;
          found.add(other);
        }
      }
    }
    return [...found];
  }

  private list(entry: Entry): void {
    this.each(entry, (key) => {
      const cell = this.cells.get(key);
      if (cell === undefined) this.cells.set(key, new Set([entry]));
      else cell.add(entry);
    });
  }

  private unlist(entry: Entry): void {
    this.each(entry, (key) => {
      const cell = this.cells.get(key);
      if (cell?.delete(entry) === true && cell.size === 0) this.cells.delete(key);
    });
  }

  private each(entry: Entry, see: (key: number) => void): void {
    cellsOf(entry.symbol).forEach(see);
    if (entry.rect !== undefined) cellsOf(entry.rect).forEach(see);
  }
}

/** The cells that a rectangle touches. */
function cellsOf(rect: Rect): number[] {
  const keys: number[] = [];
  for (let y = rect.y0 >> CELL_SHIFT; y <= (rect.y1 - 1) >> CELL_SHIFT; y++) {
    for (let x = rect.x0 >> CELL_SHIFT; x <= (rect.x1 - 1) >> CELL_SHIFT; x++) keys.push(y * ROW + x);
  }
  return keys;
}

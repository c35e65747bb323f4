// A grid by which labels, symbols and names of the map are found by where they are, so that the cost of
// a target is that of its neighbours and not of the sky.

import { overlaps, TINY, type Detail, type Labelled, type Rect, type Stand } from './label-places';

const CELL_SHIFT = 6;
const ROW = 1 << 16;
/** Symbols of others that a label may cover: two, not a whole crowd of them; … */
const COVERED_MAX = 2;
/** … but for small letters, without which nothing would be said. */
const COVERED_BY_TINY_MAX = 4;

/** A target as the field has it. */
export interface Entry {
  readonly of: Labelled;
  rect: Rect | undefined;
  /** As asked for last; of another rectangle, it is out of date. */
  stand: Stand | undefined;
  symbol: Rect;
}

export class LabelGrid {
  private readonly cells = new Map<number, Set<Entry>>();
  private readonly blocked = new Map<number, Rect[]>();

  clear(): void {
    this.cells.clear();
  }

  /** No label may stand there: names of the map. They replace those before. */
  block(rects: readonly Rect[]): void {
    this.blocked.clear();
    for (const rect of rects) {
      eachCell(rect, (key) => {
        const cell = this.blocked.get(key);
        if (cell === undefined) this.blocked.set(key, [rect]);
        else cell.push(rect);
      });
    }
  }

  list(entry: Entry): void {
    const add = (key: number) => {
      const cell = this.cells.get(key);
      if (cell === undefined) this.cells.set(key, new Set([entry]));
      else cell.add(entry);
    };
    eachCell(entry.symbol, add);
    if (entry.rect !== undefined) eachCell(entry.rect, add);
  }

  unlist(entry: Entry): void {
    const take = (key: number) => {
      const cell = this.cells.get(key);
      if (cell?.delete(entry) === true && cell.size === 0) this.cells.delete(key);
    };
    eachCell(entry.symbol, take);
    if (entry.rect !== undefined) eachCell(entry.rect, take);
  }

  /** Whether a rectangle touches a name of the map. */
  isBlocked(rect: Rect): boolean {
    if (this.blocked.size === 0) return false;
    for (let y = rect.y0 >> CELL_SHIFT; y <= (rect.y1 - 1) >> CELL_SHIFT; y++) {
      for (let x = rect.x0 >> CELL_SHIFT; x <= (rect.x1 - 1) >> CELL_SHIFT; x++) {
        if (this.blocked.get(y * ROW + x)?.some((name) => overlaps(name, rect)) === true) return true;
      }
    }
    return false;
  }

  /** Symbols of others that a rectangle covers; -1 when they are too many, or it touches a name of the
   * map, or a label that is not to give way. */
  covered(rect: Rect, detail: Detail, self: Entry, givingWay: readonly Entry[] = []): number {
    const most = detail <= TINY ? COVERED_BY_TINY_MAX : COVERED_MAX;
    let symbols = 0;
    const [left, top] = [rect.x0 >> CELL_SHIFT, rect.y0 >> CELL_SHIFT];
    for (let y = top; y <= (rect.y1 - 1) >> CELL_SHIFT; y++) {
      for (let x = left; x <= (rect.x1 - 1) >> CELL_SHIFT; x++) {
        const cell = this.cells.get(y * ROW + x);
        if (cell === undefined) continue;
        for (const other of cell) {
          if (other === self) continue;
          if (other.rect !== undefined && overlaps(other.rect, rect) && !givingWay.includes(other)) return -1;
          const { symbol } = other;
          if (!overlaps(symbol, rect)) continue;
          // One that lies in several cells counts in the first of them.
          const isFirst = x === Math.max(left, symbol.x0 >> CELL_SHIFT) && y === Math.max(top, symbol.y0 >> CELL_SHIFT);
          if (isFirst && ++symbols > most) return -1;
        }
      }
    }
    return this.isBlocked(rect) ? -1 : symbols;
  }

  /** Others whose labels a rectangle touches; undefined when one of them may not give way. */
  inTheWay(rect: Rect, self: Entry, mayGive: (other: Entry) => boolean): Entry[] | undefined {
    const found = new Set<Entry>();
    for (let y = rect.y0 >> CELL_SHIFT; y <= (rect.y1 - 1) >> CELL_SHIFT; y++) {
      for (let x = rect.x0 >> CELL_SHIFT; x <= (rect.x1 - 1) >> CELL_SHIFT; x++) {
        for (const other of this.cells.get(y * ROW + x) ?? []) {
          if (other === self || other.rect === undefined || !overlaps(other.rect, rect)) continue;
          if (!mayGive(other)) return undefined;
          found.add(other);
        }
      }
    }
    return [...found];
  }
}

/** Calls `see` with each cell that a rectangle touches. */
function eachCell(rect: Rect, see: (key: number) => void): void {
  for (let y = rect.y0 >> CELL_SHIFT; y <= (rect.y1 - 1) >> CELL_SHIFT; y++) {
    for (let x = rect.x0 >> CELL_SHIFT; x <= (rect.x1 - 1) >> CELL_SHIFT; x++) see(y * ROW + x);
  }
}

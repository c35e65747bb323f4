// Places labels so that no two overlap and none covers a name of the map. A label without room for all
// its lines is cut to its first line and the level, then that is written in small letters, then the level is
// left out, and one without room for this is hidden; the picture marks all of that.
//
// Each label is placed when its target moves, against those that stand. A label that can stay where it
// is, seen from its symbol, stays: one that jumps cannot be read. One without room for name and level takes some of
// those that have more than that; an urgent one, and one that the reader has put somewhere,
// takes the room of others, which then look for another.

import { LabelGrid, type Entry } from './label-grid';
import {
  FULL, HIDDEN, NAME, NEAR_PLACES, pinnedRect, PLACES, rectAt, ringOf, SHORT, TINY, type Detail, type Labelled, type Rect, type Stand,
} from './label-places';

export { FULL, HIDDEN, NAME, overlaps, SHORT, TINY, type Detail, type Labelled, type Rect, type Stand } from './label-places';

/** Half of what a symbol covers. */
const SYMBOL = 5;
/** With more labels than this the farther places are not tried: the search would take longer than a frame. */
const MANY = 1200;

/** Labels that are tried elsewhere for the sake of one without a place. */
const SWAPS_MAX = 8;

/** Details that say the level, the largest first. */
const WITH_LEVEL = [FULL, SHORT, TINY] as const;

const mayGive = (other: Entry) => !other.of.urgent && other.of.pinned === undefined;

/** All labels of a screen. */
export class LabelField {
  private readonly entries = new Map<number, Entry>();
  private readonly grid = new LabelGrid();

  /** Forgets all but the names of the map. */
  clear(): void {
    this.entries.clear();
    this.grid.clear();
  }

  /** Names of the map, where no label may stand; labels that do are moved when their targets are. */
  block(rects: readonly Rect[]): void {
    this.grid.block(rects);
  }

  /** The rectangle of a label; undefined while it is hidden. */
  rect(id: number): Rect | undefined {
    return this.entries.get(id)?.rect;
  }

  /** Where a label stands, seen from its symbol; undefined while it is hidden. The same object as long as nothing
   * has changed. */
  stand(id: number): Stand | undefined {
    const entry = this.entries.get(id);
    if (entry?.rect === undefined) return undefined;
    const { of, rect } = entry;
    if (entry.stand?.rect !== rect) {
      entry.stand = { rect, dx: rect.x0 - of.x, dy: rect.y0 - of.y, w: rect.x1 - rect.x0, h: rect.y1 - rect.y0, detail: of.detail };
    }
    return entry.stand;
  }

  /** Whether a label stands on a name of the map: on one that came after it. */
  isOnName(id: number): boolean {
    const rect = this.rect(id);
    return rect !== undefined && this.grid.isBlocked(rect);
  }

  /** Takes a target away. */
  remove(id: number): void {
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    this.grid.unlist(entry);
    this.entries.delete(id);
  }

  /** A target is new or has moved: places its label. Returns others whose labels gave way. */
  set(of: Labelled): Labelled[] {
    this.remove(of.id);
    const entry: Entry = { of, rect: undefined, stand: undefined, symbol: { x0: of.x - SYMBOL, y0: of.y - SYMBOL, x1: of.x + SYMBOL, y1: of.y + SYMBOL } };
    this.entries.set(of.id, entry);
    const gaveWay = this.find(entry);
    this.grid.list(entry);
    // Those that became smaller have their place; those that lost it look for another.
    for (const other of gaveWay) if (other.rect === undefined) this.again(other);
    return gaveWay.map((other) => other.of);
  }

  /** Another place for one that gave way; being ordinary, it takes nobody's. */
  private again(entry: Entry): void {
    this.grid.unlist(entry);
    if (!this.findFree(entry)) hide(entry);
    this.grid.list(entry);
  }

  /** Chooses place and detail; returns those who gave way to it. */
  private find(entry: Entry): Entry[] {
    const { of } = entry;
    if (of.pinned !== undefined) {
      const gaveWay = this.pin(entry);
      if (gaveWay !== undefined) return gaveWay;
    }
    if (of.urgent) {
      if (this.findFree(entry, [FULL])) return [];
      const gaveWay = this.force(entry);
      if (gaveWay !== undefined) return gaveWay;
    }
    if (this.findFree(entry, WITH_LEVEL)) return [];
    const forLevel = this.squeeze(entry, TINY) ?? this.swap(entry, TINY);
    if (forLevel !== undefined) return forLevel;
    if (this.findFree(entry, [NAME])) return [];
    const forName = this.squeeze(entry, NAME) ?? this.swap(entry, NAME);
    if (forName !== undefined) return forName;
    hide(entry);
    return [];
  }

  /** A place where nobody has to give way. */
  private findFree(entry: Entry, details: readonly Detail[] = [...WITH_LEVEL, NAME]): boolean {
    return details.some((detail) => {
      const place = this.bestPlace(entry, detail);
      if (place < 0) return false;
      put(entry, rectAt(entry.of, place, detail), detail, place);
      return true;
    });
  }

  private placeCount(detail: Detail): number {
    return detail === FULL || this.entries.size > MANY ? NEAR_PLACES : PLACES;
  }

  /** The best place with this detail; -1 without any. */
  private bestPlace(entry: Entry, detail: Detail): number {
    const { of } = entry;
    // The current place is tried first and may cover one symbol: a label that jumps cannot be read.
    let best = -1;
    let least = Infinity;
    for (let turn = -1; turn < this.placeCount(detail); turn++) {
      const place = turn < 0 ? of.place : turn;
      if (turn === of.place || place >= this.placeCount(detail)) continue;
      const further = ringOf(place);
      // Nearer places come first: what is farther than this cannot be better.
      if (turn >= 0 && 1 + 2 * further >= least) break;
      const covered = this.grid.covered(rectAt(of, place, detail), detail, entry);
      if (covered < 0) continue;
      const cost = covered * 3 + (turn < 0 ? 0 : 1) + 2 * further;
      if (cost < least) {
        [best, least] = [place, cost];
        if (turn < 0 && cost <= 3) break;
      }
    }
    return best;
  }

  /** Puts it where the reader wants it, if nobody stands there who may not give way. */
  private pin(entry: Entry): Entry[] | undefined {
    for (const detail of [...WITH_LEVEL, NAME] as const) {
      const rect = pinnedRect(entry.of, detail);
      if (rect === undefined) continue;
      const inTheWay = this.grid.inTheWay(rect, entry, mayGive);
      if (inTheWay === undefined) continue;
      put(entry, rect, detail, entry.of.place);
      inTheWay.forEach((other) => this.evict(other));
      return inTheWay;
    }
    return undefined;
  }

  /** Takes the room of ordinary labels, where the fewest stand and no urgent one does. */
  private force(entry: Entry): Entry[] | undefined {
    for (const detail of [FULL, SHORT] as const) {
      let best = -1;
      let inTheWay: Entry[] | undefined;
      for (let place = 0; place < NEAR_PLACES && inTheWay?.length !== 1; place++) {
        const found = this.grid.inTheWay(rectAt(entry.of, place, detail), entry, mayGive);
        if (found === undefined) continue;
        if (inTheWay === undefined || found.length < inTheWay.length) [best, inTheWay] = [place, found];
      }
      if (inTheWay === undefined) continue;
      put(entry, rectAt(entry.of, best, detail), detail, best);
      inTheWay.forEach((other) => this.evict(other));
      return inTheWay;
    }
    return undefined;
  }

  private evict(other: Entry): void {
    this.grid.unlist(other);
    hide(other);
    this.grid.list(other);
  }

  /** Takes the place of one other label that has room elsewhere; without its level only for a name. */
  private swap(entry: Entry, detail: Detail): Entry[] | undefined {
    if (this.entries.size > MANY) return undefined;
    let trials = 0;
    for (let place = 0; place < this.placeCount(detail) && trials < SWAPS_MAX; place++) {
      const rect = rectAt(entry.of, place, detail);
      const [other, ...more] = this.grid.inTheWay(rect, entry, mayGive) ?? [];
      if (other === undefined || more.length > 0 || this.grid.covered(rect, detail, entry, [other]) < 0) continue;
      trials++;
      const before = { rect: other.rect, detail: other.of.detail, place: other.of.place };
      this.grid.unlist(other);
      other.rect = undefined;
      put(entry, rect, detail, place);
      this.grid.list(entry);
      const isPlaced = this.findFree(other, detail === NAME ? [SHORT, TINY, NAME] : [SHORT, TINY]);
      this.grid.unlist(entry);
      if (!isPlaced) {
        other.rect = before.rect;
        [other.of.detail, other.of.place] = [before.detail, before.place];
      }
      this.grid.list(other);
      if (isPlaced) return [other];
    }
    return undefined;
  }

  /** Makes those smaller that stand in the way, where that is enough; none has less than it then. */
  private squeeze(entry: Entry, detail: Detail): Entry[] | undefined {
    for (let place = 0; place < this.placeCount(detail); place++) {
      const rect = rectAt(entry.of, place, detail);
      const found = this.grid.inTheWay(rect, entry, (other) => mayGive(other) && smaller(other, rect, detail) !== undefined);
      if (found === undefined || this.grid.covered(rect, detail, entry, found) < 0) continue;
      for (const other of found) {
        const less = smaller(other, rect, detail);
        if (less === undefined) continue;
        this.grid.unlist(other);
        put(other, less.rect, less.detail, other.of.place);
        this.grid.list(other);
      }
      put(entry, rect, detail, place);
      return found;
    }
    return undefined;
  }
}

function put(entry: Entry, rect: Rect, detail: Detail, place: number): void {
  entry.rect = rect;
  [entry.of.detail, entry.of.place] = [detail, place];
}

function hide(entry: Entry): void {
  entry.rect = undefined;
  entry.of.detail = HIDDEN;
}

/** A label that says less, but not less than `least`, stays within its rectangle and leaves `free` free; undefined
 * when none does. */
function smaller({ of, rect }: Entry, free: Rect, least: Detail): { readonly rect: Rect; readonly detail: Detail } | undefined {
  if (rect === undefined) return undefined;
  for (const detail of [SHORT, TINY, NAME] as const) {
    if (detail >= of.detail || detail < least) continue;
    const less = rectAt(of, of.place, detail);
    const isWithin = less.x0 >= rect.x0 && less.y0 >= rect.y0 && less.x1 <= rect.x1 && less.y1 <= rect.y1;
    const isFree = less.x1 <= free.x0 || free.x1 <= less.x0 || less.y1 <= free.y0 || free.y1 <= less.y0;
    if (isWithin && isFree) return { rect: less, detail };
  }
  return undefined;
}

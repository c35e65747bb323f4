// The last transactions of a ring, and those that are open, as one list of bars: nested, in lanes,
// and on an axis without the idle time between them.

import type { Ring } from '../../api/types';
import { foldable, type Stretch } from '../../draw/fold';
import { nest, type Nested } from '../../draw/nest';

/** A transaction that is drawn and listed. */
export interface Piece {
  readonly id: string;
  readonly parent: string | null;
  readonly class: string;
  /** ns after the process's start: exact, where instants since 1970 are rounded. */
  readonly start_ns: number;
  /** UTC ns since 1970, to be shown. */
  readonly at_ns: number;
  readonly elapsed_ns: number;
  /** null where it is not known, and while it is open. */
  readonly cpu_ns: number | null;
  readonly thread: number;
  readonly open: boolean;
  readonly asynchronous: boolean;
  readonly status: string;
  readonly chain: string;
  readonly context: string;
}

/** The pieces of a ring: those that ended, and the open ones around or among them. */
export function piecesOf({ last, open }: Pick<Ring, 'last' | 'open'>): Piece[] {
  const ended = last.map((row): Piece => ({
    id: row.id, parent: row.parent, class: row.class, start_ns: row.after_ns, at_ns: row.start_ns, elapsed_ns: row.elapsed_ns,
    cpu_ns: row.cpu_ns, thread: row.thread, open: false, asynchronous: row.asynchronous, status: row.status, chain: row.chain, context: row.context,
  }));
  const seen = new Set(ended.map((piece) => piece.id));
  // Read one after the other, a transaction may have ended meanwhile and be in both.
  const pending = open.filter((row) => !seen.has(row.id)).map((row): Piece => ({
    id: row.id, parent: row.parent, class: row.class, start_ns: row.after_ns, at_ns: row.since_ns, elapsed_ns: row.age_ns,
    cpu_ns: null, thread: row.thread, open: true, asynchronous: false, status: 'OPEN', chain: row.chain, context: row.context,
  }));
  return [...ended, ...pending];
}

/** Each below its parent; of those without one among them the newest first, below it what it called, by time. */
export function newestFirst(pieces: readonly Piece[]): Nested<Piece>[] {
  const nodes = nest(pieces);
  const groups: Nested<Piece>[][] = [];
  for (const node of nodes) {
    if (node.depth === 0) groups.push([node]);
    else groups.at(-1)?.push(node);
  }
  return groups.reverse().flat();
}

/** A piece with the row of the drawing in which it stands, from 0. */
export interface Placed {
  readonly piece: Piece;
  readonly row: number;
}

/** The bars of one thread. */
export interface Lane {
  readonly thread: number;
  /** First row of the lane. */
  readonly top: number;
  /** Number of rows: how deep its transactions are nested. */
  readonly rows: number;
}

/** Lanes by thread, as they came; in each, what began while something else was under way stands below it. */
export function lanesOf(pieces: readonly Piece[]): { placed: Placed[]; lanes: Lane[]; rows: number } {
  const threads = new Map<number, Piece[]>();
  for (const piece of [...pieces].sort((a, b) => a.start_ns - b.start_ns || b.elapsed_ns - a.elapsed_ns)) {
    const known = threads.get(piece.thread);
    if (known === undefined) threads.set(piece.thread, [piece]);
    else known.push(piece);
  }
  const placed: Placed[] = [];
  const lanes: Lane[] = [];
  let top = 0;
  for (const [thread, own] of threads) {
    /** End of the last piece in each row of the lane. */
    const ends: number[] = [];
    for (const piece of own) {
      while (ends.length > 0 && (ends.at(-1) ?? 0) <= piece.start_ns) ends.pop();
      placed.push({ piece, row: top + ends.length });
      ends.push(piece.open ? Infinity : piece.start_ns + piece.elapsed_ns);
    }
    const rows = Math.max(...placed.filter(({ piece }) => piece.thread === thread).map(({ row }) => row)) - top + 1;
    lanes.push({ thread, top, rows });
    top += rows;
  }
  return { placed, lanes, rows: top };
}

/** The time that is drawn: that of what ended; of what is open only where nothing has. */
export function wholeOf(pieces: readonly Piece[]): Stretch {
  const ended = pieces.filter((piece) => !piece.open);
  const shown = ended.length > 0 ? ended : pieces;
  const from = shown.reduce((least, piece) => Math.min(least, piece.start_ns), Infinity);
  const until = shown.reduce((most, piece) => Math.max(most, piece.start_ns + piece.elapsed_ns), -Infinity);
  return Number.isFinite(from) ? { from_ns: from, until_ns: Math.max(until, from + 1) } : { from_ns: 0, until_ns: 1 };
}

/** The stretches in which nothing ran that has ended, where they are so long that they would hide the rest. */
export function foldsOf(pieces: readonly Piece[]): Stretch[] {
  const whole = wholeOf(pieces);
  const idle: Stretch[] = [];
  let end = whole.from_ns;
  for (const piece of pieces.filter(({ open }) => !open).sort((a, b) => a.start_ns - b.start_ns)) {
    if (piece.start_ns > end) idle.push({ from_ns: end, until_ns: piece.start_ns });
    end = Math.max(end, piece.start_ns + piece.elapsed_ns);
  }
  return foldable(whole, idle);
}

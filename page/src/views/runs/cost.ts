// Two profiles as two bars over each other, in the manner of a flame graph of one level: each
// function as wide as its part of the longer run, the same functions in the same order.

import type { RunDiff } from '../../api/types';

type Moved = RunDiff['functions'][number];

/** A function's piece of both bars; shares of the longer bar, in [0, 1]. */
export interface Piece {
  readonly function: string;
  readonly a: number;
  readonly b: number;
  /** B beside A, in [-1, 1]: 1 where the function is new, -1 where it is gone. */
  readonly change: number;
}

/** Number of functions with a piece of their own; the others share one piece. */
export const PIECES = 24;

/** Name of the piece for all other functions. */
export const OTHERS = 'all others';

/** The pieces of both bars: those that cost or moved most by themselves, the costly ones first. */
export function pieces(functions: readonly Moved[]): Piece[] {
  const total = Math.max(sum(functions, 'a'), sum(functions, 'b'));
  if (total <= 0) return [];
  const weight = (moved: Moved) => Math.max(moved.a, moved.b) + 10 * Math.abs(moved.difference);
  const byWeight = [...functions].sort((one, other) => weight(other) - weight(one));
  const own = byWeight.slice(0, PIECES).sort((one, other) => Math.max(other.a, other.b) - Math.max(one.a, one.b));
  const rest = byWeight.slice(PIECES);
  const found = own.map((moved) => piece(moved.function, moved.a, moved.b, total));
  return rest.length === 0 ? found : [...found, piece(OTHERS, sum(rest, 'a'), sum(rest, 'b'), total)];
}

function piece(name: string, a: number, b: number, total: number): Piece {
  return { function: name, a: a / total, b: b / total, change: a + b === 0 ? 0 : (b - a) / Math.max(a, b) };
}

function sum(functions: readonly Moved[], side: 'a' | 'b'): number {
  return functions.reduce((total, moved) => total + moved[side], 0);
}

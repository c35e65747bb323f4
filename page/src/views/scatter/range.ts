// The range that the scattergram shows (starts and durations), and its changes by zooming.

import type { Scatter, Selection } from '../../api/types';
import { rounded, type Range } from '../../draw/zoom';
import type { Brush } from './brush';

type Times = { readonly [K in 'from_ns' | 'until_ns']: number | undefined };
/** The starts that the store has. */
export interface Covered {
  readonly from_ns: number;
  readonly until_ns: number;
}
type Durations = { readonly [K in 'min_ns' | 'max_ns']: number | undefined };

/**
 * The range of the plot: what is selected, where it is, and what there is otherwise. It is drawn at
 * once, with the last answer put where it belongs, while the answer about it is awaited; an end of
 * the starts that is open is then the end of what is `covered`.
 */
export function shownRange(selection: Selection, answer: Pick<Scatter, 'from_ns' | 'until_ns' | 'edges_ns' | 'min_ns' | 'max_ns'>, covered?: Covered): Brush {
  const from_ns = selection.from_ns ?? covered?.from_ns ?? answer.from_ns;
  const until_ns = selection.until_ns ?? covered?.until_ns ?? answer.until_ns;
  const min_ns = positive(selection.min_ns) ?? answer.edges_ns[0] ?? answer.min_ns;
  const max_ns = selection.max_ns ?? answer.edges_ns.at(-1) ?? answer.max_ns;
  const times = until_ns > from_ns ? { from_ns, until_ns } : { from_ns: answer.from_ns, until_ns: answer.until_ns };
  const durations = max_ns > min_ns ? { min_ns, max_ns } : { min_ns: answer.min_ns, max_ns: answer.max_ns };
  return { ...times, ...durations };
}

/** On a logarithmic axis there is no 0. */
function positive(ns: number | undefined): number | undefined {
  return ns === 0 ? undefined : ns;
}

/** A browser tells times 256 ns apart; on less than this a plot would show that. */
const LEAST_TIME_NS = 100_000;
const LEAST_DURATION_NS = 10;
/** Eleven days: what takes longer is no transaction, and the way back is short. */
const MOST_DURATION_NS = 1e15;

/**
 * A range of starts as a selection; an end that reaches what the store covers is left open. Not
 * further in than can be told apart: `undefined`.
 */
export function timesOf([from, until]: Range, covered: Covered | undefined): Times | undefined {
  if (until - from < LEAST_TIME_NS) return undefined;
  return {
    from_ns: from <= (covered?.from_ns ?? 0) ? undefined : rounded(from, until - from, Math.floor),
    until_ns: covered !== undefined && until >= covered.until_ns ? undefined : rounded(until, until - from, Math.ceil),
  };
}

/** The same range, as long, moved back into what the store covers where it has left it. */
export function within([from, until]: Range, covered: Covered | undefined): Range {
  if (covered === undefined) return [from, until];
  const back = Math.max(covered.from_ns - from, 0) - Math.max(until - covered.until_ns, 0);
  return until - from >= covered.until_ns - covered.from_ns ? [covered.from_ns, covered.until_ns] : [from + back, until + back];
}

/** A range of durations as a selection; `undefined` where it is too narrow to show anything. */
export function durationsOf([min, max]: Range): Durations | undefined {
  if (max - min < LEAST_DURATION_NS || max / min < 1.001) return undefined;
  return { min_ns: min <= 1 ? undefined : rounded(min, max - min, Math.floor), max_ns: max >= MOST_DURATION_NS ? undefined : rounded(max, max - min, Math.ceil) };
}

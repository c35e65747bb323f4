// The runs' counters as series over versions: which are shown, and what their change points mark.

import type { RunHistory, Runs } from '../../api/types';
import { formatCount, NARROW } from '../../draw/format';

type Series = RunHistory['series'][number];

/** Indices of a series' change points, with the relative change at each. */
export function changeIndices(series: Pick<Series, 'points' | 'changes'>): { at: number; relative: number }[] {
  return series.changes.flatMap((change) => {
    const at = series.points.findIndex((point) => point.run === change.run);
    return at < 0 ? [] : [{ at, relative: change.relative }];
  });
}

/** The two runs that are compared where nobody chose: the last and the one before it. */
export function lastTwo(runs: readonly Runs['runs'][number][]): { a: string; b: string } | undefined {
  const [b, a] = [...runs].sort((one, other) => other.at_ns - one.at_ns);
  return a === undefined || b === undefined ? undefined : { a: a.id, b: b.id };
}

/** Counter that verdicts use: it repeats to parts per million; times and context switches do not. */
const COUNTED = 'instructions';

/** Series in the order of interest: instructions, then those that changed, the largest step first; then by name. */
export function byChange(series: readonly Series[]): Series[] {
  const step = (each: Series) => (each.counter === COUNTED ? 1e9 : 0) + Math.max(0, ...each.changes.map((change) => Math.abs(change.relative)));
  const name = (each: Series) => `${each.process} ${each.counter}`;
  return [...series].sort((one, other) => step(other) - step(one) || name(one).localeCompare(name(other), 'en', { numeric: true }));
}

/** A commit as short as people write it: without its subject. */
export function shortCommit(commit: string): string {
  const [name = ''] = commit.split(' ');
  return /^[0-9a-f]{10,}$/.test(name) ? name.slice(0, 9) : commit;
}

const UNITS = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const;

/** A counter's value at an axis: as many digits as tell neighbouring ticks apart. */
export function formatTick(value: number, step: number): string {
  const [unit, name] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [1, ''];
  const digits = step > 0 ? Math.min(6, Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9))) : 0;
  return `${(value / unit).toFixed(digits)}${name === '' ? '' : `${NARROW}${name}`}`;
}

/** A counter's value, whole where it counts. */
export function formatCounter(value: number): string {
  return Math.abs(value) >= 1000 || Number.isInteger(value) ? formatCount(value) : String(Number(value.toPrecision(4)));
}

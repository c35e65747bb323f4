// The two time ranges of a comparison, and the relations between their numbers.

import type { Compare, Distribution, Selection } from '../../api/types';

/** A range of starts, [from, until), UTC. */
export interface Range {
  readonly from_ns: number;
  readonly until_ns: number;
}

/** A pair of ranges that a reader is likely to want. */
export interface Proposal {
  readonly title: string;
  readonly a: Range;
  readonly b: Range;
}

/**
 * What can be compared of what the store has: the halves of what is selected, and what is selected
 * with as much before and after it, as far as the store reaches.
 */
export function proposals(selection: Pick<Selection, 'from_ns' | 'until_ns'>, covered: Range | undefined): Proposal[] {
  if (covered === undefined) return [];
  const a = { from_ns: selection.from_ns ?? covered.from_ns, until_ns: selection.until_ns ?? covered.until_ns };
  const span = a.until_ns - a.from_ns;
  if (span <= 0) return [];
  const middle = a.from_ns + Math.floor(span / 2);
  const found: Proposal[] = [{
    title: 'first half and second half', a: { from_ns: a.from_ns, until_ns: middle }, b: { from_ns: middle, until_ns: a.until_ns },
  }];
  const before = { from_ns: Math.max(covered.from_ns, a.from_ns - span), until_ns: a.from_ns };
  if (before.until_ns > before.from_ns) found.push({ title: 'the time before, and the selection', a: before, b: a });
  const after = { from_ns: a.until_ns, until_ns: Math.min(covered.until_ns, a.until_ns + span) };
  if (after.until_ns > after.from_ns) found.push({ title: 'the selection, and the time after', a, b: after });
  return found;
}

/** One line of the table of parameters. */
export interface Parameter {
  readonly title: string;
  readonly a: number;
  readonly b: number;
  readonly unit: 'ns' | 'count';
}

const PARAMETERS: readonly (readonly [string, keyof Distribution, Parameter['unit']])[] = [
  ['Count', 'count', 'count'], ['Shortest', 'min_ns', 'ns'], ['Mean', 'mean_ns', 'ns'], ['Standard deviation', 'sd_ns', 'ns'],
  ['Median', 'median_ns', 'ns'], ['90 %', 'p90_ns', 'ns'], ['99 %', 'p99_ns', 'ns'], ['99.9 %', 'p99_9_ns', 'ns'], ['Longest', 'max_ns', 'ns'],
];

/** Number of marks that are offered as the border between A and B: the last ones. */
const MARKS_MAX = 4;

/** Each mark within the selection as the border between A and B; a side ends at the next mark. */
export function aroundMarks(marks: readonly { readonly at_ns: number; readonly text: string }[], selection: Pick<Selection, 'from_ns' | 'until_ns'>, covered: Range | undefined): Proposal[] {
  if (covered === undefined) return [];
  const [from, until] = [selection.from_ns ?? covered.from_ns, selection.until_ns ?? covered.until_ns];
  const inside = marks.filter(({ at_ns }) => at_ns > from && at_ns < until);
  const borders = [from, ...inside.map(({ at_ns }) => at_ns), until];
  const all = inside.map(({ at_ns, text }, index): Proposal => ({
    title: `before | after ${text}`,
    a: { from_ns: borders[index] ?? from, until_ns: at_ns }, b: { from_ns: at_ns, until_ns: borders[index + 2] ?? until },
  }));
  // Two marks at one instant leave a side empty.
  return all.filter(({ a, b }) => a.until_ns > a.from_ns && b.until_ns > b.from_ns).slice(-MARKS_MAX);
}

/** The parameters of both sides; empty where a side has nothing. */
export function parameters(a: Distribution | null, b: Distribution | null): Parameter[] {
  if (a === null || b === null) return [];
  return PARAMETERS.map(([title, key, unit]) => ({ title, a: a[key], b: b[key], unit }));
}

/** B relative to A, as −12.3 % or ×3.4; '' where A is 0. */
export function relative(a: number, b: number): string {
  if (a === 0) return '';
  const ratio = b / a;
  if (ratio >= 2) return `×${ratio >= 9.95 ? Math.round(ratio).toLocaleString('en') : ratio.toFixed(1)}`;
  const percent = (ratio - 1) * 100;
  const text = Math.abs(percent).toFixed(1);
  return text === '0.0' ? '0 %' : `${percent > 0 ? '+' : '−'}${text} %`;
}

/** Below this a difference is taken for one: what is said in bold. */
export const SIGNIFICANT = 0.01;

/** The side that has a hop alone: there is nothing to test then, and no chance in it. */
export function onlyIn({ a, b }: Compare['hops'][number]): 'A' | 'B' | undefined {
  if (a.count === 0) return b.count === 0 ? undefined : 'B';
  return b.count === 0 ? 'A' : undefined;
}

/** Whether a hop differs for another reason than chance: anywhere, or in its slowest hundredth. */
export function certain(hop: Compare['hops'][number]): { readonly anywhere: boolean; readonly tail: boolean } {
  const only = onlyIn(hop) !== undefined;
  return { anywhere: only || hop.p_value < SIGNIFICANT, tail: only || hop.tail_p_value < SIGNIFICANT };
}

/** Tone of a change: slower or faster only where chance is an unlikely reason. */
export function tone(changeNs: number, sure: boolean): 'slower' | 'faster' | undefined {
  if (!sure || changeNs === 0) return undefined;
  return changeNs > 0 ? 'slower' : 'faster';
}

/** A share of a difference as per cent: others may have gone the other way, so it may be below 0 or above 100. */
export function shareOf(share: number): string {
  const percent = Math.round(share * 100);
  return percent < 0 ? `−${-percent} %` : `${percent} %`;
}

/** The part of a side's time in which something is stored: an open end is said to be far away. */
export function storedPart(side: Range, covered: Range | undefined): Range {
  if (covered === undefined) return side;
  const [from_ns, until_ns] = [Math.max(side.from_ns, covered.from_ns), Math.min(side.until_ns, covered.until_ns)];
  return until_ns > from_ns ? { from_ns, until_ns } : side;
}

const STATES = ['new', 'vanished', 'both'];

/** Paths: new and vanished ones first, then the most frequent. */
export function byState(paths: Compare['paths']): Compare['paths'] {
  return [...paths].sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state) || b.a + b.b - (a.a + a.b));
}

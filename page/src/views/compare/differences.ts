// The rows of the table of attributes that differ.

import type { AttributeContrast } from '../../api/types';

/** Rows that are seen at once. */
const SHOWN = 8;

type Rows = AttributeContrast['differences'];

/** The first rows, and those that are folded away. */
export function shownFirst(rows: Rows): readonly [Rows, Rows] {
  return [rows.slice(0, SHOWN), rows.slice(SHOWN)];
}

/** A difference of shares in points of per cent: +89.0, −0.2. */
export function gap(difference: number): string {
  const points = difference * 100;
  const text = Math.abs(points).toFixed(1);
  return `${points < 0 ? '−' : '+'}${text}`;
}

/** The filters with one more, if it is not among them. */
export function withFilter(filters: readonly string[] | undefined, filter: string): string[] {
  const before = filters ?? [];
  return before.includes(filter) ? [...before] : [...before, filter];
}

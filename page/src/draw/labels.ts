// Labels of upright lines, in rows that keep neighbours apart.

/** Position of a label: its row, counted from the top, and the side of its mark. */
export interface Label {
  readonly row: number;
  readonly left: boolean;
}

/**
 * Places labels, `[at, width]` from left to right, in as few rows as keep them apart, at most
 * `rows`; what has no room stands in the last row all the same. None passes the right end.
 */
export function labels(marks: readonly (readonly [number, number])[], end: number, rows: number): Label[] {
  const taken = Array.from({ length: rows }, () => -Infinity);
  return marks.map(([at, width]) => {
    const left = at + width > end;
    const from = left ? at - width : at;
    const free = taken.findIndex((until) => until <= from);
    const row = free < 0 ? rows - 1 : free;
    taken[row] = left ? at : at + width;
    return { row, left };
  });
}

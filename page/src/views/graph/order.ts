// The order within the layers that lets few edges cross.

import type { Link } from './layers';

const SWEEPS = 8;

/**
 * The columns, each in an order in which the steps between neighbouring columns cross little: each
 * column by the mean place of its neighbours, forth and back, and the best order that was seen.
 */
export function ordered(columns: readonly (readonly string[])[], steps: readonly Link[]): string[][] {
  let now = columns.map((column) => [...column]);
  let best = now;
  let fewest = crossings(now, steps);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    now = now.map((column) => [...column]);
    const forth = sweep % 2 === 0;
    const order = now.map((_, index) => (forth ? index : now.length - 1 - index));
    for (const index of order) {
      const beside = now[forth ? index - 1 : index + 1];
      const column = now[index];
      if (beside !== undefined && column !== undefined) now[index] = byNeighbours(column, beside, steps);
    }
    const count = crossings(now, steps);
    if (count < fewest) [best, fewest] = [now, count];
  }
  return best;
}

function byNeighbours(column: readonly string[], beside: readonly string[], steps: readonly Link[]): string[] {
  const place = new Map(beside.map((key, index) => [key, index]));
  const sums = new Map<string, [number, number]>();
  const add = (key: string, at: number | undefined) => {
    if (at === undefined) return;
    const [sum, count] = sums.get(key) ?? [0, 0];
    sums.set(key, [sum + at, count + 1]);
  };
  const own = new Set(column);
  for (const { from, to } of steps) {
    if (own.has(from)) add(from, place.get(to));
    if (own.has(to)) add(to, place.get(from));
  }
  // A node without a neighbour in that layer keeps its place.
  const wanted = new Map(column.map((key, index) => {
    const [sum, count] = sums.get(key) ?? [index, 1];
    return [key, sum / count];
  }));
  return [...column].sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
}

/** Number of pairs of steps that cross each other. */
export function crossings(columns: readonly (readonly string[])[], steps: readonly Link[]): number {
  const place = new Map<string, readonly [number, number]>();
  columns.forEach((column, layer) => column.forEach((key, index) => place.set(key, [layer, index])));
  const gaps = new Map<number, (readonly [number, number])[]>();
  for (const { from, to } of steps) {
    const [a, b] = [place.get(from), place.get(to)];
    if (a !== undefined && b !== undefined) gaps.set(a[0], [...(gaps.get(a[0]) ?? []), [a[1], b[1]]]);
  }
  let count = 0;
  for (const pairs of gaps.values()) {
    pairs.forEach(([from, to], index) => {
      for (const [otherFrom, otherTo] of pairs.slice(index + 1)) {
        if ((from - otherFrom) * (to - otherTo) < 0) count += 1;
      }
    });
  }
  return count;
}

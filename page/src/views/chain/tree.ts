// The rows of a chain in the order in which they are read: each below its parent, by start.

import type { Chain } from '../../api/types';
import { nest, type Nested } from '../../draw/nest';

export type Row = Chain['rows'][number];

/** A row in its place; `orphan`: its parent is not in the store. */
export interface Node extends Nested<Row> {
  /** On the way from the root to the row that ends last: what the whole chain waited for. */
  readonly last: boolean;
}

/** Orders the rows. Rows that name each other in a circle stand at the end, as if without parents. */
export function ordered(rows: readonly Row[]): Node[] {
  const last = wayToLast(rows);
  return nest(rows).map((node) => ({ ...node, last: last.has(node.row.id) }));
}

function wayToLast(rows: readonly Row[]): Set<string> {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const way = new Set<string>();
  let at = rows.reduce<Row | undefined>((latest, row) => (latest === undefined || row.start_ns > latest.start_ns ? row : latest), undefined);
  while (at !== undefined && !way.has(at.id)) {
    way.add(at.id);
    at = at.parent === null ? undefined : byId.get(at.parent);
  }
  return way;
}

/** What ran inside a row: calls of one class that it waited for. */
export interface Inside {
  /** `APPLICATION::CLASS`. */
  readonly name: string;
  /** Time in which any of them ran, in ns. */
  readonly ns: number;
  readonly count: number;
}

/** Whether a row began and ended within its parent, which waited for it, beside the path to the last row. */
export function isInside({ row, last }: Node, parent: Row): boolean {
  return !last && !row.asynchronous && row.start_ns >= parent.start_ns && row.start_ns + row.elapsed_ns <= parent.start_ns + parent.elapsed_ns;
}

/** What ran inside the row at a place of the order, beside the path: longest first. */
export function inside(nodes: readonly Node[], at: number): Inside[] {
  const parent = nodes[at];
  if (parent === undefined) return [];
  const found = new Map<string, { ns: number; count: number; until: number }>();
  // Its descendants follow it, siblings by their starts.
  for (let index = at + 1; index <= at + parent.below; index += 1) {
    const node = nodes[index];
    if (node === undefined || node.parent !== at || !isInside(node, parent.row)) continue;
    const { row } = node;
    const name = `${row.application}::${row.class}`;
    const before = found.get(name) ?? { ns: 0, count: 0, until: -Infinity };
    const until = row.start_ns + row.elapsed_ns;
    found.set(name, { ns: before.ns + Math.max(0, until - Math.max(before.until, row.start_ns)), count: before.count + 1, until: Math.max(before.until, until) });
  }
  return [...found].map(([name, { ns, count }]) => ({ name, ns, count })).filter(({ ns }) => ns > 0).sort((a, b) => b.ns - a.ns);
}

/** The nodes that are shown when what is below some is not. Each with its place in the whole order. */
export function visible(nodes: readonly Node[], closed: ReadonlySet<string>): number[] {
  const found: number[] = [];
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[index];
    if (node === undefined) break;
    found.push(index);
    if (closed.has(node.row.id)) index += node.below;
  }
  return found;
}

/** The instants between which something of the chain is drawn, relative to the root's start. */
export function extent(rows: readonly Row[]): { from_ns: number; until_ns: number } {
  let [from_ns, until_ns] = [0, 1];
  for (const row of rows) {
    from_ns = Math.min(from_ns, row.start_ns);
    until_ns = Math.max(until_ns, row.start_ns + row.elapsed_ns);
  }
  return { from_ns, until_ns };
}

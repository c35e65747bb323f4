// Rows in the order in which they are read: each below its parent, by start.

/** What has a parent by its id. */
export interface Nestable {
  readonly id: string;
  readonly parent: string | null;
  readonly start_ns: number;
}

/** A row in its place. */
export interface Nested<Row> {
  readonly row: Row;
  /** Index of its parent; -1 where the parent is absent. */
  readonly parent: number;
  /** Indentation of its name. */
  readonly depth: number;
  /** Number of its descendants. */
  readonly below: number;
  /** Whether the row names a parent that is not among the rows. */
  readonly orphan: boolean;
}

/** Orders the rows. Rows that name each other in a circle stand at the end, as if without parents. */
export function nest<Row extends Nestable>(rows: readonly Row[]): Nested<Row>[] {
  const ids = new Set(rows.map((row) => row.id));
  const children = new Map<string | null, Row[]>();
  for (const row of [...rows].sort((a, b) => a.start_ns - b.start_ns)) {
    const parent = row.parent !== null && row.parent !== row.id && ids.has(row.parent) ? row.parent : null;
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [row]);
    else siblings.push(row);
  }
  const found: { row: Row; parent: number; depth: number; below: number; orphan: boolean }[] = [];
  const seen = new Set<string>();
  // A stack of our own: rows may be nested deeper than the browser's calls.
  const walk = (tops: readonly Row[]) => {
    const open = tops.map((row) => ({ row, parent: -1, depth: 0 })).reverse();
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { row, parent, depth } = next;
      if (seen.has(row.id)) continue;
      seen.add(row.id);
      const index = found.length;
      found.push({ row, parent, depth, below: 0, orphan: row.parent !== null && !ids.has(row.parent) });
      for (const child of [...(children.get(row.id) ?? [])].reverse()) open.push({ row: child, parent: index, depth: depth + 1 });
    }
  };
  walk(children.get(null) ?? []);
  walk(rows.filter((row) => !seen.has(row.id)));
  for (let index = found.length - 1; index >= 0; index -= 1) {
    const node = found[index];
    const parent = node === undefined ? undefined : found[node.parent];
    if (node !== undefined && parent !== undefined) parent.below += node.below + 1;
  }
  return found;
}

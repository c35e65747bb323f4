// Words and scales of the Hosts view.

import type { Cell } from '../../api/types';
import { formatNumber, NARROW } from '../../draw/format';
import type { Sortable } from '../../draw/table';

/** Bits per second in powers of 1000, as networks count: 12.3 Mbit/s. */
export function formatBitRate(bits: number): string {
  for (const [unit, name] of [[1e9, 'Gbit/s'], [1e6, 'Mbit/s'], [1e3, 'kbit/s']] as const) {
    if (Math.abs(bits) >= unit * 0.9995) return `${formatNumber(bits / unit)}${NARROW}${name}`;
  }
  return `${formatNumber(bits)}${NARROW}bit/s`;
}

/** A table as the server has it. */
export interface Grid {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** Sort key of a cell. */
export function sortable(cell: Cell): Sortable {
  return typeof cell === 'boolean' ? String(cell) : cell;
}

/** Tells for each column whether it holds numbers: these are aligned to the right and sorted as numbers. */
export function numericColumns({ columns, rows }: Grid): boolean[] {
  return columns.map((_, index) => {
    const cells = rows.map((row) => row[index] ?? null).filter((cell) => cell !== null);
    return cells.length > 0 && cells.every((cell) => typeof cell === 'number');
  });
}

/** The rows of the hosts that are selected, where the table says of which host a row is. */
export function ofHosts(grid: Grid, hosts: readonly string[]): Grid {
  const at = grid.columns.findIndex((title) => title.toLowerCase() === 'host');
  if (hosts.length === 0 || at < 0) return grid;
  return { ...grid, rows: grid.rows.filter((row) => hosts.includes(String(row[at]))) };
}

/** A path's durations as the server has them. */
export interface PathTimes {
  readonly predicted_p50_ns: number | null;
  readonly predicted_p90_ns: number | null;
  readonly measured_p50_ns: number | null;
  readonly measured_p90_ns: number | null;
}

/** The longest of all durations: what the bars of one table are drawn against; at least 1. */
export function longest(paths: readonly PathTimes[]): number {
  return Math.max(1, ...paths.flatMap((path) => [
    path.predicted_p50_ns ?? 0, path.predicted_p90_ns ?? 0, path.measured_p50_ns ?? 0, path.measured_p90_ns ?? 0,
  ]));
}

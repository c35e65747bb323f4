// The order of a table's rows: by one column, kept in the URL as `-p99` (largest first) or `p99`.

/** Sort key of a row; null (no value known) comes last in either direction. */
export type Sortable = number | string | null;

/** A column and its direction, as the URL has them. */
export interface Order {
  readonly key: string;
  readonly descending: boolean;
}

/** Reads an order; one of a column that there is not is none. */
export function parseOrder(text: string | undefined, keys: readonly string[]): Order | undefined {
  if (text === undefined) return undefined;
  const descending = text.startsWith('-');
  const key = descending ? text.slice(1) : text;
  return keys.includes(key) ? { key, descending } : undefined;
}

/** Writes an order in the form that [`parseOrder`] reads. */
export function formatOrder({ key, descending }: Order): string {
  return `${descending ? '-' : ''}${key}`;
}

/** The order after a click on a column's head: numbers begin with the largest, words with a. */
export function orderAfter(now: Order | undefined, key: string, numeric: boolean): Order {
  return now?.key === key ? { key, descending: !now.descending } : { key, descending: numeric };
}

/** The rows in order; rows that are equal keep theirs. */
export function sortedRows<Row>(rows: readonly Row[], by: (row: Row) => Sortable, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [by(one), by(other)];
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    if (typeof a === 'number' && typeof b === 'number') return sign * (a - b);
    return sign * String(a).localeCompare(String(b), 'en', { numeric: true });
  });
}

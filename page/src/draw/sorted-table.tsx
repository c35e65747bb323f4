import type { ComponentChildren } from 'preact';
import { go, place } from '../selection/current';
import { formatOrder, orderAfter, parseOrder, sortedRows, type Sortable } from './table';

/** One column of a table that can be sorted by it. */
export interface Column<Row> {
  /** Names the column in the URL. */
  readonly key: string;
  readonly title: ComponentChildren;
  /** Explanation of the column with its unit, shown as a tooltip. */
  readonly hint?: string;
  readonly number?: boolean;
  /** Sort key of a row; a column without it cannot be sorted. */
  readonly by?: (row: Row) => Sortable;
  readonly show: (row: Row) => ComponentChildren;
}

interface SortedTableProps<Row> {
  /** Said to a screen reader; shown where `shown` says so. */
  readonly caption: string;
  readonly shown?: boolean;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly id: (row: Row) => string;
  /** The parameter of the URL that keeps the order; tables of one view have one each. */
  readonly param?: string;
  readonly rowClass?: (row: Row) => string | undefined;
}

/** A table whose heads sort it; unsorted, rows are in the server's order. */
export function SortedTable<Row>({ caption, shown = false, columns, rows, id, param = 'sort', rowClass }: SortedTableProps<Row>) {
  const order = parseOrder(place().own[param], columns.filter((column) => column.by !== undefined).map((column) => column.key));
  const by = columns.find((column) => column.key === order?.key)?.by;
  const found = order === undefined || by === undefined ? rows : sortedRows(rows, by, order.descending);
  return (
    <table>
      <caption class={shown ? undefined : 'unseen'}>{caption}</caption>
      <thead>
        <tr>{columns.map((column) => <Head key={column.key} column={column} order={order} param={param} />)}</tr>
      </thead>
      <tbody>
        {found.map((row) => (
          <tr key={id(row)} class={rowClass?.(row)}>
            {columns.map((column) => (
              <td key={column.key} class={column.number === true ? 'number' : undefined}>{column.show(row)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly order: ReturnType<typeof parseOrder>;
  readonly param: string;
}

function Head<Row>({ column, order, param }: HeadProps<Row>) {
  if (column.by === undefined) return <th scope="col" title={column.hint}>{column.title}</th>;
  const mine = order?.key === column.key ? order : undefined;
  const next = orderAfter(order, column.key, column.number === true);
  return (
    <th scope="col" class={column.number === true ? 'number' : undefined} title={column.hint}
      aria-sort={mine === undefined ? undefined : mine.descending ? 'descending' : 'ascending'}>
      <button type="button" class="sort" onClick={() => go({ own: { [param]: formatOrder(next) } }, true)}>
        {column.title}<span aria-hidden="true" class="arrow">{mine === undefined ? '' : mine.descending ? ' ▾' : ' ▴'}</span>
      </button>
    </th>
  );
}

// Numbers behind a picture or table, as CSV: exact, with the unit in the column's head.

import { useEffect } from 'preact/hooks';
import type { RefObject } from 'preact';

/** A field of a sheet; null is an empty field. */
export type Value = number | string | null;

/** Columns with their rows. */
export interface Sheet {
  /** Names with their unit, as `Elapsed (ns)`. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/** Writes CSV as RFC 4180 has it, in UTF-8: lines end in CRLF, and fields that need it are in quotes. */
export function csv({ columns, rows }: Sheet): string {
  return [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('');
}

function field(value: Value): string {
  const text = value === null ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A cell as it is shown, and the exact value behind it where its text is rounded. */
export interface ShownCell {
  readonly text: string;
  readonly value?: string | undefined;
  readonly unit?: string | undefined;
}

/** The sheet of a table that is shown: exact values in place of rounded text, units in the head. */
export function sheetOfCells(heads: readonly string[], rows: readonly (readonly ShownCell[])[]): Sheet {
  const columns = heads.map((head, index) => {
    const units = new Set(rows.flatMap((row) => row[index]?.unit ?? []));
    const [unit = ''] = units;
    return units.size === 1 && unit !== '' ? `${head} (${unit})`.trim() : head;
  });
  return { columns, rows: rows.map((row) => row.map(({ text, value }) => value ?? plain(text))) };
}

/** A whole number without the marks that people read; other text as it is. The dash of an unknown value is an empty field. */
function plain(text: string): string {
  if (text === '–') return '';
  return /^[−-]?\d{1,3}(?:,\d{3})*$/.test(text) ? text.replaceAll(',', '').replace('−', '-') : text;
}

const sheets = new WeakMap<Element, () => Sheet>();

/** Marks what has a sheet of its own; the value is its name where a panel has several. */
export const SHEET = 'data-sheet';

/** Offers the numbers of the picture in `ref` for saving. The sheet is made when it is asked for. */
export function useSheet(ref: RefObject<Element | null>, sheet: () => Sheet): void {
  useEffect(() => {
    if (ref.current === null) return;
    sheets.set(ref.current, sheet);
    ref.current.setAttribute(SHEET, '');
  });
}

/** The numbers of a picture that offered them. */
export function sheetOf(element: Element): Sheet | undefined {
  return sheets.get(element)?.();
}

/** The sheet of a table or of a list of parameters, as it is shown. */
export function sheetOfTable(table: HTMLElement): Sheet {
  if (table instanceof HTMLTableElement) return sheetOfRows(table);
  const names = [...table.querySelectorAll('dt')];
  const rows = names.map((name) => {
    const cell = shownCell(name.nextElementSibling ?? name);
    return [shownCell(name), { text: cell.text, value: cell.value }, { text: cell.unit ?? '' }];
  });
  return sheetOfCells(['Parameter', 'Value', 'Unit'], rows);
}

function sheetOfRows(table: HTMLTableElement): Sheet {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  const shown = heads.map((head) => head.getAttribute('aria-hidden') !== 'true');
  const grouped = table.querySelector('th[scope=rowgroup]') !== null;
  const rows: ShownCell[][] = [];
  for (const body of table.tBodies) {
    let group: ShownCell = { text: '' };
    for (const { cells } of body.rows) {
      if (cells[0]?.scope === 'rowgroup') group = { text: words(cells[0].firstChild ?? cells[0]) };
      // A row that spans the columns has words, no values.
      else if (cells.length === heads.length) rows.push([...(grouped ? [group] : []), ...[...cells].filter((_, index) => shown[index]).map(shownCell)]);
    }
  }
  return sheetOfCells([...(grouped ? [table.dataset['group'] ?? 'Application'] : []), ...heads.filter((_, index) => shown[index]).map((head) => words(head))], rows);
}

function shownCell(cell: Element): ShownCell {
  const exact = cell.querySelector<HTMLElement>('data, time');
  if (exact instanceof HTMLDataElement) return { text: words(cell), value: exact.value, unit: exact.dataset['unit'] };
  if (exact instanceof HTMLTimeElement) return { text: words(cell), value: exact.dateTime };
  return { text: words(cell) };
}

/** The text of a node without what is only to be seen (an arrow, a bar). */
function words(node: Node): string {
  if (node instanceof Element && node.getAttribute('aria-hidden') === 'true' && node.textContent !== '–') return '';
  if (node.childNodes.length === 0) return (node.textContent ?? '').trim();
  return [...node.childNodes].map((child) => (child instanceof Element ? words(child) : (child.textContent ?? ''))).join('').replace(/\s+/g, ' ').trim();
}

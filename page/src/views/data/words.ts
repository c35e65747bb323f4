// What the view of managed data says in words.

import type { Imported, RangeContent } from '../../api/types';
import { formatBytes, formatCount } from '../../draw/format';

const count = (n: number, one: string, more: string) => `${formatCount(n)} ${n === 1 ? one : more}`;

/** What lies in a range, as it is said before it is deleted. */
export function contentWords({ rows, chains, chains_more, bytes, minutes }: RangeContent): string {
  if (rows === 0) return 'No rows are stored in this time.';
  const atLeast = chains_more ? 'at least ' : '';
  return `${count(rows, 'row', 'rows')} of ${atLeast}${count(chains, 'chain', 'chains')} in ${count(minutes, 'minute', 'minutes')}, ${formatBytes(bytes)}`;
}

/** What became of a file. */
export function importWords(name: string, { rows, rows_before }: Imported): string {
  const before = rows_before > 0 ? `; ${count(rows_before, 'was', 'were')} imported before` : '';
  return `${name}: ${count(rows, 'transaction', 'transactions')} imported${before}`;
}

/** Why a file is not sent at all; '' where it may be. */
export function tooLarge({ name, size }: Pick<File, 'name' | 'size'>, most: number): string {
  return size > most ? `${name} has ${formatBytes(size)}, and the server takes ${formatBytes(most)}: use chronoscope import on its host` : '';
}

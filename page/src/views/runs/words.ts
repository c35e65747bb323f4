// What the flame graph and the tables beside it say alike.

import { formatShort } from '../../draw/format';

/** The parameters that show a function with its callers and callees. */
export function functionParams({ name, file, object }: { name: string; file: string; object: string }): Record<string, string> {
  return { function: name, file, object };
}

/** A difference of costs, with its sign. */
export function difference(count: number): string {
  return count > 0 ? `+${formatShort(count)}` : count < 0 ? `−${formatShort(-count)}` : '0';
}

/** What a cost is more or less than before. */
export function changeOf(now: number, before: number): string {
  return now === before ? 'unchanged' : difference(now - before);
}

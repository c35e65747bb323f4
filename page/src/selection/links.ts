// Link targets: a class leads to its histogram, a chain to its waterfall.

import type { Selection } from '../api/types';
import type { Change } from './place';

/** Removes the fields that belong to another pair of root and leaf, or to a brush in its scattergram. */
const NO_PAIR: { readonly [K in keyof Selection]?: undefined } = {
  leaf: undefined, level: undefined, path: undefined, min_ns: undefined, max_ns: undefined,
};

/** `application::class`, as the API names classes. */
export function className(application: string, name: string): string {
  return `${application}::${name}`;
}

/** To the histogram of one class. */
export function toClass(name: string): Change {
  return { view: 'histogram', selection: { ...NO_PAIR, kind: 'sync', root: name } };
}

/** To the scattergram from one class to another below it. */
export function toPair(root: string, leaf: string): Change {
  return { view: 'scatter', selection: { ...NO_PAIR, kind: 'acpd', root, leaf } };
}

/** To the waterfall of a chain; `startNs` tells the server where to look for it. */
export function toChain(chain: string, startNs: number): Change {
  return { view: 'chain', item: chain, own: { near_ns: String(startNs) } };
}

/** To the waterfall of a chain of which a link says where to look for it, or does not. */
export function toLinked(chain: string, startNs: number | null): Change {
  return startNs === null ? { view: 'chain', item: chain } : toChain(chain, startNs);
}

/** To the longest transactions of a class. */
export function toWorst(name: string): Change {
  return { view: 'worst', own: { class: name } };
}

/**
 * To the histogram of the chains that a limit is on, as an alarm names them: `ROOT → LEAF`, with
 * `at level N` where it says one; `undefined` for what is no such name.
 */
export function toLimited(what: string, limitNs: number | null): Change | undefined {
  const [, root = '', leaf = '', level] = /^(.+::.+?) → (.+::.+?)(?: at level (\d+))?$/.exec(what) ?? [];
  if (root === '') return undefined;
  return { view: 'histogram', selection: { ...NO_PAIR, kind: 'acpd', root, leaf, level, limit_ns: limitNs ?? undefined } };
}

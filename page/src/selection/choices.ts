// The choices of the selection bar (roots, leaves below them, levels) and the default choice.

import type { PathSummary, Selection } from '../api/types';

/** A root and a leaf below it. */
export interface Pair {
  readonly root: string;
  readonly leaf: string;
}

/** Classes that something runs below of, those at the top of most transactions first. */
export function roots(paths: readonly PathSummary[]): string[] {
  return mostFirst(paths.flatMap((path) => path.hops.slice(0, -1).map((hop) => [hop, path.count] as const)));
}

/** Classes that run somewhere below `root`, most first. */
export function leaves(paths: readonly PathSummary[], root: string): string[] {
  return mostFirst(below(paths, root).map(([path]) => [path.leaf, path.count] as const));
}

/** The levels (steps below `root`) at which the class `leaf` occurs, in ascending order. */
export function levels(paths: readonly PathSummary[], { root, leaf }: Pair): number[] {
  const found = below(paths, root).filter(([path]) => path.leaf === leaf).map(([, steps]) => steps);
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Every class, most first. */
export function classes(paths: readonly PathSummary[]): string[] {
  return mostFirst(paths.map((path) => [path.leaf, path.count] as const));
}

/** The paths whose last hop is below `root`, and how far; the outermost one counts. */
function below(paths: readonly PathSummary[], root: string): (readonly [PathSummary, number])[] {
  return paths.flatMap((path) => {
    const at = path.hops.slice(0, -1).indexOf(root);
    return at < 0 ? [] : [[path, path.hops.length - 1 - at] as const];
  });
}

function mostFirst(counted: readonly (readonly [string, number])[]): string[] {
  const sums = new Map<string, number>();
  for (const [name, count] of counted) sums.set(name, (sums.get(name) ?? 0) + count);
  return [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
}

/** Ways that are taken about as often as the one that is taken most: some chains are always still on their way. */
const ABOUT = 0.9;

/**
 * What to look at first: the longest way there is, from an input to who acts on it last; of several
 * one that is taken about as often as any, and of these the one that takes longest. Where nothing
 * calls anything, the most frequent class by itself.
 */
export function firstChoice(paths: readonly PathSummary[]): Selection | undefined {
  const deepest = paths.filter((path) => path.level === Math.max(...paths.map((each) => each.level)));
  const often = ABOUT * Math.max(...deepest.map((path) => path.count));
  const longest = deepest.filter((path) => path.count >= often).sort((a, b) => b.p50_ns - a.p50_ns)[0];
  if (longest === undefined) return undefined;
  if (longest.level > 0) return { kind: 'acpd', root: longest.root, leaf: longest.leaf };
  const [root] = classes(paths);
  return root === undefined ? undefined : { kind: 'sync', root };
}

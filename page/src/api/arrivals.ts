import type { Arrivals, Selection } from './types';
import { useQuestion, type Question } from './question';
import { selectionParams } from '../selection/place';

/** What the roots of a selection need: nothing said, one leaf each, or nothing at all. */
export type Judge = 'each-root' | 'arrived' | undefined;

/** Whether roots can be judged: of all leaves of a class, and within a limit. A part of the leaves does not say what is missing. */
export function isJudged(selection: Selection): boolean {
  const { kind, root, leaf, limit_ns, path, hosts, min_ns, max_ns } = selection;
  const all = [path, hosts, min_ns, max_ns].every((part) => part === undefined || part === '');
  return (kind ?? 'acpd') === 'acpd' && root !== undefined && leaf !== undefined && limit_ns !== undefined && all;
}

/** Which roots of a selection arrived; asked for where they can be judged. */
export function useArrivals(selection: Selection, judge: Judge): Question<Arrivals> {
  return useQuestion(isJudged(selection) ? 'arrivals' : null, [...selectionParams(selection), ['judge', judge]]);
}

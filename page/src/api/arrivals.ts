import type { Arrivals, Selection } from './types';
import { useQuestion, type Question } from './question';
import { selectionParams } from '../selection/place';

/** Subject of the verdict: whether each root has a leaf, the leaves that arrived alone, or both (`undefined`). */
export type Judge = 'each-root' | 'arrived' | undefined;

/** Whether roots can be judged: of all leaves of a class, and within a limit. A part of the leaves does not say what is missing. */
export function isJudged(selection: Selection): boolean {
  const { kind, root, leaf, limit_ns, path, hosts, min_ns, max_ns } = selection;
  const all = [path, hosts, min_ns, max_ns].every((part) => part === undefined || part === '');
  return (kind ?? 'acpd') === 'acpd' && root !== undefined && leaf !== undefined && limit_ns !== undefined && all;
}

/** Asks how many roots of a selection arrived, where they can be judged. */
export function useArrivals(selection: Selection, judge: Judge): Question<Arrivals> {
  return useQuestion(isJudged(selection) ? 'arrivals' : null, [...selectionParams(selection), ['judge', judge]]);
}

// The values of groups in words and as filters, and the common scale of their distributions.

import type { Distribution, Groups } from '../../api/types';
import { log, type Scale } from '../../draw/scale';

type Values = Groups['groups'][number]['group'];

/** A group's value for the key of this index, in words. */
export function valueText({ values, others }: Values, index: number): string {
  return values[index] ?? (others ? '(others)' : '(none)');
}

/** The filter that selects a group's value; undefined where no filter does: what is not there, or not told apart. */
export function filterOf(key: string, { values }: Values, index: number): string | undefined {
  const value = values[index];
  return value == null ? undefined : `${key}=${value}`;
}

/** Width of a picture of a distribution, in pixels. */
export const SPREAD_PX = 180;

/** The scale that all groups are drawn on: from the shortest to the longest of all. */
export function spreadScale(all: readonly Pick<Distribution, 'min_ns' | 'max_ns'>[]): Scale {
  const [shortest, longest] = [Math.min(...all.map((one) => one.min_ns)), Math.max(...all.map((one) => one.max_ns))];
  return all.length === 0 ? log(1, 10, SPREAD_PX) : log(shortest, longest, SPREAD_PX);
}

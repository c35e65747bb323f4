// The worst cases of a ring: those of one class, or of all classes together.

import type { Ring } from '../../api/types';

type RingClass = Ring['classes'][number];
export type WorstRow = RingClass['worst'][number];

/** Most rows of a table over all classes. */
const MOST = 10;

/** The worst by either order, the worst first; over all classes the ten worst of their lists. */
export function worstOf(classes: readonly Pick<RingClass, 'class' | 'worst' | 'worst_cpu'>[], by: 'elapsed' | 'cpu', chosen: string | undefined): WorstRow[] {
  const lists = classes.filter((each) => chosen === undefined || each.class === chosen).map((each) => (by === 'cpu' ? each.worst_cpu : each.worst));
  const size = (row: WorstRow) => (by === 'cpu' ? row.cpu_ns ?? 0 : row.elapsed_ns);
  const all = lists.flat().sort((a, b) => size(b) - size(a));
  return chosen === undefined ? all.slice(0, MOST) : all;
}

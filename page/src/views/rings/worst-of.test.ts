import { describe, expect, it } from 'vitest';
import { worstOf, type WorstRow } from './worst-of';

const row = (id: string, elapsed_ns: number, cpu_ns: number | null): WorstRow => ({
  id, elapsed_ns, cpu_ns, class: 'A::a', start_ns: 0, after_ns: 0, status: 'GOOD', chain: '', parent: null, thread: 1, asynchronous: false, context: '',
});
const classes = [
  { class: 'A::a', worst: [row('a1', 30, 1), row('a2', 10, 9)], worst_cpu: [row('a2', 10, 9), row('a1', 30, 1)] },
  { class: 'A::b', worst: [row('b1', 20, null)], worst_cpu: [] },
];

describe('the worst cases of a ring', () => {
  it('are of all classes together, or of the chosen one, by either order', () => {
    const ids = (by: 'elapsed' | 'cpu', chosen?: string) => worstOf(classes, by, chosen).map(({ id }) => id);
    expect(ids('elapsed')).toEqual(['a1', 'b1', 'a2']);
    expect(ids('cpu')).toEqual(['a2', 'a1']);
    expect(ids('elapsed', 'A::b')).toEqual(['b1']);
    expect(ids('cpu', 'gone')).toEqual([]);
  });

  it('are ten where they are of all classes', () => {
    const many = [{ class: 'A::a', worst: Array.from({ length: 64 }, (_, index) => row(String(index), index, null)), worst_cpu: [] }];
    expect(worstOf(many, 'elapsed', undefined)).toHaveLength(10);
    expect(worstOf(many, 'elapsed', 'A::a')).toHaveLength(64);
  });
});

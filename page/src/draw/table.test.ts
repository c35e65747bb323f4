import { describe, expect, it } from 'vitest';
import { seeded } from '../random';
import { formatOrder, orderAfter, parseOrder, sortedRows } from './table';

describe('an order', () => {
  it('is read back from its address, and one of an unknown column is none', () => {
    for (const order of [{ key: 'p99', descending: true }, { key: 'class', descending: false }]) {
      expect(parseOrder(formatOrder(order), ['class', 'p99'])).toEqual(order);
    }
    for (const text of ['size', '-', '', '--p99', undefined]) expect(parseOrder(text, ['p99'])).toBeUndefined();
  });

  it('turns round at the second click, and starts with the largest number', () => {
    const first = orderAfter(undefined, 'p99', true);
    expect(first).toEqual({ key: 'p99', descending: true });
    expect(orderAfter(first, 'p99', true)).toEqual({ key: 'p99', descending: false });
    expect(orderAfter(first, 'class', false)).toEqual({ key: 'class', descending: false });
  });
});

describe('rows', () => {
  it('are in order, unknown ones last in both directions, equal ones as they were', () => {
    const random = seeded(6);
    for (let times = 0; times < 200; times += 1) {
      const rows = Array.from({ length: 30 }, (_, at) => ({ at, value: random() < 0.2 ? null : Math.floor(random() * 5) }));
      for (const descending of [false, true]) {
        const found = sortedRows(rows, (row) => row.value, descending);
        expect([...found].sort((a, b) => a.at - b.at)).toEqual(rows);
        const wrong = found.slice(1).filter((row, index) => {
          const before = found[index] as (typeof rows)[number];
          if (row.value === before.value) return row.at < before.at;
          if (row.value === null || before.value === null) return row.value !== null;
          return descending ? before.value < row.value : row.value < before.value;
        });
        expect(wrong).toEqual([]);
      }
    }
  });

  it('of words are in the order of a person: host-2 before host-10', () => {
    expect(sortedRows(['host-10', 'host-2', 'a'], (word) => word, false)).toEqual(['a', 'host-2', 'host-10']);
  });
});

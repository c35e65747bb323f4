import { describe, expect, it } from 'vitest';
import type { Now } from '../../api/types';
import { seeded } from '../../random';
import { after, markPlaces, TRAIL, trailPoints, type Board } from './board';

let at = 1e18;
function now(applications: Record<string, Record<string, number>>, window = 60): Now {
  at += 2e9;
  return {
    at_ns: at, as_of_ns: at, window_s: window, live: true, alarms: [], limits: [], damage: [],
    applications: Object.entries(applications).map(([application, classes]) => ({
      application, processes: 1, hosts: ['a'], lost_rows: 0, damaged_rings: 0, open: 0,
      classes: Object.entries(classes).map(([name, p99]) => ({
        class: name, count: p99 === 0 ? 0 : 10, rate_per_s: 1, p50_ns: 1, p99_ns: p99, max_ns: p99, cpu_share: null, open: 0, not_good: 0, limit: null,
      })),
    })),
  };
}
const order = (board: Board) => board.applications.map((row) => `${row.application}: ${row.classes.map((each) => each.last.class).join(' ')}`);

describe('a board', () => {
  it('keeps its rows where they are, whatever order and company an answer has', () => {
    const random = seeded(8);
    const names = ['q', 'c', 'x', 'a', 'm'];
    let board = after(undefined, now({ S: { c: 1, a: 2 } }));
    expect(order(board)).toEqual(['S: a c']);
    for (let times = 0; times < 300; times += 1) {
      const before = board.applications[0]?.classes.map((row) => row.name) ?? [];
      const some = names.filter(() => random() < 0.5).sort(() => random() - 0.5);
      board = after(board, now({ S: Object.fromEntries(some.map((name) => [name, 5])) }));
      const rows = board.applications[0]?.classes ?? [];
      expect(rows.map((row) => row.name).slice(0, before.length)).toEqual(before);
      expect(rows.filter((row) => (row.silentSinceNs === undefined) !== some.includes(row.last.class))).toEqual([]);
      expect(new Set(rows.map((row) => row.name)).size).toBe(rows.length);
    }
  });

  it('says since when a class is silent, and forgets it when it is back', () => {
    const first = after(undefined, now({ S: { a: 1, b: 7 } }));
    const second = after(first, now({ S: { a: 1 } }));
    const since = at;
    const third = after(second, now({ S: { a: 1 } }));
    const silent = third.applications[0]?.classes[1];
    expect(silent?.silentSinceNs).toBe(since);
    expect(silent?.last.p99_ns).toBe(7);
    const back = after(third, now({ S: { a: 1, b: 9 } }));
    expect(back.applications[0]?.classes[1]?.silentSinceNs).toBeUndefined();
    expect(back.applications[0]?.classes[1]?.trail).toEqual([7, null, null, 9]);
  });

  it('keeps an application that is gone', () => {
    const board = after(after(undefined, now({ S: { a: 1 }, T: { b: 1 } })), now({ T: { b: 1 } }));
    expect(board.applications.map((row) => [row.application, row.gone])).toEqual([['S', true], ['T', false]]);
  });

  it('does not count one answer twice, and begins anew with another window', () => {
    const answer = now({ S: { a: 1 } });
    const board = after(undefined, answer);
    expect(after(board, answer)).toBe(board);
    expect(after(board, now({ T: { a: 1 } }, 10)).applications.map((row) => row.application)).toEqual(['T']);
  });

  it('remembers so many refreshes and no more', () => {
    let board: Board | undefined;
    for (let times = 1; times <= TRAIL + 5; times += 1) board = after(board, now({ S: { a: times } }));
    const trail = board?.applications[0]?.classes[0]?.trail ?? [];
    expect(trail).toHaveLength(TRAIL);
    expect(trail.at(-1)).toBe(TRAIL + 5);
  });
});

describe('a trail', () => {
  it('ends at the right, reaches its highest value, and is broken where nothing ran', () => {
    expect(trailPoints([5, 10, null, 10], TRAIL - 1, 20)).toEqual([`${TRAIL - 4},10 ${TRAIL - 3},0`, `${TRAIL - 1},0`]);
    expect(trailPoints([null, 0], 100, 20)).toEqual([]);
  });
});

describe('marks in a trail', () => {
  it('stand where they happened, and only within it', () => {
    const marks = [0, 2e9, 118e9, 119e9].map((ago) => ({ at_ns: 1e12 - ago }));
    expect(markPlaces(marks, 1e12, 2e9, 59)).toEqual([59, 58, 0]);
  });
});

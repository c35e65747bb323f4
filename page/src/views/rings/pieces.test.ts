import { describe, expect, it } from 'vitest';
import type { Ring } from '../../api/types';
import { foldsOf, lanesOf, newestFirst, piecesOf, wholeOf, type Piece } from './pieces';

const piece = (id: string, start_ns: number, elapsed_ns: number, more: Partial<Piece> = {}): Piece => ({
  id, parent: null, class: 'A::a', start_ns, at_ns: start_ns, elapsed_ns, cpu_ns: null, thread: 1, open: false,
  asynchronous: false, status: 'GOOD', chain: '', context: '', ...more,
});

describe('the last transactions', () => {
  it('stand below what called them, the newest call first', () => {
    const pieces = [piece('old', 0, 10), piece('in', 2, 3, { parent: 'old' }), piece('new', 20, 10), piece('first', 21, 2, { parent: 'new' }), piece('second', 25, 2, { parent: 'new' })];
    expect(newestFirst(pieces).map(({ row, depth }) => `${'.'.repeat(depth)}${row.id}`)).toEqual(['new', '.first', '.second', 'old', '.in']);
  });

  it('have what is open around them, once', () => {
    const row = { class: 'A::a', elapsed_ns: 5, cpu_ns: 1, status: 'GOOD', chain: 'c', parent: 'loop', thread: 1, asynchronous: false, context: '' };
    const open = { class: 'A::loop', since_ns: 1, after_ns: 0, age_ns: 90, chain: 'c', parent: null, thread: 1, context: '' };
    const ring: Pick<Ring, 'last' | 'open'> = {
      last: [{ ...row, id: 'a', start_ns: 11, after_ns: 10 }],
      open: [{ ...open, id: 'loop' }, { ...open, id: 'a', parent: 'loop', after_ns: 10 }],
    };
    const nodes = newestFirst(piecesOf(ring));
    expect(nodes.map(({ row: { id, open: pending }, depth }) => [id, pending, depth])).toEqual([['loop', true, 0], ['a', false, 1]]);
  });
});

describe('lanes', () => {
  it('are one for each thread, as deep as it is nested', () => {
    const { placed, lanes, rows } = lanesOf([
      piece('in', 2, 3), piece('out', 0, 10), piece('next', 10, 5), piece('other', 1, 4, { thread: 2 }), piece('loop', -50, 9, { open: true }),
    ]);
    expect(Object.fromEntries(placed.map(({ piece: { id }, row }) => [id, row]))).toEqual({ loop: 0, out: 1, in: 2, next: 1, other: 3 });
    expect([lanes, rows]).toEqual([[{ thread: 1, top: 0, rows: 3 }, { thread: 2, top: 3, rows: 1 }], 4]);
  });

  it('keep apart what overlaps without being nested', () => {
    const { placed } = lanesOf([piece('a', 0, 10), piece('b', 5, 10), piece('c', 12, 10)]);
    const rows = placed.map(({ row }) => row);
    expect(rows[0]).not.toBe(rows[1]);
    expect(rows[1]).not.toBe(rows[2]);
  });
});

describe('the time that is drawn', () => {
  it('is that of what ended, whatever has been open for hours', () => {
    expect(wholeOf([piece('a', 100, 10), piece('loop', 0, 1e12, { open: true })])).toEqual({ from_ns: 100, until_ns: 110 });
    expect(wholeOf([piece('loop', 0, 50, { open: true })])).toEqual({ from_ns: 0, until_ns: 50 });
    expect(wholeOf([])).toEqual({ from_ns: 0, until_ns: 1 });
  });

  it('leaves out idle stretches that would hide the rest', () => {
    expect(foldsOf([piece('a', 0, 10), piece('b', 1000, 10), piece('c', 1015, 10)])).toEqual([{ from_ns: 10, until_ns: 1000 }]);
    expect(foldsOf([])).toEqual([]);
  });
});

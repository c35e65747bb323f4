import { describe, expect, it } from 'vitest';
import { seeded } from '../../random';
import { extent, inside, ordered, visible, type Row } from './tree';

const row = (id: string, parent: string | null, start_ns: number, elapsed_ns = 10): Row => ({
  id, parent, start_ns, elapsed_ns, depth: 0, level: 0, application: 'A', class: id, host: 'h', process: 1, thread: 1,
  cpu_ns: null, status: 'GOOD', asynchronous: false, independent: false, counts_for_chain: true, wait_ns: null, percentile: null, clock_error_ns: null, open: false,
  properties: {}, metrics: {}, links: [], links_unknown: false,
});
const ids = (rows: readonly Row[]) => ordered(rows).map((node) => node.row.id);

describe('the order of rows', () => {
  it('has each below its parent, earlier ones first', () => {
    const rows = [row('d', 'b', 40), row('c', 'a', 20), row('b', 'a', 10), row('a', null, 0)];
    expect(ordered(rows).map((node) => [node.row.id, node.depth, node.below])).toEqual([['a', 0, 3], ['b', 1, 1], ['d', 2, 0], ['c', 1, 0]]);
  });

  it('marks the way to the row that starts last', () => {
    const rows = [row('a', null, 0), row('b', 'a', 10), row('c', 'a', 20), row('d', 'b', 40)];
    expect(ordered(rows).filter((node) => node.last).map((node) => node.row.id)).toEqual(['a', 'b', 'd']);
  });

  it('has every row once, also with missing parents, circles and rows that are their own parent', () => {
    expect(ids([row('a', null, 0), row('b', 'gone', 5), row('x', 'y', 1), row('y', 'x', 2), row('s', 's', 3)]).sort())
      .toEqual(['a', 'b', 's', 'x', 'y']);
    expect(ordered([row('b', 'gone', 5)])[0]?.orphan).toBe(true);
    const random = seeded(9);
    for (let times = 0; times < 100; times += 1) {
      const rows = Array.from({ length: 60 }, (_, index) => row(String(index), random() < 0.1 ? null : String(Math.floor(random() * 70)), random() * 100));
      const nodes = ordered(rows);
      expect(new Set(nodes.map((node) => node.row.id)).size).toBe(60);
      expect(nodes.length).toBe(60);
      nodes.forEach((node, index) => expect(node.parent).toBeLessThan(index));
    }
  });

  it('takes a chain deeper than any stack', () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => row(String(index), index === 0 ? null : String(index - 1), index));
    expect(ordered(rows)).toHaveLength(20_000);
  });

  it('leaves out what is below a closed row', () => {
    const nodes = ordered([row('a', null, 0), row('b', 'a', 10), row('d', 'b', 40), row('c', 'a', 50)]);
    expect(visible(nodes, new Set(['b'])).map((index) => nodes[index]?.row.id)).toEqual(['a', 'b', 'c']);
    expect(visible(nodes, new Set(['a']))).toEqual([0]);
  });

  it('reaches from the first start to the last end', () => {
    expect(extent([row('a', null, 0, 100), row('b', 'a', -20, 5), row('c', 'a', 90, 50)])).toEqual({ from_ns: -20, until_ns: 140 });
  });
});

describe('what ran inside a row beside the path', () => {
  it('is its children that it waited for, by class, as far as they are within it', () => {
    const called = (id: string, name: string, start_ns: number, elapsed_ns: number, more: Partial<Row> = {}): Row => ({ ...row(id, 'a', start_ns, elapsed_ns), class: name, ...more });
    const rows = [
      row('a', null, 0, 100), called('b', 'lookup', 10, 20), called('c', 'lookup', 20, 20), called('d', 'log', 50, 5),
      called('e', 'later', 60, 10, { asynchronous: true }), called('f', 'beyond', 90, 20), row('last', 'a', 95, 200),
    ];
    const nodes = ordered(rows);
    // b and c overlap by 10; what goes on after its parent was not waited for.
    expect(inside(nodes, 0)).toEqual([{ name: 'A::lookup', ns: 30, count: 2 }, { name: 'A::log', ns: 5, count: 1 }]);
    expect(inside(nodes, 1)).toEqual([]);
  });
});

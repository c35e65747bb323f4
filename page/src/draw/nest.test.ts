import { describe, expect, it } from 'vitest';
import { nest } from './nest';

const row = (id: string, parent: string | null, start_ns: number) => ({ id, parent, start_ns });

describe('rows below their parents', () => {
  it('stand by their starts, with depth and number of what is below', () => {
    const rows = [row('d', 'b', 40), row('c', 'a', 20), row('b', 'a', 10), row('a', null, 0), row('e', null, 5)];
    expect(nest(rows).map((node) => [node.row.id, node.depth, node.below])).toEqual([['a', 0, 3], ['b', 1, 1], ['d', 2, 0], ['c', 1, 0], ['e', 0, 0]]);
  });

  it('are there once each, whatever they name as their parents', () => {
    const nodes = nest([row('a', null, 0), row('b', 'gone', 5), row('x', 'y', 1), row('y', 'x', 2), row('s', 's', 3)]);
    expect(nodes.map((node) => node.row.id).sort()).toEqual(['a', 'b', 's', 'x', 'y']);
    expect(nodes.filter((node) => node.orphan).map((node) => node.row.id)).toEqual(['b']);
  });
});

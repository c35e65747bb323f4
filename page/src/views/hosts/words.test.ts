import { describe, expect, it } from 'vitest';
import { NARROW } from '../../draw/format';
import { formatBitRate, longest, numericColumns, ofHosts } from './words';

describe('rates', () => {
  it.each([[0, '0 bit/s'], [950, '950 bit/s'], [1500, '1.50 kbit/s'], [999_600, '1.00 Mbit/s'], [12.34e6, '12.3 Mbit/s'], [10e9, '10.0 Gbit/s']])(
    '%d are %s', (bits, words) => expect(formatBitRate(bits).replaceAll(NARROW, ' ')).toBe(words));
});

describe('a table', () => {
  const grid = { title: 't', columns: ['Host', 'packets', 'what'], rows: [['a', 1, null], ['b', null, 'x'], ['a', 3, 4]] };
  it('has numbers where every cell that is known is one', () => {
    expect(numericColumns(grid)).toEqual([false, true, false]);
    expect(numericColumns({ ...grid, rows: [] })).toEqual([false, false, false]);
  });

  it('is cut to the hosts that are selected, where it names hosts', () => {
    expect(ofHosts(grid, ['a']).rows).toHaveLength(2);
    expect(ofHosts(grid, []).rows).toHaveLength(3);
    expect(ofHosts({ ...grid, columns: ['from', 'packets', 'what'] }, ['a']).rows).toHaveLength(3);
  });
});

describe('bars', () => {
  it('are drawn against the longest, predicted or measured', () => {
    const nothing = { predicted_p50_ns: null, predicted_p90_ns: null, measured_p50_ns: null, measured_p90_ns: null };
    expect(longest([nothing, { ...nothing, measured_p90_ns: 7, predicted_p50_ns: 5 }])).toBe(7);
    expect(longest([nothing])).toBe(1);
  });
});

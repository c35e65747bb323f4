import { describe, expect, it } from 'vitest';
import type { AttributeContrast } from '../../api/types';
import { gap, shownFirst, withFilter } from './differences';

describe('attributes that differ', () => {
  it('are folded away beyond the first eight, in their order', () => {
    const row = (filter: string): AttributeContrast['differences'][number] => ({
      filter, same: [], usual: 1, other: 1, usual_share: 0.1, other_share: 0.2, difference: 0.1, ratio: 2,
      mean_shift_ns: null, median_shift_ns: null, p_value: 0.001, p_corrected: 0.01,
    });
    const rows = Array.from('abcdefghij', (filter) => row(filter));
    const [shown, folded] = shownFirst(rows);
    expect([shown.length, folded.map((each) => each.filter)]).toEqual([8, ['i', 'j']]);
    expect(shownFirst([])).toEqual([[], []]);
  });

  it('have their difference in points, with a sign', () => {
    expect([0.89, -0.002, 0].map(gap)).toEqual(['+89.0', '−0.2', '+0.0']);
  });

  it('become a filter once', () => {
    expect(withFilter(undefined, 'tenant=acme')).toEqual(['tenant=acme']);
    expect(withFilter(['a', 'tenant=acme'], 'tenant=acme')).toEqual(['a', 'tenant=acme']);
    expect(withFilter(['a'], 'b')).toEqual(['a', 'b']);
  });
});

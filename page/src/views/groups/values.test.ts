import { describe, expect, it } from 'vitest';
import { filterOf, spreadScale, SPREAD_PX, valueText } from './values';

describe('a value of a group', () => {
  it('is a filter where it is there', () => {
    const group = { values: ['acme', null], others: false };
    expect([filterOf('leaf.tenant', group, 0), filterOf('region', group, 1)]).toEqual(['leaf.tenant=acme', undefined]);
    expect([valueText(group, 0), valueText(group, 1)]).toEqual(['acme', '(none)']);
    expect(valueText({ values: [null], others: true }, 0)).toBe('(others)');
    // A value that is empty is one.
    expect(filterOf('tenant', { values: [''], others: false }, 0)).toBe('tenant=');
  });
});

describe('the scale of all groups', () => {
  it('reaches from the shortest to the longest of all', () => {
    const scale = spreadScale([{ min_ns: 100, max_ns: 1e6 }, { min_ns: 50, max_ns: 1e3 }]);
    expect([scale.at(50), scale.at(1e6)]).toEqual([0, SPREAD_PX]);
    expect(spreadScale([]).at(1)).toBe(0);
  });
});

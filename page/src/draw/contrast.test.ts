import { describe, expect, it } from 'vitest';
import { filled, sharesOf, steps } from './contrast';

describe('histograms over each other', () => {
  it('compare as shares, also where one is empty', () => {
    expect(sharesOf([1, 3])).toEqual([0.25, 0.75]);
    expect(sharesOf([0, 0])).toEqual([0, 0]);
  });

  it('are drawn where there is something in any of them', () => {
    expect(filled([1, 2, 4, 8, 16], [[0, 0, 5, 0], [0, 1, 0, 0]])).toEqual([1, 3]);
    expect(filled([1, 2, 4], [[0, 0]])).toEqual([0, 2]);
  });

  it('have an outline of steps', () => {
    expect(steps([1, 2], (edge) => edge * 10, (value) => value)).toBe('L0.0 1.0L10.0 1.0L10.0 2.0L20.0 2.0');
  });
});

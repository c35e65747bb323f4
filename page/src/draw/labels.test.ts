import { describe, expect, it } from 'vitest';
import { labels } from './labels';

describe('labels', () => {
  it('stand side by side where there is room, below each other where there is none', () => {
    expect(labels([[0, 50], [60, 50], [80, 50], [90, 50]], 200, 3).map((label) => label.row)).toEqual([0, 0, 1, 2]);
  });

  it('turn to the left at the right end', () => {
    expect(labels([[180, 50]], 200, 3)).toEqual([{ row: 0, left: true }]);
  });
});

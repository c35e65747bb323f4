import { describe, expect, it } from 'vitest';
import { NARROW } from '../../draw/format';
import { contentWords, importWords, tooLarge } from './words';

describe('what lies in a range', () => {
  const content = { rows: 1234, chains: 56, chains_more: false, bytes: 2048, minutes: 1 };
  it('is said with its rows, chains, minutes and bytes', () => {
    expect(contentWords(content)).toBe(`1,234 rows of 56 chains in 1 minute, 2.00${NARROW}KiB`);
  });
  it('says a bound where not all chains were counted, and that there is nothing', () => {
    expect(contentWords({ ...content, chains_more: true })).toContain('of at least 56 chains');
    expect(contentWords({ ...content, rows: 0, chains: 0 })).toBe('No rows are stored in this time.');
  });
});

describe('a file', () => {
  it('that was imported before is said to be', () => {
    expect(importWords('a.csv', { rows: 1, rows_before: 0, format: 'csv' })).toBe('a.csv: 1 transaction imported');
    expect(importWords('a.csv', { rows: 0, rows_before: 3, format: 'csv' })).toBe('a.csv: 0 transactions imported; 3 were imported before');
  });
  it('is too large or not', () => {
    expect(tooLarge({ name: 'a', size: 11 }, 11)).toBe('');
    expect(tooLarge({ name: 'a', size: 12 }, 11)).toContain(`a has 12${NARROW}B`);
  });
});

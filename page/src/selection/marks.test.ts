import { describe, expect, it, vi } from 'vitest';

// The modules read these browser objects while they are loaded.
vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('location', { pathname: '/', search: '' });
const { covers, foundMarks, notedMarks, together } = await import('./marks');

describe('marks', () => {
  const noted = notedMarks({ marks: [{ id: 7, at_ns: 30, text: 'v2 on shop', service: '', by: '' }], damage: [] });
  const found = foundMarks({ changes: [{ at_ns: 20, service: 'shop', version: 'v2', before: 'v1' }] });

  it('are noted and found, by time', () => {
    expect(together(noted, found).map(({ at_ns, text, id }) => [at_ns, text, id])).toEqual([[20, 'v2 on shop', undefined], [30, 'v2 on shop', 7]]);
  });

  it('of one version are one, of the earlier time', () => {
    expect(together(found, [{ ...found[0], at_ns: 25 } as typeof found[number]]).map((mark) => mark.at_ns)).toEqual([20]);
  });
});

describe('a range that was looked at', () => {
  it('has what is within it, where all of its rows were looked at', () => {
    const all = { from_ns: undefined, until_ns: undefined };
    expect(covers(undefined, all)).toBe(false);
    expect(covers({ ...all, whole: true }, { from_ns: 5, until_ns: 9 })).toBe(true);
    expect(covers({ ...all, whole: false }, { from_ns: 5, until_ns: 9 })).toBe(false);
    expect(covers({ ...all, whole: false }, all)).toBe(true);
    expect(covers({ from_ns: 5, until_ns: 9, whole: true }, { from_ns: 5, until_ns: undefined })).toBe(false);
  });
});

import { describe, expect, it, vi } from 'vitest';

// The modules read these browser objects while they are loaded.
vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined });
vi.stubGlobal('location', { pathname: '/', search: '' });
const { linkTo, nameIn } = await import('./named');

describe('a link to a named view', () => {
  it.each(['slow', 'two words', 'a&b=c #1 ä+', '100%'])('%s has its name', (name) => {
    expect(nameIn(new URL(linkTo(name), 'http://here').hash)).toBe(name);
  });

  it('is none without a name', () => {
    expect(['', '#', '#view=', '#top'].map(nameIn)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

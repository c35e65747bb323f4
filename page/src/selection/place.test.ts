import { describe, expect, it } from 'vitest';
import { seeded } from '../random';
import { changed, formatPlace, moving, parsePlace, resolved, VIEWS, type Place, type Selected } from './place';

const parse = (address: string) => {
  const url = new URL(address, 'http://here');
  return parsePlace(url.pathname, url.search);
};

const NASTY = ['a', 'MRTS::decodePlots', 'ä ö', 'a&b=c', '100%', '#1?', 'a+b', '/x/', '“', 'a,b', '%41'];

function randomPlace(random: () => number): Place {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const maybe = <T>(value: T) => (random() < 0.5 ? value : undefined);
  const ns = () => Math.floor(random() * 2e18);
  const fixed = random() < 0.7;
  const last = fixed ? undefined : ns();
  const selection = Object.fromEntries(Object.entries({
    kind: maybe(pick(['acpd', 'apcd', 'sync'] as const)), root: maybe(pick(NASTY)), leaf: maybe(pick(NASTY)),
    level: maybe(pick(['any', '0', '12'])), path: maybe(pick(NASTY)), hosts: maybe(pick(NASTY)),
    from_ns: fixed ? maybe(ns()) : undefined, until_ns: fixed ? maybe(ns()) : undefined, last_ns: last, paused_ns: last === undefined ? undefined : maybe(ns()), min_ns: maybe(ns()), max_ns: maybe(0), limit_ns: maybe(ns()),
    clocks: maybe(pick(['raw', 'corrected'] as const)), where: maybe(pick([['tenant=a&b', 'root.x!='], ['leaf.ä']])),
  }).filter(([, value]) => value !== undefined)) as Selected;
  const own = random() < 0.5 ? {} : { scale: 'log', [pick(['brush', 'a b', 'ä'])]: pick(NASTY) };
  return { view: pick(VIEWS), item: random() < 0.5 ? '' : pick(NASTY), selection, own };
}

describe('an address', () => {
  it('leads back to the place it was made from, whatever is in it', () => {
    const random = seeded(1);
    for (let times = 0; times < 500; times += 1) {
      const place = randomPlace(random);
      expect(parse(formatPlace(place))).toEqual({ place, refused: [] });
    }
  });

  it('is legible', () => {
    const place = parse('/scatter?root=MRTS%3A%3AdecodePlots&hosts=a,b').place;
    expect(formatPlace(place)).toBe('/scatter?root=MRTS::decodePlots&hosts=a,b');
  });

  it('without a view is the scattergram', () => {
    expect(parse('/').place).toEqual({ view: 'scatter', item: '', selection: {}, own: {} });
  });

  it.each([
    ['/nonsense', 'there is no view called “nonsense”'],
    ['/scatter?from_ns=yesterday', 'from_ns=yesterday'],
    ['/scatter?min_ns=-1', 'min_ns=-1'],
    ['/scatter?max_ns=9999999999999999999', 'max_ns=9999999999999999999'],
    ['/scatter?kind=both', 'kind=both'],
    ['/scatter?level=-3', 'level=-3'],
    ['/scatter?last_ns=soon', 'last_ns=soon'],
    ['/scatter?where=%3Dacme', 'where==acme'],
    ['/scatter?where=root.', 'where=root.'],
    ['/scatter?paused_ns=5', 'paused_ns=5'],
  ])('%s says what was not understood', (address, said) => {
    const { place, refused } = parse(address);
    expect(refused).toEqual([said]);
    expect(place.selection).toEqual({});
  });

  it('with a cut-off escape does not throw', () => {
    expect(parsePlace('/chain/ab%', '').refused).toEqual(['“ab%” is not properly encoded']);
  });
});

describe('a time that is counted back from now', () => {
  const live = parse('/scatter?root=A::a&last_ns=600').place;

  it('is asked with the starts that it is at the moment, and moves', () => {
    expect(resolved(live, 1000).selection).toMatchObject({ from_ns: 400 });
    expect(resolved(live, 2000).selection).toMatchObject({ from_ns: 1400 });
    expect(resolved(live, 2000).selection.until_ns).toBeUndefined();
    expect(resolved(live, 100).selection).toMatchObject({ from_ns: 0 });
    // Before the store has said until when it has rows, nothing can be counted back from.
    expect(resolved(live, undefined)).toEqual(live);
    expect(moving(live)).toBe(true);
  });

  it('stands still once it is paused, for whoever follows the link', () => {
    const paused = changed(live, { selection: { last_ns: 600, paused_ns: 1000 } });
    expect(formatPlace(paused)).toBe('/scatter?root=A::a&last_ns=600&paused_ns=1000');
    expect(resolved(paused, 9000).selection).toMatchObject({ from_ns: 400, until_ns: 1000 });
    expect(moving(paused)).toBe(false);
    expect(formatPlace(changed(paused, { selection: { last_ns: 60 } }))).toBe('/scatter?root=A::a&last_ns=60');
  });

  it('gives way to fixed starts, and they to it', () => {
    expect(formatPlace(changed(live, { selection: { from_ns: 5, until_ns: undefined } }))).toBe('/scatter?root=A::a&from_ns=5');
    expect(formatPlace(changed(live, { selection: { from_ns: undefined } }))).toBe('/scatter?root=A::a');
    expect(formatPlace(changed(parse('/scatter?from_ns=1&until_ns=2').place, { selection: { last_ns: 60 } }))).toBe('/scatter?last_ns=60');
    expect(formatPlace(changed(live, { view: 'histogram', selection: { limit_ns: 7 } }))).toBe('/histogram?root=A::a&limit_ns=7&last_ns=600');
  });

  it('beside fixed starts is left out, and said to be', () => {
    const { place, refused } = parse('/scatter?from_ns=5&last_ns=600');
    expect(place.selection).toEqual({ from_ns: 5 });
    expect(refused).toEqual(['last_ns=600']);
  });
});

describe('a change', () => {
  const here = parse('/scatter?root=A::a&leaf=B::b&brush=1').place;

  it('of the view keeps the selection and leaves what was the view’s own', () => {
    expect(formatPlace(changed(here, { view: 'histogram' }))).toBe('/histogram?root=A::a&leaf=B::b');
  });

  it('within the view keeps both and takes away what is undefined', () => {
    expect(formatPlace(changed(here, { selection: { leaf: undefined }, own: { scale: 'log' } })))
      .toBe('/scatter?root=A::a&brush=1&scale=log');
  });

  it('to another item starts without parameters of its own', () => {
    const chain = changed(here, { view: 'chain', item: 'ab', own: { near_ns: '5' } });
    expect(changed(chain, { item: 'cd' }).own).toEqual({});
    expect(changed(chain, { own: { fold: 'no' } }).own).toEqual({ near_ns: '5', fold: 'no' });
  });
});

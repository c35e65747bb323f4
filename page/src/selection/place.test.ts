import { describe, expect, it } from 'vitest';
import type { Selection } from '../api/types';
import { seeded } from '../random';
import { changed, formatPlace, parsePlace, VIEWS, type Place } from './place';

const parse = (address: string) => {
  const url = new URL(address, 'http://here');
  return parsePlace(url.pathname, url.search);
};

const NASTY = ['a', 'MRTS::decodePlots', 'ä ö', 'a&b=c', '100%', '#1?', 'a+b', '/x/', '“', 'a,b', '%41'];

function randomPlace(random: () => number): Place {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const maybe = <T>(value: T) => (random() < 0.5 ? value : undefined);
  const ns = () => Math.floor(random() * 2e18);
  const selection = Object.fromEntries(Object.entries({
    kind: maybe(pick(['acpd', 'apcd', 'sync'] as const)), root: maybe(pick(NASTY)), leaf: maybe(pick(NASTY)),
    level: maybe(pick(['any', '0', '12'])), path: maybe(pick(NASTY)), hosts: maybe(pick(NASTY)),
    from_ns: maybe(ns()), until_ns: maybe(ns()), min_ns: maybe(ns()), max_ns: maybe(0), limit_ns: maybe(ns()),
    clocks: maybe(pick(['raw', 'corrected'] as const)),
  }).filter(([, value]) => value !== undefined)) as Selection;
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
    ['/nonsense', 'there is no view “nonsense”'],
    ['/scatter?from_ns=yesterday', 'from_ns=yesterday'],
    ['/scatter?min_ns=-1', 'min_ns=-1'],
    ['/scatter?max_ns=9999999999999999999', 'max_ns=9999999999999999999'],
    ['/scatter?kind=both', 'kind=both'],
    ['/scatter?level=-3', 'level=-3'],
  ])('%s says what was not understood', (address, said) => {
    const { place, refused } = parse(address);
    expect(refused).toEqual([said]);
    expect(place.selection).toEqual({});
  });

  it('with a cut-off escape does not throw', () => {
    expect(parsePlace('/chain/ab%', '').refused).toEqual(['“ab%” is not properly encoded']);
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

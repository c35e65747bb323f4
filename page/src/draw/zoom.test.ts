import { describe, expect, it } from 'vitest';
import { seeded } from '../random';
import { linear, log, scaleOf } from './scale';
import { goesOn, panned, rounded, wheelFactor, zoomed } from './zoom';

const NOON = Date.UTC(2026, 10, 23, 12) * 1e6;

describe('a zoom', () => {
  it('keeps what is under the pointer where it is, on either kind of axis', () => {
    const random = seeded(21);
    for (let times = 0; times < 300; times += 1) {
      const kind = random() < 0.5 ? 'log' : 'linear';
      const scale = scaleOf(kind, 1e3 * (1 + random() * 1e3), 1e7 * (1 + random() * 1e3), 800);
      const pixel = random() * 800;
      const [from, until] = zoomed(scale, pixel, 0.3 + random());
      expect(scaleOf(kind, from, until, 800).value(pixel) / scale.value(pixel)).toBeCloseTo(1, 9);
    }
  });

  it('shows half of it in twice the room, and its inverse all again', () => {
    expect(zoomed(linear(0, 800, 400), 100, 0.5)).toEqual([100, 500]);
    expect(zoomed(linear(100, 500, 400), 100, 2)).toEqual([0, 800]);
    const [from, until] = zoomed(log(1e3, 1e7, 400), 0, 0.5);
    expect(from).toBe(1e3);
    expect(until).toBeCloseTo(1e5, 3);
  });

  it('is closer where the wheel is turned away, by as much whichever axis the browser says it on', () => {
    const turn = (deltaX: number, deltaY: number, deltaMode = 0) => wheelFactor({ deltaX, deltaY, deltaMode });
    expect(turn(0, -100)).toBeLessThan(1);
    expect(turn(0, -100) * turn(0, 100)).toBeCloseTo(1, 12);
    expect(turn(-100, 0)).toBe(turn(0, -100)); // with shift
    expect(turn(0, 3, 1)).toBe(turn(0, 48));
    expect(turn(0, 0)).toBe(1);
    expect(turn(0, 1e9)).toBeLessThan(20);
  });
});

describe('a picture that is pushed', () => {
  it('shows what lay before it', () => {
    expect(panned(linear(1000, 2000, 500), 100)).toEqual([800, 1800]);
    const [from, until] = panned(log(1e4, 1e6, 200), -100);
    expect(from).toBeCloseTo(1e5, 3);
    expect(until).toBeCloseTo(1e7, 2);
  });

  it('by nothing is to the last bit what it was', () => {
    expect(panned(log(12_345, 98_765_433, 777), 0)).toEqual([12_345, 98_765_433]);
  });
});

describe('a bound', () => {
  it('has few digits, never cuts anything off, and is off by less than is seen', () => {
    const random = seeded(22);
    for (let times = 0; times < 500; times += 1) {
      const from = Math.floor(10 ** (2 + random() * 8));
      const range = Math.floor(10 ** (1 + random() * 9));
      const low = rounded(from, range, Math.floor);
      const high = rounded(from + range, range, Math.ceil);
      expect(low).toBeLessThanOrEqual(from);
      expect(high).toBeGreaterThanOrEqual(from + range);
      expect(from - low).toBeLessThanOrEqual(Math.max(1, range / 10_000));
      expect(high - from - range).toBeLessThanOrEqual(Math.max(1, range / 10_000));
      expect(Number.isInteger(low) && Number.isInteger(high)).toBe(true);
    }
  });

  it('of a time says milliseconds where seconds are shown', () => {
    expect(rounded(NOON + 1_234_567_890, 20e9, Math.floor)).toBe(NOON + 1_234_000_000);
    expect(rounded(NOON + 1_234_567_890, 20e9, Math.ceil)).toBe(NOON + 1_235_000_000);
    expect(rounded(NOON, 20e9, Math.ceil)).toBe(NOON);
  });
});

it('goes on with a gesture while its steps follow each other, and only then', () => {
  expect(goesOn(-Infinity, 0)).toBe(false);
  expect(goesOn(1000, 1200)).toBe(true);
  expect(goesOn(1000, 3000)).toBe(false);
});

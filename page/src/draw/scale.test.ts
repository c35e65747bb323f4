import { describe, expect, it } from 'vitest';
import { seeded } from '../random';
import { linear, log, niceStep, scaleOf, ticks, timeTicks } from './scale';

describe('a scale', () => {
  it('leads from a pixel to a value and back, and its ends to its ends', () => {
    const random = seeded(4);
    for (let times = 0; times < 500; times += 1) {
      const from = Math.exp(random() * 20);
      const scale = scaleOf(random() < 0.5 ? 'log' : 'linear', from, from * (1.5 + random() * 1000), 100 + random() * 3000);
      const pixel = random() * scale.length;
      expect(scale.at(scale.value(pixel))).toBeCloseTo(pixel, 6);
      expect(scale.at(scale.from)).toBeCloseTo(0, 6);
      expect(scale.at(scale.until)).toBeCloseTo(scale.length, 6);
    }
  });

  it('of nothing at all is still finite', () => {
    for (const scale of [linear(5, 5, 100), log(0, 0, 100), log(7, 7, 100)]) {
      expect(Number.isFinite(scale.at(5))).toBe(true);
      expect(Number.isFinite(scale.value(50))).toBe(true);
      expect(ticks(scale, 5).every(Number.isFinite)).toBe(true);
    }
  });

  it('has ticks within it, ascending, about as many as asked for', () => {
    const random = seeded(5);
    for (let times = 0; times < 500; times += 1) {
      const from = Math.exp(random() * 15);
      const scale = scaleOf(random() < 0.5 ? 'log' : 'linear', from, from * (1.2 + random() * 1e6), 800);
      const found = ticks(scale, 8);
      expect(found.length).toBeGreaterThanOrEqual(1);
      expect(found.length).toBeLessThanOrEqual(26);
      expect([...found].sort((a, b) => a - b)).toEqual(found);
      for (const tick of found) {
        expect(scale.at(tick)).toBeGreaterThanOrEqual(-0.01);
        expect(scale.at(tick)).toBeLessThanOrEqual(800.01);
      }
    }
  });

  it('puts ticks at round values', () => {
    expect(ticks(linear(0, 10, 100), 5)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticks(log(1e3, 1e6, 100), 4)).toEqual([1e3, 1e4, 1e5, 1e6]);
    expect(niceStep(10, 4)).toBe(2);
  });
});

describe('ticks of time', () => {
  it('stand at full seconds, minutes and hours, also far from 1970', () => {
    const noon = Date.UTC(2026, 10, 23, 12) * 1e6;
    const minute = timeTicks(noon, noon + 60e9, 6);
    expect(minute.ticks.map((tick) => (tick - noon) / 1e9)).toEqual([0, 10, 20, 30, 40, 50, 60]);
    expect(minute.decimals).toBe(0);
    const day = timeTicks(noon, noon + 86_400e9, 8);
    expect(day.ticks.map((tick) => (tick - noon) / 3600e9)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24]);
  });

  it('say as many decimals as they need', () => {
    expect(timeTicks(0, 5e6, 5).decimals).toBe(3);
    expect(timeTicks(0, 5e8, 5).decimals).toBe(1);
    expect(timeTicks(0, 40 * 86_400e9, 5).days).toBe(true);
  });
});

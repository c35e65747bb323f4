import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seeded } from '../random';
import {
  exactDuration, exactTime, formatBytes, formatCount, formatDifference, formatDuration, formatNumber, formatRange, formatShare,
  formatShort, formatTime, formatTimeOfDay, NARROW, parseDuration, parseTime,
} from './format';

const plain = (text: string) => text.replaceAll(NARROW, ' ');

describe('durations', () => {
  it.each([
    [0, '0 ns'], [1, '1 ns'], [999, '999 ns'], [1000, '1.00 µs'], [1234, '1.23 µs'], [9996, '10.0 µs'],
    [99_960, '100 µs'], [999_499, '999 µs'], [999_600, '1.00 ms'], [45_678_000, '45.7 ms'], [1_048e6, '1.05 s'],
    [75e9, '75.0 s'], [119.4e9, '119 s'], [125e9, '2 min 05 s'], [3 * 3600e9 + 20 * 60e9, '3 h 20 min'],
    [2 * 86_400e9 + 3 * 3600e9, '2 d 03 h'], [-1500, '−1.50 µs'], [Number.NaN, '–'],
  ])('%d ns are %s', (ns, text) => expect(plain(formatDuration(ns))).toBe(text));

  it('are off by at most half of the third digit', () => {
    const random = seeded(2);
    const units: Record<string, number> = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };
    for (let times = 0; times < 2000; times += 1) {
      const ns = Math.exp(random() * Math.log(119e9));
      const [value = '', unit = ''] = plain(formatDuration(ns)).split(' ');
      const read = Number(value) * (units[unit] ?? Number.NaN);
      expect(Math.abs(read - ns)).toBeLessThanOrEqual(Math.max(0.5, ns * 0.005001));
      if (unit !== 'ns') expect(value.replace('.', '')).toHaveLength(3);
    }
  });

  it('that are typed are read; those without a unit are refused', () => {
    expect(parseDuration('1.5 ms')).toBe(1_500_000);
    expect(parseDuration(' 200us ')).toBe(200_000);
    expect(parseDuration('.5s')).toBe(5e8);
    expect(parseDuration('2 min')).toBe(120e9);
    for (const text of ['', '5', 'ms', '-1 ms', '1 ms 2', '1e3 ms', '1 year']) expect(parseDuration(text)).toBeUndefined();
  });

  it('in a field are read back as what they were', () => {
    const random = seeded(3);
    for (let times = 0; times < 1000; times += 1) {
      const ns = Math.floor(Math.exp(random() * Math.log(1e18)));
      expect(parseDuration(exactDuration(ns))).toBe(ns);
    }
    expect(exactDuration(20e6)).toBe('20 ms');
  });

  it('as differences have their sign', () => {
    expect(plain(formatDifference(1500))).toBe('+1.50 µs');
    expect(plain(formatDifference(-1500))).toBe('−1.50 µs');
  });
});

describe('numbers', () => {
  it.each([
    [0, '0'], [0.1234, '0.123'], [1.2345, '1.23'], [9.996, '10.0'], [99.96, '100'], [12.34, '12.3'], [1234.5, '1,235'],
    [-2, '−2.00'], [999.6, '1,000'],
  ])('%d is %s', (value, text) => expect(formatNumber(value)).toBe(text));

  it('are counts, short or whole, and bytes', () => {
    expect(formatCount(1_234_567)).toBe('1,234,567');
    expect(plain(formatShort(1_234_567))).toBe('1.23 M');
    expect(plain(formatShort(999_700))).toBe('1.00 M');
    expect(formatShort(950)).toBe('950');
    expect(plain(formatBytes(5 * 2 ** 30))).toBe('5.00 GiB');
  });

  it.each([
    [0, '0 %'], [1, '100 %'], [0.00001, '<0.01 %'], [0.99999, '>99.99 %'], [0.9973, '99.73 %'], [0.0123, '1.23 %'],
    [0.5, '50.0 %'],
  ])('the share %d is %s', (share, text) => expect(plain(formatShare(share))).toBe(text));
});

describe('times', () => {
  const noon = Date.UTC(2026, 10, 23, 12) * 1e6;

  it('are UTC, and cut to their decimals', () => {
    expect(formatTime(noon, 0)).toBe('2026-11-23 12:00:00');
    expect(formatTimeOfDay(noon + 1_999_999_000, 3)).toBe('12:00:01.999');
    expect(formatRange(noon, noon + 60e9)).toBe('2026-11-23 12:00:00 – 12:01:00');
    expect(formatRange(noon, noon + 86_400e9)).toBe('2026-11-23 12:00:00 – 2026-11-24 12:00:00');
  });

  it('that are typed are read, with and without a date', () => {
    expect(parseTime('2026-11-23 12:00:01.5', 0)).toBe(noon + 1.5e9);
    expect(parseTime('2026-11-23T12:00Z', 0)).toBe(noon);
    expect(parseTime('12:30', noon)).toBe(noon + 1800e9);
    for (const text of ['', 'noon', '25:00', '12:60', '2026-13-01 10:00', '1969-12-31 10:00']) {
      expect(parseTime(text, noon)).toBeUndefined();
    }
  });
});

describe('a time in a field', () => {
  const noon = Date.UTC(2026, 10, 23, 12) * 1e6;

  it.each([[0, ''], [250e6, '.250'], [1e6 + 1e3 * 512, '.001512'], [250, '']])('%d ns after noon ends in %j', (ns, decimals) => {
    expect(exactTime(noon + ns)).toBe(`2026-11-23 12:00:00${decimals}`);
  });

  it('is read back to the microsecond', () => {
    for (const ns of [0, 123e6, 123_456e3]) expect(parseTime(exactTime(noon + ns), 0)).toBe(noon + ns);
  });
});

// The same table is read by crates/figures/tests/numbers.rs: a terminal and the page agree.
describe('numbers as on a terminal', () => {
  const table = readFileSync(new URL('../../../crates/figures/tests/numbers.tsv', import.meta.url), 'utf8');
  const rows = table.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split('\t'));
  const formats: Readonly<Record<string, (value: string) => string>> = {
    count: (value) => formatCount(Number(value)),
    duration: (value) => formatDuration(Number(value)),
    bytes: (value) => formatBytes(Number(value)),
    share: (value) => formatShare(Number(value)),
    read: (value) => String(parseDuration(value) ?? '-'),
  };

  it.each(rows)('%s %s', (kind = '', value = '', ...texts) => {
    expect(plain(formats[kind]?.(value) ?? '')).toBe(texts[1]);
  });
});

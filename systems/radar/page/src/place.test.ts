import { expect, it } from 'vitest';
import { read, write, type View } from './place';

const FIRST: View = { centre: { lat: 51.1, lon: 10.4 }, height: 510, vector: 1, dots: 6, low: 0, high: 999, off: ['airways'], track: null };

it('what is written is read again', () => {
  const views: View[] = [
    FIRST,
    { ...FIRST, centre: { lat: 48.35, lon: 11.79 }, height: 80.5, vector: 3, dots: 0, low: 245, high: 460, off: [], track: 17 },
    { ...FIRST, off: ['land', 'rings'] },
  ];
  for (const view of views) expect(read(write(view, FIRST), FIRST)).toEqual(view);
  expect(write(FIRST, FIRST)).toBe('');
});

it('nonsense is as if it were not there, and bounds hold', () => {
  expect(read('?lat=north&height=&vector=x&off=moon', FIRST)).toEqual({ ...FIRST, off: [] });
  expect(read('?height=1e9&vector=7&low=300&high=100&dots=-4', FIRST)).toMatchObject({ height: 5000, vector: 3, low: 300, high: 300, dots: 0 });
});

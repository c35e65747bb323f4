import { describe, expect, it } from 'vitest';
import { alertsOf, linkOf } from './link';
import { ageSeconds } from './stale';
import type { PictureAge, Status } from './wire';

function status(connected: boolean, picture: Partial<PictureAge>): Status {
  const all: PictureAge = { state: 'current', age_ms: 400, limit_ms: 3000, period_ms: 1200, other_clock: false, ...picture };
  return { kind: 'status', connected, picture: all } as unknown as Status;
}

describe('the picture is the present one', () => {
  it('only when the process says so', () => {
    expect(linkOf(status(true, {}))).toBe('up');
    expect(linkOf(status(true, { state: 'stale' }))).toBe('stale');
    expect(linkOf(status(true, { state: 'empty', age_ms: null }))).toBe('empty');
    // Without the message server nothing else counts.
    expect(linkOf(status(false, {}))).toBe('no messages');
  });

  it('and its age goes on when the process says nothing', () => {
    expect(ageSeconds(status(true, { age_ms: 3400 }), 700)).toBe(4);
    expect(ageSeconds(status(true, { age_ms: null }), 700)).toBeUndefined();
    expect(ageSeconds(undefined, 0)).toBeUndefined();
  });
});

it('the most urgent alert of a track is its alert', () => {
  const area = (track: number) => ({ track, area: 'R1', kind: 'proximity' as const, in_s: 0 });
  const said = { areas: [area(1), area(2), area(3)], in_conflict: [2, 3], in_violation: [3, 4] } as unknown as Status;
  expect([...alertsOf(said)]).toEqual([[1, 'area'], [2, 'predicted'], [3, 'violation'], [4, 'violation']]);
});

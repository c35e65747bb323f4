import { expect, it } from 'vitest';
import { clearedWords, lines, lookOf } from './target';
import { FLAGS, type Track } from './wire';

const BARE: Track = {
  number: 7, flags: 0, at: { lat: 51, lon: 10 }, east: 231.5, north: 0, code: 0o1234, level: 75.25, climb: -1500,
  cleared: null, history: [], callsign: '', type: '', departure: '', destination: '',
};
const PLAN: Track = { ...BARE, flags: FLAGS.plan, callsign: 'DLH4AB', type: 'A320', destination: 'EDDM', cleared: 60 };

it('a label says what the controller needs', () => {
  // 231.5 m/s are 450 kt.
  expect(lines(BARE, 'none')).toEqual(['A1234', '075↓ -15', '45']);
  expect(lines(PLAN, 'none')).toEqual(['DLH4AB', '075↓ 060 -15', '45 A320 EDDM']);
  expect(lines({ ...PLAN, climb: 250, level: null }, 'predicted')).toEqual(['DLH4AB STCA', '--- 060', '45 A320 EDDM']);
  expect(lines({ ...PLAN, climb: 1820 }, 'violation').slice(0, 2)).toEqual(['DLH4AB STCA!', '075↑ 060 +18']);
  expect(lines({ ...BARE, code: null }, 'none')[0]).toBe('#7');
});

it('a cleared level is shown until it is flown', () => {
  const level = (track: Track) => lines(track, 'none')[1];
  const kept = { ...PLAN, level: 60.5, climb: 0 };
  expect(level(kept)).toBe('061');
  expect(level({ ...kept, climb: 900 })).toBe('061↑ 060 +9');
  expect(level({ ...kept, flags: kept.flags | FLAGS.differs })).toBe('061 060?');
  expect([clearedWords(kept), clearedWords({ ...kept, flags: FLAGS.selected }), clearedWords(BARE)]).toEqual(['cleared 060', 'selected 060', '']);
  expect(clearedWords({ ...kept, flags: FLAGS.differs })).toBe('cleared 060, another selected');
});

it('symbols tell what is known', () => {
  expect(lookOf(PLAN)).toBe('correlated');
  expect(lookOf(BARE)).toBe('uncorrelated');
  expect(lookOf({ ...BARE, code: null })).toBe('primary');
  expect(lookOf({ ...PLAN, flags: FLAGS.plan | FLAGS.coasting })).toBe('coasting');
  expect(lookOf({ ...PLAN, flags: FLAGS.plan | FLAGS.silent })).toBe('coasting');
  const emergency = { ...PLAN, code: 0o7700, flags: FLAGS.coasting };
  expect([lookOf(emergency), lines(emergency, 'none')[0]]).toEqual(['emergency', 'DLH4AB 7700']);
});

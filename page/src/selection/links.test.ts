import { describe, expect, it } from 'vitest';
import { toLimited } from './links';

describe('a limit on chains', () => {
  it('leads to their histogram with that limit', () => {
    expect(toLimited('MRTS::decodePlots → CWP::TargetView_redraw', 5)?.selection).toMatchObject({ kind: 'acpd', root: 'MRTS::decodePlots', leaf: 'CWP::TargetView_redraw', level: undefined, limit_ns: 5 });
    expect(toLimited('A b::c d → E::f at level 4', null)?.selection).toMatchObject({ root: 'A b::c d', leaf: 'E::f', level: '4', limit_ns: undefined });
  });

  it('is none where it is on a class, or does not say the application', () => {
    expect(['CWP::TargetView_redraw', 'decodePlots → redraw', ''].map((what) => toLimited(what, 1))).toEqual([undefined, undefined, undefined]);
  });
});

import { describe, expect, it } from 'vitest';
import { groups, nameOf, trouble, type Host, type Summary } from './hosts';

const host = (agent: string | null, more: Partial<Host> = {}): Host => ({
  agent, host: agent === null ? '' : `h-${agent}`, program: null, state: 'answered', away_since_ns: null, rings: 0, left_out: 0, failed: [], reason: null, ...more,
});
const ring = (id: string, agent: string | null, alive = true): Summary => ({
  id, agent, application: 'A', instance: 'h', process: 1, alive, started_ns: 0, recorded: 0, lost: 0, open: 0,
});

describe('processes host by host', () => {
  it('are those of this host, then of each agent, running ones first', () => {
    const found = groups({ hosts: [host(null), host('a')], failed: [], rings: [ring('dead', null, false), ring('1', null), ring('2', 'a')] });
    expect(found.map(({ host: each, rings }) => [nameOf(each), rings.map(({ id }) => id)])).toEqual([['this host', ['1', 'dead']], ['h-a', ['2']]]);
  });

  it('or there is a reason why there are none', () => {
    expect(trouble(host('a'))).toBeUndefined();
    expect(trouble(host('a', { state: 'away', away_since_ns: 1_795_219_200e9, reason: 'gone' }))).toBe('away since 2026-11-21 00:00:00 UTC');
    expect(trouble(host('a', { state: 'older', reason: 'the agent of h is of an older version' }))).toBe('the agent of h is of an older version');
    expect(trouble(host('a', { state: 'unanswered', reason: null }))).toBe('unanswered');
  });
});

// The processes of a list of rings, host by host, and what there is to say of hosts without any.

import type { Rings } from '../../api/types';
import { formatTime } from '../../draw/format';

export type Summary = Rings['rings'][number];
export type Host = Rings['hosts'][number];

/** A host with its rings, those that run first. */
export interface Group {
  readonly host: Host;
  readonly rings: readonly Summary[];
}

/** The hosts in the server's order: its own first. */
export function groups({ hosts, rings }: Rings): Group[] {
  return hosts.map((host) => {
    const own = rings.filter((ring) => ring.agent === host.agent);
    return { host, rings: [...own.filter((ring) => ring.alive), ...own.filter((ring) => !ring.alive)] };
  });
}

/** Name of a host. */
export function nameOf({ agent, host }: Host): string {
  return agent === null ? 'this host' : host;
}

/** Why a host has no rings here, and since when; `undefined` where it answered. */
export function trouble({ state, reason, away_since_ns }: Host): string | undefined {
  if (state === 'answered') return undefined;
  if (state === 'away' && away_since_ns !== null) return `away since ${formatTime(away_since_ns, 0)} UTC`;
  return reason ?? state;
}

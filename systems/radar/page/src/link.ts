// What the process says of itself and of the tracks, as the page takes it.

import type { Alert } from './target';
import type { Status } from './wire';

/** State of what is shown: current, or why it is not: no track yet; no updates; no message server; no
 * word from the process; no connection to it. */
export type Link = 'up' | 'empty' | 'stale' | 'no messages' | 'quiet' | 'lost';

/** What is to be said of a process that says this. */
export function linkOf(status: Status): Link {
  if (!status.connected) return 'no messages';
  return ({ empty: 'empty', stale: 'stale', current: 'up' } as const)[status.picture.state];
}

/** What is alerted of each track: the most urgent of it. */
export function alertsOf({ areas, in_conflict: predicted, in_violation: violating }: Status): ReadonlyMap<number, Alert> {
  const alerts = new Map<number, Alert>();
  for (const { track } of areas) alerts.set(track, 'area');
  for (const track of predicted) alerts.set(track, 'predicted');
  for (const track of violating) alerts.set(track, 'violation');
  return alerts;
}

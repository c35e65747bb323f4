// What is said when the picture is not the present one.

import { useEffect, useState } from 'preact/hooks';
import type { Link } from './link';
import type { Position } from './position';
import type { Status } from './wire';

/** Words of the head for each state. */
export const LINK_WORDS: Readonly<Record<Link, string>> = {
  up: 'messages up',
  empty: 'no tracks',
  stale: 'STALE: no track updates',
  'no messages': 'no connection to the message server',
  quiet: 'no word from the display process',
  lost: 'connection lost: retrying',
};

/** Why the picture is not the present one; undefined while it is. */
const WHY: Readonly<Record<Link, string | undefined>> = {
  up: undefined,
  empty: undefined,
  stale: 'The message server is there, but no track has been updated.',
  'no messages': 'The message server is not there.',
  quiet: 'The display process says nothing.',
  lost: 'The display process is not there.',
};

/** Seconds since the newest state that is shown held; `sinceStatusMs` have passed since the status. */
export function ageSeconds(status: Status | undefined, sinceStatusMs: number): number | undefined {
  const age = status?.picture.age_ms ?? undefined;
  return age === undefined ? undefined : Math.floor((age + sinceStatusMs) / 1000);
}

/** A banner over the picture, and a frame around it. */
export function Stale({ position }: { readonly position: Position }) {
  const link = position.link.value;
  const status = position.status.value;
  const never = status?.picture.age_ms == null;
  const why = link === 'stale' && never ? 'The message server is there, but no tracker says anything.' : WHY[link];
  const isStale = why !== undefined;
  const [, tick] = useState(0);
  useEffect(() => {
    if (!isStale) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), 500);
    return () => clearInterval(timer);
  }, [isStale]);
  if (!isStale) return null;
  const age = ageSeconds(status, performance.now() - position.statusAt);
  const period = status?.picture.period_ms;
  return (
    <div class="stale">
      <p role="alert">
        <strong>{age === undefined ? 'NO PICTURE' : 'STALE PICTURE'}</strong>
        {age !== undefined && <span aria-live="off">Positions are {age} s old{period == null ? '' : `, usually updated every ${(period / 1000).toFixed(1)} s`}. </span>}
        {why}
      </p>
    </div>
  );
}

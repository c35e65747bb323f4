// A time that is counted back from now moves on with the store: each time the server has said how far
// the store reaches, unless somebody would lose what they look at, or has paused it.

import { batch, effect, signal, untracked } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { status } from '../api/connection';
import { beat, underWay } from '../api/question';
import type { Status } from '../api/types';
import { go, moves, place, storeNow } from './current';

/** Number of views that ask for the time to stand still. */
const holds = signal(0);

/** Whether a view holds a time that would move: something in it is marked. */
export function held(): boolean {
  return holds.value > 0;
}

/** Lets a time that would move stand still while `when`. */
export function useHold(when: boolean): void {
  useEffect(() => {
    if (!when) return undefined;
    holds.value = holds.peek() + 1;
    return () => {
      holds.value = holds.peek() - 1;
    };
  }, [when]);
}

/** Pauses a time that moves, or lets it go on. Which, is in the address. */
export function pauseOrGoOn(): void {
  const { last_ns, paused_ns } = place().selection;
  if (last_ns === undefined) return;
  go({ selection: { last_ns, paused_ns: paused_ns === undefined ? storeNow.peek() : undefined } });
}

/** In ns: addresses hold no more digits than say something. */
const MILLISECOND = 1e6;

/**
 * Until when a store has rows, or undefined where it has none. The minutes that it covers may not be
 * over yet.
 */
export function reaches({ covered, as_of_ns }: Pick<Status, 'covered' | 'as_of_ns'>): number | undefined {
  if (covered === null) return undefined;
  return Math.floor(Math.min(covered.until_ns, as_of_ns ?? Infinity) / MILLISECOND) * MILLISECOND;
}

/** Follows the store for as long as the page is open. Called once. */
export function followStore(): void {
  let pressed = false;
  // A drag of whatever kind: its axes must stay where they are.
  for (const [name, down] of [['pointerdown', true], ['pointerup', false], ['pointercancel', false]] as const) {
    addEventListener(name, () => (pressed = down), { capture: true });
  }
  // Only the window's own: an element loses the focus just because the button went down on another.
  addEventListener('blur', () => (pressed = false));
  const mayMove = () => document.visibilityState === 'visible' && !pressed && holds.value === 0 && underWay.value === 0;
  effect(() => {
    const now = status.value === undefined ? undefined : reaches(status.value) ?? Date.now() * MILLISECOND;
    if (now === undefined) return;
    untracked(() => {
      // A hidden page loses nothing by a jump of the time.
      if (moves() && storeNow.value !== undefined && !mayMove()) return;
      batch(() => {
        storeNow.value = now;
        if (moves()) beat.value += 1;
      });
    });
  });
  effect(() => {
    const first = moves() ? 1 : 0;
    if (first === 0 || beat.peek() === 0) beat.value = first;
  });
}

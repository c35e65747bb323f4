// The place that is shown now, and how to go to another: the only state of the page that outlives
// a view. It is derived from the URL and never set without it; and from the store's time, where the
// URL counts back from that.

import { computed, signal } from '@preact/signals';
import { changed, formatPlace, moving, parsePlace, resolved, type Change, type Parsed, type Place } from './place';

const read = (): Parsed => parsePlace(location.pathname, location.search);
const parsed = signal<Parsed>(read());
/** Until when the store has rows: what a time is counted back from. UTC ns since 1970; unknown until it is asked. */
export const storeNow = signal<number | undefined>(undefined);
const shown = computed(() => resolved(parsed.value.place, storeNow.value));

/** Follows the back and forward buttons. Called once, before the first picture. */
export function followHistory(): void {
  addEventListener('popstate', () => (parsed.value = read()));
}

/** The place that is shown, with the starts that it has at the moment. Reading it in a component makes that follow it. */
export function place(): Place {
  return shown.value;
}

/** Whether the starts that are shown move by themselves. */
export function moves(): boolean {
  return moving(parsed.value.place);
}

/** The parts of the address that were not understood. */
export function refused(): readonly string[] {
  return parsed.value.refused;
}

/** The address that a change leads to: what a link points to. */
export function address(change: Change): string {
  return formatPlace(changed(parsed.value.place, change));
}

/** The address of what is shown. */
export function here(): string {
  return formatPlace(parsed.value.place);
}

/** Goes to an address of this page, as [`here`] says it. */
export function goToAddress(address: string): void {
  const { pathname, search } = new URL(address, location.origin);
  history.pushState(null, '', pathname + search);
  parsed.value = read();
}

/**
 * Goes there. `replace` leaves no step in the history: for what the reader did not choose (a
 * default that is filled in) and for steps that come by the dozen (keys that are held down).
 */
export function go(change: Change, replace = false): void {
  const next = changed(parsed.value.place, change);
  const url = formatPlace(next);
  if (url === location.pathname + location.search) return;
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  parsed.value = { place: next, refused: [] };
}

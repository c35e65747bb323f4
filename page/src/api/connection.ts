// Whether the server answers, and what it wants to be shown. When it is lost, the page keeps what
// it has, says so in its head, and asks everything again as soon as the server is back.

import { effect, signal } from '@preact/signals';
import { ask } from './client';
import { Problem } from './problem';
import type { Status } from './types';

const KEY = 'chronoscope-token';

/** `asking` until the first answer. */
export const connection = signal<'asking' | 'well' | 'lost'>('asking');
/** Token for `Authorization: Bearer`; '' for none. It is lost when the tab is closed. */
export const token = signal(sessionStorage.getItem(KEY) ?? '');
/** Whether the server refused for want of the token. */
export const tokenWanted = signal(false);
/** Grows when everything has to be asked again. */
export const epoch = signal(0);
/** The server's last word about itself. */
export const status = signal<Status | undefined>(undefined);

/** An answer came. */
export function heard(): void {
  if (connection.peek() === 'lost') epoch.value += 1;
  connection.value = 'well';
}

/** Shows this token from now on, and asks everything again. */
export function showToken(text: string): void {
  sessionStorage.setItem(KEY, text);
  token.value = text;
  tokenWanted.value = false;
  epoch.value += 1;
  void look();
}

const EVERY_MS = 5000;
const LOST_EVERY_MS = 1000;

async function look(): Promise<void> {
  try {
    status.value = await ask('status');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Refused, for whatever reason, is answered: the server is there.
    if (error.kind !== 'lost') heard();
  }
}

/** Looks after the server for as long as the page is open. */
export function watchServer(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let looking = false;
  const again = () => {
    if (looking) return;
    looking = true;
    clearTimeout(timer);
    void look().finally(() => {
      looking = false;
      timer = setTimeout(again, connection.peek() === 'lost' ? LOST_EVERY_MS : EVERY_MS);
    });
  };
  // A question found it lost, between two looks: from now on each second.
  effect(() => {
    if (connection.value !== 'lost') return;
    clearTimeout(timer);
    timer = setTimeout(again, LOST_EVERY_MS);
  });
  again();
}

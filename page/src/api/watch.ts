// Asks the server for its state as long as the page is open, and shows it a token.

import { effect } from '@preact/signals';
import { ask } from './client';
import { connection, epoch, heard, status, token, TOKEN_KEY, tokenWanted } from './connection';
import { Problem } from './problem';

/** Shows this token from now on, and asks everything again. */
export function showToken(text: string): void {
  sessionStorage.setItem(TOKEN_KEY, text);
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

// Whether the server answers, and what it wants to be shown. When it is lost, the page keeps what
// it has, says so in its head, and asks everything again as soon as the server is back.

import { signal } from '@preact/signals';
import type { Status } from './types';

/** The token's name in the tab's storage. */
export const TOKEN_KEY = 'chronoscope-token';

/** `asking` until the first answer. */
export const connection = signal<'asking' | 'well' | 'lost'>('asking');
/** Token for `Authorization: Bearer`; '' for none. It is lost when the tab is closed. */
export const token = signal(sessionStorage.getItem(TOKEN_KEY) ?? '');
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

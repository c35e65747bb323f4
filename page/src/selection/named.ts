// Views that have a name: the server keeps the address of each, and `/#view=NAME` leads there.

import { signal } from '@preact/signals';
import { ask } from '../api/client';
import { Problem } from '../api/problem';
import type { NamedViews } from '../api/types';
import { goToAddress } from './current';

/** A view with a name. */
export type NamedView = NamedViews['views'][number];

/** All, by name; empty until they are asked for. */
export const namedViews = signal<readonly NamedView[]>([]);

/** Why a named view was not opened; '' where all is well. */
export const notOpened = signal('');

/** The name in the part of an address behind `#`; undefined where there is none. */
export function nameIn(hash: string): string | undefined {
  const name = new URLSearchParams(hash.replace(/^#/, '')).get('view');
  return name === null || name === '' ? undefined : name;
}

/** The address that leads to a named view, whatever it is at the time. */
export function linkTo(name: string): string {
  return `/#view=${encodeURIComponent(name)}`;
}

/** Asks for all named views. */
export async function readNamedViews(): Promise<readonly NamedView[]> {
  namedViews.value = (await ask('views')).views;
  return namedViews.value;
}

async function openNamed(name: string): Promise<void> {
  notOpened.value = '';
  try {
    const view = (await readNamedViews()).find((candidate) => candidate.name === name);
    if (view === undefined) notOpened.value = `No view is called “${name}”`;
    else goToAddress(view.address);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    notOpened.value = `The view “${name}” was not opened: ${error.message}`;
  }
}

/** Opens the view that the address names, now and whenever it names another. Called once. */
export function followNames(): void {
  const look = () => {
    const name = nameIn(location.hash);
    if (name !== undefined) void openNamed(name);
  };
  addEventListener('hashchange', look);
  look();
}

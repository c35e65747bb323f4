// Light or dark: what the system prefers, until the reader says otherwise.

import { signal } from '@preact/signals';

const KEY = 'chronoscope-theme';
export type Theme = 'light' | 'dark';

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const chosen = (): Theme | undefined => {
  const text = localStorage.getItem(KEY);
  return text === 'light' || text === 'dark' ? text : undefined;
};

/** The theme that is shown. A canvas that reads it is drawn again when it changes. */
export const theme = signal<Theme>(chosen() ?? (prefersDark.matches ? 'dark' : 'light'));

function show(next: Theme): void {
  document.documentElement.dataset['theme'] = next;
  theme.value = next;
}

/** Follows the system from now on, as long as the reader has chosen nothing. */
export function followTheme(): void {
  show(theme.peek());
  prefersDark.addEventListener('change', (event) => {
    if (chosen() === undefined) show(event.matches ? 'dark' : 'light');
  });
}

/** Chooses the other one; kept in this browser. */
export function switchTheme(): void {
  const next: Theme = theme.peek() === 'dark' ? 'light' : 'dark';
  localStorage.setItem(KEY, next);
  show(next);
}

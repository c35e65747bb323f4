// Keys that work wherever the reader is. A view adds its own for as long as it is shown.

import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** One key and what it does, as the help sheet says it. */
export interface Key {
  /** Value of `KeyboardEvent.key`; an upper-case letter is the letter with shift. */
  readonly key: string;
  readonly does: string;
  readonly run: (event: KeyboardEvent) => void;
}

/** A group of keys under one heading of the help sheet. */
export interface KeyGroup {
  readonly title: string;
  readonly keys: readonly Key[];
}

/** The active groups of keys, the page's own first. */
export const groups = signal<readonly KeyGroup[]>([]);

/**
 * Puts keys in force while the component is shown: before those that are, or, where `last`, for what
 * no other group has a use.
 */
export function useKeys(title: string, keys: readonly Key[], last = false): void {
  // The newest closures run, without a group being taken away and put back at each drawing.
  const latest = useRef(keys);
  latest.current = keys;
  const names = keys.map((key) => `${key.key} ${key.does}`).join('\n');
  useEffect(() => {
    const group: KeyGroup = {
      title,
      keys: latest.current.map((key, index) => ({ ...key, run: (event: KeyboardEvent) => latest.current[index]?.run(event) })),
    };
    // A component's effects run before those of what it stands in: the order is not theirs to make.
    groups.value = last ? [group, ...groups.peek()] : [...groups.peek(), group];
    return () => {
      groups.value = groups.peek().filter((other) => other !== group);
    };
  }, [title, names]);
}

/** Plus is on most keyboards above the equals sign. */
const ALIASES: Readonly<Record<string, string>> = { '=': '+' };

/** Whether typing goes into a field, where letters are letters. */
function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement
    && (target.isContentEditable || ['INPUT', 'SELECT', 'TEXTAREA'].includes(target.tagName));
}

/** Listens for all keys. A later group's key goes before an earlier one's. */
export function listenForKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (typing(event.target) || document.querySelector('dialog[open]') !== null) return;
    for (const group of [...groups.peek()].reverse()) {
      const key = group.keys.find((candidate) => candidate.key === (ALIASES[event.key] ?? event.key));
      if (key === undefined) continue;
      event.preventDefault();
      key.run(event);
      return;
    }
  });
}

import { useEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { connection, status } from '../api/connection';
import { formatBytes, formatCount } from '../draw/format';
import { go, place, refused } from '../selection/current';
import { REGISTRY } from '../views/registry';
import { Help } from './help';
import { useKeys, type Key } from './keys';
import { Link } from './link';
import { SelectionBar } from './selection-bar';
import { switchTheme, theme } from './theme';
import { TokenPrompt } from './token-prompt';

const helpOpen = signal(false);

/** The whole page: head, selection, the view. */
export function Page() {
  const { view } = place();
  const entry = REGISTRY.find((candidate) => candidate.view === view);
  const main = useRef<HTMLElement>(null);
  useGlobalKeys();

  // A screen reader is told that the view has changed; the first view is read anyway.
  const shown = useRef(view);
  useEffect(() => {
    document.title = `${entry?.title ?? 'No such view'} – Chronoscope`;
    if (shown.current !== view) main.current?.focus();
    shown.current = view;
  }, [view]);

  return (
    <>
      <a class="skip" href="#view" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>
        Skip to the view
      </a>
      <Head />
      {entry !== undefined && entry.fields !== 'none' && <SelectionBar entry={entry} />}
      <Refused />
      <main id="view" tabIndex={-1} ref={main} aria-label={entry?.title ?? 'No such view'}>
        {entry === undefined ? <p class="notice problem">This page has no such view.</p> : <entry.body key={view} />}
      </main>
      <Help open={helpOpen} />
      <TokenPrompt />
    </>
  );
}

function useGlobalKeys(): void {
  const views: Key[] = REGISTRY.map((entry) => ({
    key: entry.key, does: entry.title, run: () => go({ view: entry.view }),
  }));
  useKeys('Everywhere', [
    ...views,
    { key: '?', does: 'this sheet', run: () => (helpOpen.value = true) },
    { key: '/', does: 'to the selection', run: () => document.querySelector<HTMLElement>('#selection select, #selection input')?.focus() },
    { key: 'T', does: 'light or dark', run: switchTheme },
  ]);
}

function Head() {
  const { view } = place();
  return (
    <header class="head">
      <span class="brand"><img src="/icon.svg" alt="" /> Chronoscope</span>
      <nav aria-label="Views">
        {REGISTRY.map((entry) => (
          <Link key={entry.view} to={{ view: entry.view }} current={entry.view === view} title={`${entry.shows} (key ${entry.key})`}>
            {entry.title}
          </Link>
        ))}
      </nav>
      <Server />
      <button type="button" class="plain" onClick={switchTheme} aria-label={theme.value === 'dark' ? 'Light colours' : 'Dark colours'} title="Light or dark (key T)">
        {theme.value === 'dark' ? '☀' : '☾'}
      </button>
      <button type="button" class="plain" onClick={() => (helpOpen.value = true)} aria-label="Keys and help" title="Keys and help (key ?)">?</button>
    </header>
  );
}

/** Whether the server is there, and what it has. */
function Server() {
  const known = status.value;
  const lost = connection.value === 'lost';
  return (
    <div class={`server${lost ? ' lost' : ''}`} role="status">
      {lost ? (
        <strong>Server lost: asking again each second</strong>
      ) : known === undefined ? (
        'asking the server …'
      ) : (
        <span title={`${known.store} · ${formatCount(known.segments)} segments · ${formatBytes(known.bytes)} · version ${known.version}`}>
          {formatCount(known.rows)} rows · {formatBytes(known.bytes)}
        </span>
      )}
    </div>
  );
}

/** What of the address was not understood: a picture of something else must not pass unnoticed. */
function Refused() {
  const parts = refused();
  if (parts.length === 0) return null;
  return (
    <div class="notice problem" role="alert">
      <strong>Part of the address was left out:</strong> {parts.join(', ')}
    </div>
  );
}

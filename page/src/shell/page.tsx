import { useEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { connection, status } from '../api/connection';
import type { Status } from '../api/types';
import { formatBytes, formatCount } from '../draw/format';
import { go, moves, place, refused, storeNow } from '../selection/current';
import { pauseOrGoOn } from '../selection/live';
import { notOpened } from '../selection/named';
import { SaveMenu } from '../save/menu';
import { REGISTRY } from '../views/registry';
import { Help } from './help';
import { useKeys, type Key } from './keys';
import { Link } from './link';
import { Notes } from './notes';
import { SelectionBar } from './selection-bar';
import { switchTheme, theme } from './theme';
import { TokenPrompt } from './token-prompt';

const helpOpen = signal(false);
const saveOpen = signal(false);
const notesOpen = signal(false);

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
        <h1 class="unseen">{entry?.title ?? 'No such view'}</h1>
        {entry === undefined ? <p class="notice problem">This page has no such view.</p>
          : moves() && storeNow.value === undefined ? <p class="notice quiet" role="status">Reading the time of the newest rows …</p>
            : <entry.body key={view} />}
      </main>
      <Help open={helpOpen} />
      <Notes open={notesOpen} />
      <SaveMenu open={saveOpen} view={() => main.current} />
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
    { key: '/', does: 'to the selection', run: toSelection },
    { key: 'P', does: 'pause or resume a time range relative to now', run: pauseOrGoOn },
    { key: 'V', does: 'named views and marks', run: () => (notesOpen.value = true) },
    { key: 'S', does: 'save a picture or table as PNG, SVG or CSV', run: () => (saveOpen.value = true) },
    { key: 'T', does: 'light or dark', run: switchTheme },
  ], true);
}

/** To the first field that is shown: on a telephone the button that opens them. */
function toSelection(): void {
  const fields = document.querySelectorAll<HTMLElement>('#selection :is(button, select, input)');
  [...fields].find((field) => field.offsetParent !== null)?.focus();
}

function Head() {
  const { view } = place();
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the views stand in one line that scrolls: the current one is scrolled into sight.
  useEffect(() => {
    const [line, current] = [nav.current, nav.current?.querySelector<HTMLElement>('[aria-current]')];
    if (line !== null && current != null) line.scrollLeft = current.offsetLeft - (line.clientWidth - current.offsetWidth) / 2;
  }, [view]);
  return (
    <header class="head">
      <span class="brand"><img src="/icon.svg" alt="" /> Chronoscope</span>
      <nav aria-label="Views" ref={nav}>
        {REGISTRY.map((entry) => (
          <Link key={entry.view} to={{ view: entry.view }} current={entry.view === view} title={`${entry.shows} (key ${entry.key})`}>
            {entry.title}
          </Link>
        ))}
      </nav>
      <Server />
      <button type="button" class="plain" onClick={() => (notesOpen.value = true)} title="Named views and marks (key V)">Views</button>
      <button type="button" class="plain" onClick={() => (saveOpen.value = true)} title="Pictures and tables as PNG, SVG and CSV (key S)">Save</button>
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
        <strong>Connection to the server lost: retrying each second</strong>
      ) : known === undefined ? (
        'asking the server …'
      ) : (
        <Stored of={known} />
      )}
    </div>
  );
}

/** Size and version of the store. The number of rows is unknown for a cluster, the size in bytes for an unsealed log. */
function Stored({ of: { store, rows, segments, bytes, version } }: { of: Status }) {
  const words = [store, segments === null ? undefined : `${formatCount(segments)} segments`, `version ${version}`];
  return (
    <span title={words.filter((part) => part !== undefined).join(' · ')}>
      {rows === null ? store : `${formatCount(rows)} rows`}{bytes !== null && bytes > 0 && ` · ${formatBytes(bytes)}`}
    </span>
  );
}

/** The parts of the address that were not understood: the reader must notice that they are ignored. */
function Refused() {
  const parts = refused();
  if (notOpened.value !== '') return <div class="notice problem" role="alert">{notOpened.value}.</div>;
  if (parts.length === 0) return null;
  return (
    <div class="notice problem" role="alert">
      <strong>Part of the address was left out:</strong> {parts.join(', ')}
    </div>
  );
}

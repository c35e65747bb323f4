// The page: head with clock and choices, picture, and what is said beside it.

import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Alerts } from './alerts';
import { ALERT_COLOURS, LOOK_COLOURS } from './colours';
import { keysOf, listen, type Key } from './keys';
import type { Chart } from './map';
import { Menu } from './menu';
import { handle } from './mouse';
import { LAYERS, LEVEL_MAX } from './place';
import { Position } from './position';
import { LINK_WORDS, Stale } from './stale';
import { codeText, knots, LOOK_WORDS, LOOKS, nameOf } from './target';
import { FLAGS } from './wire';
import './style.css';

declare global {
  interface Window {
    /** For tests and the bench: they ask the page what it shows. */
    workingPosition?: Position;
  }
}

const two = (value: number) => String(value).padStart(2, '0');

function Clock() {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), 250);
    return () => clearInterval(timer);
  }, []);
  const text = `${two(now.getUTCHours())}:${two(now.getUTCMinutes())}:${two(now.getUTCSeconds())}`;
  return <time class="clock" dateTime={now.toISOString()}>{text} UTC</time>;
}

/** State of the sensors and of the connection. */
function Sensors({ position }: { readonly position: Position }) {
  const status = position.status.value;
  const link = position.link.value;
  return (
    <>
      <span role="status" class={link === 'up' ? 'good' : 'bad'} data-link={link}>{LINK_WORDS[link]}</span>
      {status !== undefined && (
        <span class="quiet">
          {status.tracks} tracks, {status.correlated} correlated, {status.coasting} coasting · {status.updates_per_s}/s
          {link === 'up' && <>{' · '}<span class={status.mode === 'standard' ? 'good' : 'bad'}>{status.mode === 'standard' ? 'normal' : 'MPA'}</span></>}
          {status.tracker > 0 && ` · tracker ${status.tracker}`}
          {link === 'up' && status.picture.other_clock && <b class="bad"> · tracks of another time: a recording, or a wrong clock</b>}
        </span>
      )}
      {position.undrawn.value !== '' && <b class="bad" role="alert">{position.undrawn.value}</b>}
      {position.broken.value !== '' && <span class="bad">{position.broken.value}</span>}
    </>
  );
}

function NumberField({ label, value, high, set }: { readonly label: string; readonly value: number; readonly high: number; readonly set: (value: number) => void }) {
  return (
    <label>{label} <input type="number" min={0} max={high} step={10} value={value} onChange={(event) => {
      const wanted = Math.round(event.currentTarget.valueAsNumber);
      if (Number.isFinite(wanted)) set(Math.min(high, Math.max(0, wanted)));
    }} /></label>
  );
}

function Choices({ position, search }: { readonly position: Position; readonly search: { open: () => void } }) {
  const view = position.view.value;
  const [missing, setMissing] = useState(false);
  return (
    <div class="choices">
      <NumberField label="FL from" value={view.low} high={LEVEL_MAX} set={(low) => position.choose({ low, high: Math.max(low, view.high) })} />
      <NumberField label="to" value={view.high} high={LEVEL_MAX} set={(high) => position.choose({ high, low: Math.min(high, view.low) })} />
      <label>vector <select value={view.vector} onChange={(event) => position.choose({ vector: Number(event.currentTarget.value) as 0 | 1 | 2 | 3 })}>
        {[0, 1, 2, 3].map((minutes) => <option key={minutes} value={minutes}>{minutes === 0 ? 'none' : `${minutes} min`}</option>)}
      </select></label>
      <label>dots <select value={view.dots} onChange={(event) => position.choose({ dots: Number(event.currentTarget.value) })}>
        {[...new Set([0, 5, 6, 8, 10, view.dots])].sort((a, b) => a - b).map((dots) => <option key={dots} value={dots}>{dots}</option>)}
      </select></label>
      <label>find <input type="search" class={missing ? 'missing' : ''} aria-invalid={missing} ref={(field) => {
        if (field !== null) search.open = () => field.focus();
      }} onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.blur();
        if (event.key !== 'Enter') return;
        const found = position.find(event.currentTarget.value);
        setMissing(!found);
        if (found) event.currentTarget.blur();
      }} /></label>
      <details class="layers">
        <summary>layers{view.off.length > 0 ? ` (${view.off.length} off)` : ''}</summary>
        <div>
          {LAYERS.map((layer) => (
            <label key={layer}><input type="checkbox" checked={!view.off.includes(layer)} onChange={() => {
              position.choose({ off: view.off.includes(layer) ? view.off.filter((one) => one !== layer) : [...view.off, layer] });
            }} /> {layer}</label>
          ))}
        </div>
      </details>
    </div>
  );
}

/** Said when there are tracks and the picture shows none of them. */
function Elsewhere({ position }: { readonly position: Position }) {
  const tracks = position.status.value?.tracks ?? 0;
  if (tracks === 0 || position.counts.value.shown !== 0 || position.link.value !== 'up') return null;
  return (
    <section class="elsewhere" aria-label="Tracks elsewhere">
      <p>{tracks} {tracks === 1 ? 'track' : 'tracks'}, none of them is shown here.</p>
      <button type="button" onClick={() => position.showAll()}>all tracks <kbd>a</kbd></button>
    </section>
  );
}

function Selected({ position }: { readonly position: Position }) {
  const target = position.moved.value >= 0 ? position.selected : undefined; // drawn again when it moves
  if (target === undefined) return null;
  const { track } = target;
  const parts: readonly (readonly [string, string])[] = [
    ['track', String(track.number)],
    ['Mode A', track.code === null ? 'none' : codeText(track.code)],
    ['state', LOOK_WORDS[target.look]],
    ['flight plan', (track.flags & FLAGS.plan) === 0 ? 'none known to the message server' : `${track.type === '' ? 'type unknown' : track.type}, ${track.departure === '' ? '?' : track.departure} to ${track.destination === '' ? '?' : track.destination}`],
    ['level', `${track.level === null ? 'not known' : `FL${track.level.toFixed(0)}`}${track.climb === null ? '' : `, ${track.climb.toFixed(0)} ft/min`}`],
    ['cleared', track.cleared === null ? 'not known' : `FL${track.cleared}`],
    ['speed', `${knots(track).toFixed(0)} kt`],
    ['sensors', (track.flags & FLAGS.monosensor) === 0 ? 'several' : 'one'],
  ];
  return (
    <section class="selected" aria-live="polite" aria-label="Selected target">
      <h2>{nameOf(track)}</h2>
      <dl>{parts.map(([word, value]) => <div key={word}><dt>{word}</dt><dd>{value}</dd></div>)}</dl>
    </section>
  );
}

/** The range-bearing line and the arrows' cross, above the picture. */
function Line({ position }: { readonly position: Position }) {
  const line = position.moved.value >= 0 ? position.rbl.value : undefined; // its ends move with the picture
  const measured = position.measured();
  if (line === undefined || measured === undefined) return null;
  const [from, to] = [position.pointOf(line.from), position.pointOf(line.to)];
  const words = `${measured.nm.toFixed(1)} NM ${String(Math.round(measured.bearing) % 360).padStart(3, '0')}°`;
  return (
    <>
      <svg class="line" aria-hidden="true">
        <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} />
        {line.open && <path d={`M${to.x - 8} ${to.y}h16M${to.x} ${to.y - 8}v16`} />}
        <text x={to.x + 10} y={to.y - 8}>{words}</text>
      </svg>
      <output class="unseen" aria-live="polite" aria-label="Range and bearing">{words}</output>
    </>
  );
}

function Foot({ position }: { readonly position: Position }) {
  const { shown, short, named, hidden, framesPerSecond } = position.counts.value;
  return (
    <footer>
      <ul class="legend">
        {LOOKS.map((look) => <li key={look} data-look={look}><b style={{ color: LOOK_COLOURS[look] }}>{{ correlated: '□', uncorrelated: '△', primary: '+', coasting: '×', emergency: '◎' }[look]}</b> {LOOK_WORDS[look]}</li>)}
        <li><b style={{ color: ALERT_COLOURS.predicted }}>○</b> conflict to come</li>
        <li><b style={{ color: ALERT_COLOURS.violation }}>◎</b> too close now</li>
      </ul>
      <span class={hidden > 0 ? 'warn' : 'quiet'}>{Math.max(0, shown)} shown · labels: {short} reduced, {named} of them without level, {hidden} none · {framesPerSecond} frames/s</span>
      <span class="quiet">{position.chart.composed} <kbd>?</kbd> keys</span>
    </footer>
  );
}

function Help({ keys, handle: give }: { readonly keys: readonly Key[]; readonly handle: { open: () => void } }) {
  return (
    <dialog aria-label="Keys" ref={(dialog) => {
      if (dialog !== null) give.open = () => dialog.showModal();
    }}>
      <h2>Keys</h2>
      <dl>{keys.map(({ keys: names, does }) => <div key={does}><dt>{names.map((name) => <kbd key={name}>{name.replace('Arrow', '')}</kbd>)}</dt><dd>{does}</dd></div>)}</dl>
      <p>Drag moves, on a label it moves the label; the wheel zooms, a click selects, the right button opens a target's menu; shift and drag draws a range-bearing line.</p>
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}

/** Makes a handle by which other parts open a dialog; the dialog fills it in. */
function opener(): { open: () => void } {
  return { open: () => { /* nothing is there yet */ } };
}

function Page({ position }: { readonly position: Position }) {
  const [help] = useState(opener);
  const [search] = useState(opener);
  const [keys] = useState(() => keysOf(position, () => help.open(), () => search.open()));
  useEffect(() => listen(keys), []);
  return (
    <>
      <header><h1 class="unseen">Working position</h1><Clock /><Sensors position={position} /><Choices position={position} search={search} /></header>
      <aside><Elsewhere position={position} /><Alerts position={position} /><Selected position={position} /></aside>
      <Line position={position} />
      <Menu position={position} />
      <Stale position={position} />
      <Foot position={position} />
      <Help keys={keys} handle={help} />
    </>
  );
}

async function start(): Promise<void> {
  const root = document.getElementById('position');
  if (root === null) throw new Error('the page has no element for the picture');
  const answer = await fetch('map.json');
  if (!answer.ok) throw new Error(`map.json: ${answer.status}`);
  const chart = (await answer.json()) as Chart;
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'application');
  canvas.setAttribute('aria-label', 'Air situation. n: next target, question mark: all keys.');
  const around = document.createElement('div');
  around.className = 'around';
  const probe = document.createElement('div');
  probe.className = 'probe';
  probe.setAttribute('aria-hidden', 'true');
  root.append(canvas, around);
  document.body.prepend(probe);
  const position = new Position(canvas, probe, chart);
  handle(canvas, position);
  render(<Page position={position} />, around);
  window.workingPosition = position;
}

start().catch((error: unknown) => {
  const root = document.getElementById('position');
  if (root !== null) root.textContent = `The working position cannot start: ${error instanceof Error ? error.message : String(error)}. Reload to try again.`;
});

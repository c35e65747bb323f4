// Everything by keys; the help sheet says the same words.

import { DOTS_MAX, LAYERS, LEVEL_MAX } from './place';
import type { Position } from './position';

/** One key, as `KeyboardEvent.key` has it, and what it does. */
export interface Key {
  readonly keys: readonly string[];
  readonly does: string;
  readonly run: (event: KeyboardEvent) => void;
}

const PAN_PIXELS = 80;
const STEP_PIXELS = 4;
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

/** The end of a range-bearing line follows the arrows; from the selected target, or the middle. */
function drawLine(position: Position): void {
  const line = position.rbl.value;
  if (line?.open === true) {
    position.rbl.value = { ...line, open: false };
    position.cursor.value = undefined;
    return;
  }
  const { width, height } = position.camera;
  const from = position.selected?.track.at ?? position.placeAt({ x: width / 2, y: height / 2 });
  position.rbl.value = { from, to: from, open: true };
  position.cursor.value = position.pointOf(from);
}

function arrow(position: Position, event: KeyboardEvent): void {
  const [x, y] = ARROWS[event.key] ?? [0, 0];
  const { cursor, rbl } = position;
  if (cursor.value === undefined || rbl.value === undefined) {
    position.pan(x * PAN_PIXELS, y * PAN_PIXELS);
    return;
  }
  const step = event.shiftKey ? 10 * STEP_PIXELS : STEP_PIXELS;
  cursor.value = { x: cursor.value.x + x * step, y: cursor.value.y + y * step };
  rbl.value = { ...rbl.value, to: position.placeAt(cursor.value) };
}

function along(position: Position, by: number): void {
  const all = position.onScreen();
  const at = all.findIndex((target) => target.id === position.view.value.track);
  const next = all[(at < 0 && by < 0 ? all.length - 1 : at + by + all.length) % all.length];
  if (next !== undefined) position.select(next.id);
}

function conflict(position: Position): void {
  const all = position.status.value?.conflicts ?? [];
  const { track } = position.view.value;
  const at = all.findIndex(({ a }) => a === track);
  const next = all[(at + 1) % Math.max(1, all.length)];
  const target = next === undefined ? undefined : position.targets.get(next.a);
  if (target !== undefined) position.choose({ track: target.id, centre: target.track.at });
}

/** All keys. `help`, `search`: what only the page can open. */
export function keysOf(position: Position, help: () => void, search: () => void): readonly Key[] {
  const view = () => position.view.value;
  const levels = (low: number, high: number) => {
    const bound = Math.min(LEVEL_MAX, Math.max(0, low));
    position.choose({ low: bound, high: Math.min(LEVEL_MAX, Math.max(bound, high)) });
  };
  const layers = LAYERS.map((layer, index): Key => ({
    keys: [String(index + 1)], does: `${layer} on and off`,
    run: () => position.choose({ off: view().off.includes(layer) ? view().off.filter((one) => one !== layer) : [...view().off, layer] }),
  }));
  return [
    { keys: Object.keys(ARROWS), does: 'move the picture; the end of the line while one is drawn (with shift: faster)', run: (event) => arrow(position, event) },
    { keys: ['+', '='], does: 'closer', run: () => position.zoomBy(0.8) },
    { keys: ['-'], does: 'farther', run: () => position.zoomBy(1.25) },
    { keys: ['0'], does: 'the whole picture', run: () => position.choose({ centre: position.first.centre, height: position.first.height }) },
    { keys: ['a'], does: 'all tracks, wherever they are', run: () => { position.showAll(); } },
    { keys: ['n'], does: 'next target on the screen', run: () => along(position, 1) },
    { keys: ['p'], does: 'previous target', run: () => along(position, -1) },
    { keys: ['m'], does: 'menu of the selected target', run: (event) => { event.preventDefault(); position.openMenu(); } },
    { keys: ['l'], does: 'label of the selected target: placed automatically again', run: () => {
      if (position.selected !== undefined) position.pin(position.selected, undefined);
    } },
    { keys: ['/'], does: 'find a callsign, a code or a track', run: (event) => { event.preventDefault(); search(); } },
    { keys: ['c'], does: 'next conflict', run: () => conflict(position) },
    { keys: ['b'], does: 'range-bearing line: start at the selected target or the centre, or end it', run: () => drawLine(position) },
    { keys: ['Escape'], does: 'no line, no selection', run: () => {
      position.rbl.value = undefined;
      position.cursor.value = undefined;
      position.select(null);
    } },
    { keys: ['v'], does: 'speed vector: none, 1, 2, 3 minutes', run: () => position.choose({ vector: ((view().vector + 1) % 4) as 0 | 1 | 2 | 3 }) },
    { keys: ['d'], does: 'fewer history dots, none, all', run: () => position.choose({ dots: view().dots === 0 ? DOTS_MAX : Math.max(0, view().dots - 2) }) },
    { keys: ['['], does: 'lower level limit down', run: () => levels(view().low - 10, view().high) },
    { keys: [']'], does: 'lower level limit up', run: () => levels(view().low + 10, view().high) },
    { keys: ['{'], does: 'upper level limit down', run: () => levels(view().low, Math.min(460, view().high) - 10) },
    { keys: ['}'], does: 'upper level limit up', run: () => levels(view().low, view().high + 10) },
    { keys: ['\\'], does: 'all levels', run: () => levels(0, LEVEL_MAX) },
    ...layers,
    { keys: ['?'], does: 'these keys', run: help },
  ];
}

/** Listens for them, except where letters are typed or a dialog is open. */
export function listen(keys: readonly Key[]): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof HTMLInputElement || document.querySelector('dialog[open]') !== null) return;
    const key = keys.find((candidate) => candidate.keys.includes(event.key));
    if (key === undefined) return;
    key.run(event);
    if (event.key in ARROWS) event.preventDefault();
  });
}

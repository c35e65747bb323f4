// How a target is drawn: symbol, history, vector, label.

import { ALERT_COLOURS, FAINT_COLOURS, LOOK_COLOURS, SELECTED, VIOLATION_GROUND } from '../colours';
import { FULL, SHORT, TINY, type Stand } from '../labels';
import type { View } from '../place';
import { LINE, LOOKS, type Alert, type Target } from '../target';
import { pixelOf, type Box, type Pixels } from './pixels';
import { STUB, type Stencils } from './stencils';

const LOOK_INK = inks(LOOK_COLOURS);
const FAINT_INK = inks(FAINT_COLOURS);
const ALERT_INK = inks(ALERT_COLOURS);
const SELECTED_INK = pixelOf(SELECTED);
const VIOLATION_INK = pixelOf(VIOLATION_GROUND);

function inks<Name extends string>(colours: Readonly<Record<Name, string>>): Readonly<Record<Name, number>> {
  return Object.fromEntries(Object.entries<string>(colours).map(([name, colour]) => [name, pixelOf(colour)])) as Record<Name, number>;
}

/** A target on the screen. */
export interface Shown {
  readonly target: Target;
  /** Its symbol, pixels of the style sheet. */
  x: number;
  y: number;
  /** Its label; undefined when there is no room for one. */
  stand: Stand | undefined;
}

/** Letters extend beyond their label's rectangle by less than this, pixels of the style sheet. */
const LETTER_MARGIN = 4;

/** What drawing needs to know besides the targets. */
export interface Scene {
  readonly metresPerPixel: number;
  /** The upper left corner, in pixels of the plane. */
  readonly corner: { readonly x: number; readonly y: number };
  readonly view: View;
  readonly stencils: Stencils;
}

/** Draws history, vectors, leader lines and symbols, those that matter most on top. */
export function drawMarks(to: Pixels, shown: readonly Shown[], scene: Scene): void {
  const { stencils, view } = scene;
  const stub = stencils.stub();
  for (const look of LOOKS) {
    const those = shown.filter(({ target }) => target.look === look);
    if (those.length === 0) continue;
    const faint = FAINT_INK[look];
    if (view.dots > 0) for (const one of those) history(to, one, faint, scene);
    for (const one of those) {
      if (view.vector > 0) vector(to, one, faint, scene);
      // A stub where there is no room for a label.
      if (one.stand === undefined) to.sprite(stub, device(one.x, scene), device(one.y, scene), faint);
      else leader(to, one, one.stand, faint, stencils.ratio);
    }
    const symbol = stencils.symbol(look);
    for (const one of those) {
      const [x, y] = [device(one.x, scene), device(one.y, scene)];
      to.sprite(symbol, x, y, LOOK_INK[look]);
      ring(to, one.target, x, y, scene);
    }
  }
}

function device(value: number, { stencils: { ratio } }: Scene): number {
  return Math.round(value * ratio);
}

function history(to: Pixels, { target: { trail } }: Shown, colour: number, scene: Scene): void {
  const { metresPerPixel, corner, view, stencils: { ratio } } = scene;
  const side = Math.max(2, Math.round(2 * ratio));
  const half = side >> 1;
  const end = Math.min(2 * view.dots, trail.length);
  let [beforeX, beforeY] = [NaN, NaN];
  for (let at = 0; at < end; at += 2) {
    const x = Math.round(((trail[at] ?? 0) / metresPerPixel - corner.x) * ratio) - half;
    const y = Math.round((-(trail[at + 1] ?? 0) / metresPerPixel - corner.y) * ratio) - half;
    // Seen from far away many lie on each other.
    if (x !== beforeX || y !== beforeY) to.square(x, y, side, colour);
    beforeX = x;
    beforeY = y;
  }
}

function vector(to: Pixels, { target, x, y }: Shown, colour: number, { metresPerPixel, view, stencils: { ratio } }: Scene): void {
  const ahead = (view.vector * 60) / metresPerPixel;
  const { east, north } = target.track;
  to.line(x * ratio, y * ratio, (x + east * ahead) * ratio, (y - north * ahead) * ratio, colour);
}

/** From the symbol to the nearest point of its label. */
function leader(to: Pixels, { x, y }: Shown, { dx, dy, w, h, detail }: Stand, colour: number, ratio: number): void {
  const end = { x: Math.min(dx + w - 1, Math.max(dx, 0)), y: Math.min(dy + h - 1, Math.max(dy, 0)) };
  const length = Math.max(1, Math.hypot(end.x, end.y));
  const rim = Math.min(6, length) / length;
  to.line((x + end.x * rim) * ratio, (y + end.y * rim) * ratio, (x + end.x) * ratio, (y + end.y) * ratio, colour);
  // A short stroke marks that further lines are hidden.
  if (detail !== FULL) {
    const foot = Math.round((y + dy + h) * ratio);
    to.fill(Math.round((x + dx) * ratio), foot - Math.max(1, Math.round(ratio)), Math.round((x + dx + 10) * ratio), foot, colour);
  }
}

function ring(to: Pixels, target: Target, x: number, y: number, { stencils, view }: Scene): void {
  if (target.alert !== 'none') to.sprite(stencils.ring(target.alert === 'violation' ? 'double' : 'single'), x, y, ALERT_INK[target.alert]);
  else if (target.id === view.track) to.sprite(stencils.ring('single'), x, y, SELECTED_INK);
}

/** What a target and its label cover, pixels of the device; rather more. */
export function boxOf({ target, x, y, stand }: Shown, scene: Scene): Box {
  const { metresPerPixel, corner, view, stencils } = scene;
  const { ratio } = stencils;
  // A ring lies around a symbol of any kind.
  const half = target.alert === 'none' && target.id !== view.track ? stencils.symbol(target.look) : stencils.ring('double');
  const { track: { east, north }, reach } = target;
  const ahead = (view.vector * 60) / metresPerPixel;
  const [symbolX, symbolY, endX, endY] = [x * ratio, y * ratio, (x + east * ahead) * ratio, (y - north * ahead) * ratio];
  const around = view.dots === 0 ? 0 : Math.max(2, Math.round(2 * ratio));
  const scale = ratio / metresPerPixel;
  const [left, top, right, bottom] = stand === undefined ? [0, -STUB, STUB, 0]
    : [stand.dx - LETTER_MARGIN, stand.dy - LETTER_MARGIN, stand.dx + stand.w + LETTER_MARGIN, stand.dy + stand.h + LETTER_MARGIN];
  // A smooth line has a second pixel beside each.
  return {
    x0: Math.floor(Math.min(symbolX + half.x0, endX, reach.x0 * scale - corner.x * ratio - around, (x + left) * ratio)) - 2,
    y0: Math.floor(Math.min(symbolY + half.y0, endY, -reach.y1 * scale - corner.y * ratio - around, (y + top) * ratio)) - 2,
    x1: Math.ceil(Math.max(symbolX + half.x1, endX, reach.x1 * scale - corner.x * ratio + around, (x + right) * ratio)) + 2,
    y1: Math.ceil(Math.max(symbolY + half.y1, endY, -reach.y0 * scale - corner.y * ratio + around, (y + bottom) * ratio)) + 2,
  };
}

/** Writes the labels. */
export function drawLabels(to: Pixels, shown: readonly Shown[], scene: Scene): void {
  for (const { target, x, y, stand } of shown) {
    if (stand === undefined) continue;
    const { dx, dy, w, h, detail } = stand;
    const isPresent = target.alert === 'violation';
    const [left, top] = [x + dx, y + dy];
    if (isPresent) to.fill(device(left, scene), device(top, scene), device(left + w, scene), device(top + h, scene), VIOLATION_INK);
    const colour = isPresent ? SELECTED_INK : colourOf(target, target.alert, scene.view.track);
    const size = detail <= TINY ? 'tiny' : 'normal';
    const count = detail === FULL ? target.text.length : 1;
    for (let line = 0; line < count; line++) {
      const words = detail === TINY || detail === SHORT ? target.brief : target.text[line] ?? '';
      scene.stencils.write(to, words, device(left + 1, scene), device(top + line * LINE + 1, scene), size, colour);
    }
  }
}

function colourOf({ look, id }: Target, alert: Alert, selected: number | null): number {
  if (alert !== 'none') return ALERT_INK[alert];
  return id === selected ? SELECTED_INK : LOOK_INK[look];
}

// How a target is drawn: symbol, history, vector, label.

import { ALERT_COLOURS, FAINT_COLOURS, LOOK_COLOURS, SELECTED, VIOLATION_GROUND } from '../colours';
import { FULL, TINY } from '../labels';
import type { View } from '../place';
import { LINE, LOOKS, type Alert, type Look, type Target } from '../target';
import { pixelOf, type Pixels } from './pixels';
import type { Stand } from './placement';
import type { Stencils } from './stencils';

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
  for (const look of LOOKS) {
    const those = shown.filter(({ target }) => target.look === look);
    for (const one of those) history(to, one, look, scene);
    for (const one of those) {
      vector(to, one, look, scene);
      leader(to, one, FAINT_INK[look], scene.stencils.ratio);
    }
    const symbol = scene.stencils.symbol(look);
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

function history(to: Pixels, { target }: Shown, look: Look, scene: Scene): void {
  const { metresPerPixel, corner, view, stencils: { ratio } } = scene;
  const side = Math.max(2, Math.round(2 * ratio));
  const count = Math.min(view.dots, target.history.length);
  for (let index = 0; index < count; index++) {
    const place = target.history[index];
    if (place === undefined) continue;
    const x = Math.round((place.x / metresPerPixel - corner.x) * ratio) - (side >> 1);
    const y = Math.round((-place.y / metresPerPixel - corner.y) * ratio) - (side >> 1);
    to.square(x, y, side, FAINT_INK[look]);
  }
}

function vector(to: Pixels, { target, x, y }: Shown, look: Look, { metresPerPixel, view, stencils: { ratio } }: Scene): void {
  if (view.vector === 0) return;
  const ahead = (view.vector * 60) / metresPerPixel;
  const { east, north } = target.track;
  to.line(x * ratio, y * ratio, (x + east * ahead) * ratio, (y - north * ahead) * ratio, FAINT_INK[look]);
}

/** From the symbol to the nearest point of its label; a stub where there is no room for one. */
function leader(to: Pixels, { x, y, stand }: Shown, colour: number, ratio: number): void {
  if (stand === undefined) {
    to.line((x + 5) * ratio, (y - 5) * ratio, (x + 9) * ratio, (y - 9) * ratio, colour);
    return;
  }
  const { dx, dy, w, h, detail } = stand;
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

/** Writes the labels. */
export function drawLabels(to: Pixels, shown: readonly Shown[], scene: Scene): void {
  for (const { target, x, y, stand } of shown) {
    if (stand === undefined) continue;
    const { dx, dy, w, h, detail } = stand;
    const isPresent = target.alert === 'violation';
    const [left, top] = [x + dx, y + dy];
    if (isPresent) to.fill(device(left, scene), device(top, scene), device(left + w, scene), device(top + h, scene), VIOLATION_INK);
    const colour = isPresent ? SELECTED_INK : colourOf(target, target.alert, scene.view.track);
    const count = detail === FULL ? target.text.length : 1;
    for (let line = 0; line < count; line++) {
      const row = top + line * LINE + 1;
      scene.stencils.write(to, target.text[line] ?? '', device(left + 1, scene), device(row, scene), detail === TINY ? 'tiny' : 'normal', colour);
    }
  }
}

function colourOf({ look, id }: Target, alert: Alert, selected: number | null): number {
  if (alert !== 'none') return ALERT_INK[alert];
  return id === selected ? SELECTED_INK : LOOK_INK[look];
}

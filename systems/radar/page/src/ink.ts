// How a target is drawn: symbol, history, vector, label.

import { toScreen, type Camera, type Point } from './geometry';
import { FULL, TINY, type Rect } from './labels';
import { FONT } from './map';
import type { View } from './place';
import { CHARACTER, LINE, LOOKS, TINY_CHARACTER, type Alert, type Look, type Target } from './target';

/** Symbol and label; checked against the lightest ground for a contrast of 4.5 and more. */
export const LOOK_COLOURS: Readonly<Record<Look, string>> = {
  correlated: '#bae2c8', uncorrelated: '#d6be78', primary: '#9cc4e4', coasting: '#9aa4ad', emergency: '#ff7a6e',
};
/** Dots, vectors and leader lines: they matter less. */
const FAINT: Readonly<Record<Look, string>> = {
  correlated: '#748d7d', uncorrelated: '#86774b', primary: '#617a8e', coasting: '#60666c', emergency: '#9f4c45',
};
/** A conflict to come, one that is there, and an area. */
export const ALERT_COLOURS: Readonly<Record<Exclude<Alert, 'none'>, string>> = { area: '#d8a8ff', predicted: '#ffb050', violation: '#ff5a4a' };
/** Ground of the label of a target that is too close to another one. */
const VIOLATION_GROUND = '#b01414';
const SELECTED = '#ffffff';
/** Half of the square that a ring around a symbol takes. */
export const RING = 12;
const TINY_FONT = FONT.replace('11px', '9px');

type Context = CanvasRenderingContext2D;

/** What drawing needs to know besides the targets. */
export interface Scene {
  readonly camera: Camera;
  readonly view: View;
  readonly ratio: number;
  /** Where the label of a target stands. */
  readonly rect: (id: number) => Rect | undefined;
}

export function vectorEnd(target: Target, { metresPerPixel }: Camera, view: View): Point {
  const ahead = (view.vector * 60) / metresPerPixel;
  return { x: target.x + target.track.east * ahead, y: target.y - target.track.north * ahead };
}

export function dotsOf(target: Target, camera: Camera, view: View): readonly Point[] {
  return target.history.slice(0, view.dots).map((place) => toScreen(camera, place));
}

export class Ink {
  /** Rings, by what they say and how large a pixel is. */
  private readonly stamps = new Map<string, OffscreenCanvas>();

  /** Draws targets, those that matter most on top. */
  draw(context: Context, targets: readonly Target[], scene: Scene): void {
    for (const look of LOOKS) {
      const those = targets.filter((target) => target.look === look);
      if (those.length > 0) this.lines(context, those, look, scene);
    }
    words(context, targets, scene);
  }

  /** Dots, vectors, leaders and symbols of one look: few paths, many targets. */
  private lines(context: Context, targets: readonly Target[], look: Look, scene: Scene): void {
    const { camera, view } = scene;
    context.lineWidth = 1;
    context.fillStyle = FAINT[look];
    context.beginPath();
    for (const target of targets) {
      for (const { x, y } of dotsOf(target, camera, view)) context.rect(Math.round(x) - 1, Math.round(y) - 1, 2, 2);
    }
    context.fill();
    context.strokeStyle = FAINT[look];
    context.beginPath();
    for (const target of targets) {
      if (view.vector > 0) {
        const end = vectorEnd(target, camera, view);
        context.moveTo(target.x, target.y);
        context.lineTo(end.x, end.y);
      }
      leader(context, target, scene.rect(target.id));
    }
    context.stroke();
    context.strokeStyle = LOOK_COLOURS[look];
    context.lineWidth = 1.3;
    context.beginPath();
    for (const { x, y } of targets) symbol(context, look, x, y);
    context.stroke();
    for (const alert of ['area', 'predicted', 'violation'] as const) {
      this.rings(context, targets.filter((target) => target.alert === alert), alert, scene.ratio);
    }
    this.rings(context, targets.filter((target) => target.alert === 'none' && target.id === view.track), 'selected', scene.ratio);
  }

  /** Circles around targets: stamped, because of 3000 arcs a processor needs three times as long. */
  private rings(context: Context, targets: readonly Target[], kind: Exclude<Alert, 'none'> | 'selected', ratio: number): void {
    if (targets.length === 0) return;
    const key = `${kind} ${ratio}`;
    const stamp = this.stamps.get(key) ?? ringStamp(kind, ratio);
    this.stamps.set(key, stamp);
    for (const { x, y } of targets) context.drawImage(stamp, x - RING, y - RING, 2 * RING, 2 * RING);
  }
}

/** From the symbol to the nearest point of its label; a stub where there is no room for one. */
function leader(context: Context, target: Target, rect: Rect | undefined): void {
  if (rect === undefined) {
    context.moveTo(target.x + 5, target.y - 5);
    context.lineTo(target.x + 9, target.y - 9);
    return;
  }
  const to = { x: Math.min(rect.x1 - 1, Math.max(rect.x0, target.x)), y: Math.min(rect.y1 - 1, Math.max(rect.y0, target.y)) };
  const length = Math.max(1, Math.hypot(to.x - target.x, to.y - target.y));
  const rim = Math.min(6, length) / length;
  context.moveTo(target.x + (to.x - target.x) * rim, target.y + (to.y - target.y) * rim);
  context.lineTo(to.x, to.y);
  if (target.detail !== FULL) {
    // A short stroke marks that further lines are hidden.
    context.moveTo(rect.x0, rect.y1 - 0.5);
    context.lineTo(rect.x0 + 10, rect.y1 - 0.5);
  }
}

function words(context: Context, targets: readonly Target[], { view, rect: rectOf }: Scene): void {
  context.textBaseline = 'top';
  for (const isTiny of [true, false]) {
    const those = targets.filter(({ detail }) => (detail === TINY) === isTiny);
    if (those.length === 0) continue;
    context.font = isTiny ? TINY_FONT : FONT;
    const character = isTiny ? TINY_CHARACTER : CHARACTER;
    for (const target of those) {
      const rect = rectOf(target.id);
      if (rect === undefined) continue;
      context.fillStyle = colourOf(target, view.track);
      if (target.alert === 'violation') {
        context.fillStyle = VIOLATION_GROUND;
        context.fillRect(rect.x0, rect.y0, rect.x1 - rect.x0, rect.y1 - rect.y0);
        context.fillStyle = SELECTED;
      }
      const count = target.detail === FULL ? target.text.length : 1;
      for (let line = 0; line < count; line++) {
        const text = target.text[line] ?? '';
        context.fillText(text, rect.x0 + 1, rect.y0 + line * LINE + 1, text.length * character + 2);
      }
    }
  }
}

function colourOf(target: Target, selected: number | null): string {
  if (target.alert !== 'none') return ALERT_COLOURS[target.alert];
  return target.id === selected ? SELECTED : LOOK_COLOURS[target.look];
}

/** A circle in the middle of a square with sides of twice RING; two of what is too close. */
function ringStamp(kind: Exclude<Alert, 'none'> | 'selected', ratio: number): OffscreenCanvas {
  const stamp = new OffscreenCanvas(Math.ceil(2 * RING * ratio), Math.ceil(2 * RING * ratio));
  const context = stamp.getContext('2d');
  if (context === null) return stamp;
  context.scale(stamp.width / (2 * RING), stamp.height / (2 * RING));
  context.strokeStyle = kind === 'selected' ? SELECTED : ALERT_COLOURS[kind];
  context.lineWidth = kind === 'violation' ? 2 : 1.3;
  for (const radius of kind === 'violation' ? [7, 11] : [8]) {
    context.beginPath();
    context.arc(RING, RING, radius, 0, 2 * Math.PI);
    context.stroke();
  }
  return stamp;
}

/** A square with its middle, a triangle, a plus, a cross, two circles. */
function symbol(context: Context, look: Look, x: number, y: number): void {
  switch (look) {
    case 'correlated':
      context.rect(x - 3.5, y - 3.5, 7, 7);
      context.rect(x - 0.5, y - 0.5, 1, 1);
      break;
    case 'uncorrelated':
      context.moveTo(x, y - 5);
      context.lineTo(x + 4.5, y + 3.5);
      context.lineTo(x - 4.5, y + 3.5);
      context.closePath();
      break;
    case 'primary':
      context.moveTo(x - 4, y);
      context.lineTo(x + 4, y);
      context.moveTo(x, y - 4);
      context.lineTo(x, y + 4);
      break;
    case 'coasting':
      context.moveTo(x - 4, y - 4);
      context.lineTo(x + 4, y + 4);
      context.moveTo(x + 4, y - 4);
      context.lineTo(x - 4, y + 4);
      break;
    case 'emergency':
      for (const radius of [5, 2]) {
        context.moveTo(x + radius, y);
        context.arc(x, y, radius, 0, 2 * Math.PI);
      }
  }
}

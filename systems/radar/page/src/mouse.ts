// The picture by mouse, pen and finger.

import type { Position } from './position';
import type { Point } from './geometry';

/** Below this a press is a click, pixels. */
const CLICK_PIXELS = 4;

/** Drag moves, the wheel zooms, a click selects; with shift or the right button a line is drawn. */
export function handle(canvas: HTMLElement, position: Position): void {
  let from: Point | undefined;
  let moved = 0;
  let measuring = false;
  const at = (event: MouseEvent): Point => ({ x: event.offsetX, y: event.offsetY });

  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = at(event);
    moved = 0;
    measuring = event.shiftKey || event.button === 2;
    if (measuring) {
      const begin = position.picture.targetAt(from)?.track.at ?? position.placeAt(from);
      position.rbl.value = { from: begin, to: begin, open: true };
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    if (from === undefined) return;
    const to = at(event);
    moved += Math.hypot(to.x - from.x, to.y - from.y);
    const line = position.rbl.value;
    if (measuring && line !== undefined) position.rbl.value = { ...line, to: position.placeAt(to) };
    else if (moved >= CLICK_PIXELS) position.pan(from.x - to.x, from.y - to.y);
    from = to;
  });
  canvas.addEventListener('pointerup', (event) => {
    const line = position.rbl.value;
    if (measuring && line !== undefined) {
      const end = position.picture.targetAt(at(event))?.track.at ?? line.to;
      position.rbl.value = moved < CLICK_PIXELS ? undefined : { ...line, to: end, open: false };
    } else if (from !== undefined && moved < CLICK_PIXELS) {
      position.select(position.picture.targetAt(at(event))?.id ?? null);
    }
    from = undefined;
    measuring = false;
  });
  canvas.addEventListener('pointercancel', () => { from = undefined; });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    position.zoomBy(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) * 0.001), at(event));
  }, { passive: false });
}

// The picture by mouse, pen and finger.

import type { Point } from './geometry';
import type { Position } from './position';
import type { Target } from './target';

/** Below this a press is a click, pixels. */
const CLICK_PIXELS = 4;

/** What a press does once it moves. */
type Drag =
  | { readonly does: 'move' }
  | { readonly does: 'measure' }
  /** A label is put elsewhere: `held` is the pointer's place on it. */
  | { readonly does: 'label'; readonly target: Target; readonly held: Point };

/** Where a label is dragged to, seen from its symbol. */
function labelPlace(pointer: Point, symbol: Point, held: Point): Point {
  return { x: pointer.x - symbol.x - held.x, y: pointer.y - symbol.y - held.y };
}

/** Drag moves, on a label it moves the label; the wheel zooms, a click selects; with shift or the right
 * button a line is drawn; the right button without moving opens the menu of a target. */
export function handle(canvas: HTMLElement, position: Position): void {
  let from: Point | undefined;
  let moved = 0;
  let drag: Drag = { does: 'move' };
  const at = (event: MouseEvent): Point => ({ x: event.offsetX, y: event.offsetY });

  const begin = (event: PointerEvent, point: Point): Drag => {
    if (event.shiftKey || event.button === 2) return { does: 'measure' };
    const target = position.screen.labelAt(point);
    const offset = target === undefined ? undefined : position.screen.labelOffset(target);
    if (target === undefined || offset === undefined) return { does: 'move' };
    const symbol = position.screen.symbolOf(target);
    return { does: 'label', target, held: { x: point.x - symbol.x - offset.x, y: point.y - symbol.y - offset.y } };
  };
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    position.menu.value = undefined;
    from = at(event);
    moved = 0;
    drag = begin(event, from);
    if (drag.does === 'measure') {
      const first = position.screen.targetAt(from)?.track.at ?? position.placeAt(from);
      position.rbl.value = { from: first, to: first, open: true };
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    if (from === undefined) return;
    const to = at(event);
    moved += Math.hypot(to.x - from.x, to.y - from.y);
    const line = position.rbl.value;
    if (drag.does === 'measure') {
      if (line !== undefined) position.rbl.value = { ...line, to: position.placeAt(to) };
    } else if (moved >= CLICK_PIXELS) {
      if (drag.does === 'move') position.pan(from.x - to.x, from.y - to.y);
      else position.pin(drag.target, labelPlace(to, position.screen.symbolOf(drag.target), drag.held));
    }
    from = to;
  });
  canvas.addEventListener('pointerup', (event) => {
    const line = position.rbl.value;
    const isClick = moved < CLICK_PIXELS;
    if (drag.does === 'measure' && line !== undefined) {
      const target = position.screen.targetAt(at(event));
      position.rbl.value = isClick ? undefined : { ...line, to: target?.track.at ?? line.to, open: false };
      if (isClick && event.button === 2) position.openMenu(target, at(event));
    } else if (from !== undefined && isClick) {
      position.select(position.screen.targetAt(at(event))?.id ?? null);
    }
    from = undefined;
    drag = { does: 'move' };
  });
  canvas.addEventListener('pointercancel', () => { from = undefined; });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    position.zoomBy(Math.exp(Math.max(-300, Math.min(300, event.deltaY)) * 0.001), at(event));
  }, { passive: false });
}

// Lines of the map in the plane, as they are drawn again and again: projected once.

import { toScreen, type Camera, type Point, type Projection } from './geometry';

/** Latitude and longitude in degrees. */
export type Pair = readonly [number, number];

/** A line in the plane, metres, and its bounds. */
export interface PlaneLine {
  /** x and y, one after the other. */
  readonly xy: Float64Array;
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
  /** Whether all of it is so far away (80° of the Earth) that no picture shows it. */
  readonly isFar: boolean;
}

/** Distance in the plane of what is 80° away: twice the radius, times the tangent of 40°, m. */
const FAR = 2 * 6_371_008.8 * Math.tan((40 * Math.PI) / 180);
/** In place of what has no place: the point opposite to the origin, m. */
const NOWHERE = 1e12;
/** Points nearer to the last one than this are left out, pixels. */
const STEP_PIXELS = 0.75;

/** Projects a line. */
export function planeLine(places: readonly Pair[], projection: Projection): PlaneLine {
  const xy = new Float64Array(2 * places.length);
  let [x0, y0, x1, y1, nearest] = [Infinity, Infinity, -Infinity, -Infinity, Infinity];
  places.forEach(([lat, lon], index) => {
    const at = projection.project({ lat, lon });
    const x = Math.abs(at.x) < NOWHERE ? at.x : NOWHERE;
    const y = Math.abs(at.y) < NOWHERE ? at.y : NOWHERE;
    xy[2 * index] = x;
    xy[2 * index + 1] = y;
    x0 = Math.min(x0, x);
    y0 = Math.min(y0, y);
    x1 = Math.max(x1, x);
    y1 = Math.max(y1, y);
    nearest = Math.min(nearest, Math.hypot(x, y));
  });
  return { xy, x0, y0, x1, y1, isFar: nearest > FAR };
}

/** Whether a part of a line may be seen. */
export function isSeen(line: PlaneLine, { centre, metresPerPixel, width, height }: Camera): boolean {
  const [halfWidth, halfHeight] = [(width / 2) * metresPerPixel, (height / 2) * metresPerPixel];
  return !line.isFar && line.x0 <= centre.x + halfWidth && line.x1 >= centre.x - halfWidth
    && line.y0 <= centre.y + halfHeight && line.y1 >= centre.y - halfHeight;
}

/** Adds a line to a path, without points that are too near to each other to be told apart. */
export function trace(path: CanvasPath, { xy }: PlaneLine, camera: Camera, closed: boolean): void {
  const by = 1 / camera.metresPerPixel;
  const left = camera.width / 2 - camera.centre.x * by;
  const top = camera.height / 2 + camera.centre.y * by;
  let [lastX, lastY] = [NaN, NaN];
  const end = xy.length - 2;
  for (let at = 0; at <= end; at += 2) {
    const x = left + (xy[at] ?? 0) * by;
    const y = top - (xy[at + 1] ?? 0) * by;
    if (at === 0) path.moveTo(x, y);
    else if (at < end && Math.abs(x - lastX) < STEP_PIXELS && Math.abs(y - lastY) < STEP_PIXELS) continue;
    else path.lineTo(x, y);
    [lastX, lastY] = [x, y];
  }
  if (closed) path.closePath();
}

/** Whether a closed line goes around a point. */
export function surrounds({ xy }: PlaneLine, { x, y }: Point): boolean {
  let isInside = false;
  for (let at = 0, before = xy.length - 2; at < xy.length; before = at, at += 2) {
    const [ax = 0, ay = 0, bx = 0, by = 0] = [xy[at], xy[at + 1], xy[before], xy[before + 1]];
    if ((ay > y) !== (by > y) && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) isInside = !isInside;
  }
  return isInside;
}

/** The middle of a line's corners on the screen. */
export function middleOf({ xy }: PlaneLine, camera: Camera): Point {
  let [x, y] = [0, 0];
  for (let at = 0; at < xy.length; at += 2) [x, y] = [x + (xy[at] ?? 0), y + (xy[at + 1] ?? 0)];
  const count = Math.max(1, xy.length / 2);
  return toScreen(camera, { x: x / count, y: y / count });
}

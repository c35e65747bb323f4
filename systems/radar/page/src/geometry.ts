// Projection of positions onto a plane and onto the screen, and distances on the earth.

import type { Place } from './wire';

export const METRES_PER_NM = 1852;
/** Mean radius of the earth, m (IUGG). */
const RADIUS = 6_371_008.8;
const DEGREE = Math.PI / 180;

/** A position in the plane, metres to the east and to the north of its origin. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * The plane that touches the earth at `origin`: stereographic on the sphere, so that angles are true
 * and a circle is one. Lengths grow by 0.16 % at 500 km.
 */
export class Projection {
  private readonly sin: number;
  private readonly cos: number;
  constructor(readonly origin: Place) {
    this.sin = Math.sin(origin.lat * DEGREE);
    this.cos = Math.cos(origin.lat * DEGREE);
  }

  project({ lat, lon }: Place): Point {
    const [sinLat, cosLat] = [Math.sin(lat * DEGREE), Math.cos(lat * DEGREE)];
    const turn = (lon - this.origin.lon) * DEGREE;
    const scale = (2 * RADIUS) / (1 + this.sin * sinLat + this.cos * cosLat * Math.cos(turn));
    return {
      x: scale * cosLat * Math.sin(turn),
      y: scale * (this.cos * sinLat - this.sin * cosLat * Math.cos(turn)),
    };
  }

  unproject({ x, y }: Point): Place {
    const distance = Math.hypot(x, y);
    if (distance === 0) return this.origin;
    const angle = 2 * Math.atan(distance / (2 * RADIUS));
    const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
    return {
      lat: Math.asin(cos * this.sin + (y * sin * this.cos) / distance) / DEGREE,
      lon: this.origin.lon + Math.atan2(x * sin, distance * this.cos * cos - y * this.sin * sin) / DEGREE,
    };
  }
}

/** Range in NM along the great circle, and true bearing at its beginning in degrees, in [0, 360). */
export function rangeAndBearing(from: Place, to: Place): { readonly nm: number; readonly bearing: number } {
  const [a, b] = [from.lat * DEGREE, to.lat * DEGREE];
  const turn = (to.lon - from.lon) * DEGREE;
  const half = Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(turn / 2) ** 2;
  const nm = (2 * RADIUS * Math.asin(Math.min(1, Math.sqrt(half)))) / METRES_PER_NM;
  const bearing = Math.atan2(Math.sin(turn) * Math.cos(b), Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(turn));
  return { nm, bearing: (bearing / DEGREE + 360) % 360 };
}

/** The middle of places, and the range in NM of the farthest one from it; undefined without any. */
export function extentOf(places: readonly Place[]): { readonly centre: Place; readonly nm: number } | undefined {
  let [x, y, z] = [0, 0, 0];
  for (const { lat, lon } of places) {
    x += Math.cos(lat * DEGREE) * Math.cos(lon * DEGREE);
    y += Math.cos(lat * DEGREE) * Math.sin(lon * DEGREE);
    z += Math.sin(lat * DEGREE);
  }
  if (x === 0 && y === 0 && z === 0) return undefined;
  const centre = { lat: Math.atan2(z, Math.hypot(x, y)) / DEGREE, lon: Math.atan2(y, x) / DEGREE };
  return { centre, nm: places.reduce((most, place) => Math.max(most, rangeAndBearing(centre, place).nm), 0) };
}

/** A part of the plane on a screen: north is up. */
export interface Camera {
  /** Position in the middle of the screen. */
  readonly centre: Point;
  readonly metresPerPixel: number;
  /** In pixels of the style sheet. */
  readonly width: number;
  readonly height: number;
}

export function toScreen({ centre, metresPerPixel, width, height }: Camera, { x, y }: Point): Point {
  return { x: width / 2 + (x - centre.x) / metresPerPixel, y: height / 2 - (y - centre.y) / metresPerPixel };
}

export function toPlane({ centre, metresPerPixel, width, height }: Camera, { x, y }: Point): Point {
  return { x: centre.x + (x - width / 2) * metresPerPixel, y: centre.y - (y - height / 2) * metresPerPixel };
}

/** The camera that shows `factor` times as much, with what is at `fixed` on the screen staying there. */
export function zoom(camera: Camera, factor: number, fixed: Point): Camera {
  const metresPerPixel = Math.min(5000, Math.max(1, camera.metresPerPixel * factor));
  const before = toPlane(camera, fixed);
  const after = toPlane({ ...camera, metresPerPixel }, fixed);
  const { centre } = camera;
  return { ...camera, metresPerPixel, centre: { x: centre.x + before.x - after.x, y: centre.y + before.y - after.y } };
}

/** What is looked at in pixels of the plane at one scale, to the right and down from its origin: moving it
 * by whole pixels changes the place of nothing in it. */
export interface Window {
  readonly metresPerPixel: number;
  /** The upper left corner. */
  readonly corner: Point;
}

/** The pixel of the plane in which a position is. */
export function pixelAt({ x, y }: Point, metresPerPixel: number): Point {
  return { x: Math.round(x / metresPerPixel), y: Math.round(-y / metresPerPixel) };
}

/** What a camera shows, to the nearest pixel. */
export function windowOf({ centre, metresPerPixel, width, height }: Camera): Window {
  const corner = { x: Math.round(centre.x / metresPerPixel - width / 2), y: Math.round(-centre.y / metresPerPixel - height / 2) };
  return { metresPerPixel, corner };
}

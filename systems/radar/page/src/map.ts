// The map under the targets: drawn once for each place that is looked at.

import { METRES_PER_NM, toScreen, type Camera, type Point, type Projection } from './geometry';
import type { Layer } from './place';

type Pair = readonly [number, number];

/** The content of `/map.json`: latitude and longitude in degrees. */
export interface Chart {
  readonly centre: Pair;
  readonly height_nm: number;
  readonly rings: Pair | null;
  readonly home: readonly Pair[];
  readonly land: readonly (readonly Pair[])[];
  readonly borders: readonly (readonly Pair[])[];
  readonly sectors: readonly { readonly name: string; readonly levels: Pair; readonly boundary: readonly Pair[] }[];
  readonly airways: readonly { readonly name: string; readonly line: readonly Pair[] }[];
  readonly fixes: readonly Named[];
  readonly airports: readonly Named[];
  readonly radars: readonly Named[];
  readonly composed: string;
}
interface Named {
  readonly name: string;
  readonly at: Pair;
}

const COLOURS = {
  sea: '#0d1218', land: '#141a21', home: '#1d262f', coast: '#3a4a5a', border: '#2c3742', homeBorder: '#627a90',
  ring: '#33434d', ringText: '#7d93a1', radar: '#4fa3a9', airport: '#7f93a6', sector: '#4b5f52', sectorText: '#7f9a88', airway: '#3c4660', airwayText: '#7c89ab',
} as const;
/** The ground of the picture. */
export const GROUND = COLOURS.sea;
export const FONT = '11px "DejaVu Sans Mono", "Liberation Mono", ui-monospace, monospace';
/** Rings are so far apart at most, pixels; so many there are. */
const RING_PIXELS = 90;
const RINGS = 8;

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** Distance of one ring from the next at a scale, NM: 1, 2, 5, 10 … */
export function ringStep(metresPerPixel: number): number {
  const least = (RING_PIXELS * metresPerPixel) / METRES_PER_NM;
  const power = 10 ** Math.floor(Math.log10(least));
  return (([1, 2, 5].find((times) => times * power >= least)) ?? 10) * power;
}

/** Draws everything, layer by layer. */
export function drawMap(context: Context, chart: Chart, projection: Projection, camera: Camera, off: readonly Layer[]): void {
  const shown = (layer: Layer) => !off.includes(layer);
  const at = ([lat, lon]: Pair): Point => toScreen(camera, projection.project({ lat, lon }));
  const path = (line: readonly Pair[], closed: boolean) => {
    context.beginPath();
    line.map(at).forEach(({ x, y }, index) => index === 0 ? context.moveTo(x, y) : context.lineTo(x, y));
    if (closed) context.closePath();
  };
  const stroke = (colour: string, width = 1, dash: number[] = []) => {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash);
    context.stroke();
  };
  /** Draws a triangle that extends `size` pixels above and beside its middle. */
  const triangle = ({ x, y }: Point, size: number, colour: string) => {
    context.beginPath();
    context.moveTo(x, y - size);
    context.lineTo(x + size, y + size - 1);
    context.lineTo(x - size, y + size - 1);
    context.closePath();
    stroke(colour);
  };
  const text = (words: string, { x, y }: Point, colour: string) => {
    context.fillStyle = colour;
    context.fillText(words, x, y);
  };
  context.font = FONT;
  context.fillStyle = COLOURS.sea;
  context.fillRect(0, 0, camera.width, camera.height);
  if (shown('land')) {
    for (const land of chart.land) {
      path(land, true);
      context.fillStyle = COLOURS.land;
      context.fill();
      stroke(COLOURS.coast);
    }
    path(chart.home, true);
    context.fillStyle = COLOURS.home;
    context.fill();
    for (const border of chart.borders) {
      path(border, false);
      stroke(COLOURS.border);
    }
    path(chart.home, true);
    stroke(COLOURS.homeBorder, 1.2);
  }
  if (shown('sectors')) {
    for (const { boundary } of chart.sectors) {
      path(boundary, true);
      stroke(COLOURS.sector, 1, [8, 5]);
    }
    for (const { name, boundary, levels } of chart.sectors) {
      const corners = boundary.map(at);
      const middle = { x: corners.reduce((sum, { x }) => sum + x, 0) / corners.length, y: corners.reduce((sum, { y }) => sum + y, 0) / corners.length };
      text(`${name} ${levels[0]}+`, { x: middle.x - 30, y: middle.y }, COLOURS.sectorText);
    }
  }
  if (shown('airways')) {
    for (const { name, line } of chart.airways) {
      path(line, false);
      stroke(COLOURS.airway);
      const [first, second] = line;
      if (first === undefined || second === undefined) continue;
      const [a, b] = [at(first), at(second)];
      text(name, { x: (a.x + b.x) / 2 + 4, y: (a.y + b.y) / 2 - 3 }, COLOURS.airwayText);
    }
    for (const { name, at: place } of chart.fixes) {
      const { x, y } = at(place);
      triangle({ x, y }, 4, COLOURS.airwayText);
      text(name, { x: x + 6, y: y + 4 }, COLOURS.airwayText);
    }
  }
  if (shown('airports')) {
    for (const { name, at: place } of chart.airports) {
      const { x, y } = at(place);
      context.beginPath();
      context.moveTo(x - 4, y);
      context.lineTo(x + 4, y);
      context.moveTo(x, y - 4);
      context.lineTo(x, y + 4);
      stroke(COLOURS.airport);
      text(name, { x: x + 6, y: y - 3 }, COLOURS.airport);
    }
  }
  if (shown('radars')) {
    for (const { name, at: place } of chart.radars) {
      const { x, y } = at(place);
      triangle({ x, y }, 5, COLOURS.radar);
      text(name, { x: x - 10, y: y + 16 }, COLOURS.radar);
    }
  }
  if (shown('rings') && chart.rings !== null) {
    const middle = at(chart.rings);
    const step = ringStep(camera.metresPerPixel);
    for (let ring = 1; ring <= RINGS; ring++) {
      const radius = (ring * step * METRES_PER_NM) / camera.metresPerPixel;
      context.beginPath();
      context.arc(middle.x, middle.y, radius, 0, 2 * Math.PI);
      stroke(COLOURS.ring, 1, [2, 5]);
      text(`${ring * step}`, { x: middle.x + 3, y: middle.y - radius - 2 }, COLOURS.ringText);
    }
  }
  context.setLineDash([]);
}

// The map under the targets: what it has in the plane, and how it is drawn.

import { GROUND } from './colours';
import { METRES_PER_NM, toScreen, type Camera, type Point, type Projection } from './geometry';
import type { Rect } from './labels';
import type { Layer } from './place';
import { isSeen, middleOf, planeLine, trace, type Pair, type PlaneLine } from './plane-line';
import { CHARACTER, FONT } from './target';
import { worldOf, type Topology, type World } from './world';

/** What an area does to alerts. */
export type AreaKind = 'sector' | 'area' | 'inhibit' | 'proximity' | 'minimum';
/** A sector or an area. */
interface Area {
  readonly name: string;
  readonly kind: AreaKind;
  readonly levels: Pair;
  readonly boundary: readonly Pair[];
}
interface Named {
  readonly name: string;
  readonly at: Pair;
}

/** The content of `/map.json`: latitude and longitude in degrees. */
export interface Chart {
  readonly version: number;
  readonly centre: Pair;
  /** Whether the operator gave the centre; else the page may look for the tracks. */
  readonly centre_is_given: boolean;
  readonly height_nm: number;
  readonly rings: Pair | null;
  /** Land of the operator's map; the Earth's is drawn where there is none. */
  readonly land: readonly (readonly Pair[])[];
  readonly lines: readonly (readonly Pair[])[];
  readonly sectors: readonly Area[];
  readonly areas: readonly Area[];
  readonly airways: readonly { readonly name: string; readonly line: readonly Pair[] }[];
  readonly fixes: readonly Named[];
  readonly airports: readonly Named[];
  readonly radars: readonly Named[];
  readonly composed: string;
}

const COLOURS = {
  sea: GROUND, land: '#141a21', home: '#1d262f', coast: '#3a4a5a', border: '#2c3742', line: '#4a5a6a',
  ring: '#33434d', ringText: '#7d93a1', radar: '#4fa3a9', airport: '#7f93a6', sector: '#4b5f52', sectorText: '#7f9a88', airway: '#3c4660', airwayText: '#7c89ab',
} as const;
const AREA_COLOURS: Readonly<Record<AreaKind, string>> = {
  sector: COLOURS.sector, area: '#6e6a5a', inhibit: '#5a6e8a', proximity: '#a06a4a', minimum: '#8a7a3a',
};
/** Rows above and below the line on which the map's words stand, pixels. */
const ASCENT = 9;
const DESCENT = 3;
/** Rings are so far apart at most, pixels; so many there are. */
const RING_PIXELS = 90;
const RINGS = 8;

type Context = OffscreenCanvasRenderingContext2D;

/** Distance of one ring from the next at a scale, NM: 1, 2, 5, 10 … */
export function ringStep(metresPerPixel: number): number {
  const least = (RING_PIXELS * metresPerPixel) / METRES_PER_NM;
  const power = 10 ** Math.floor(Math.log10(least));
  return (([1, 2, 5].find((times) => times * power >= least)) ?? 10) * power;
}

interface PlacedName {
  readonly name: string;
  readonly at: Point;
}
interface PlacedArea {
  readonly area: Area;
  readonly line: PlaneLine;
}

/** The map in the plane. */
export class GroundMap {
  private readonly land: readonly PlaneLine[];
  private readonly lines: readonly PlaneLine[];
  private readonly sectors: readonly PlacedArea[];
  private readonly areas: readonly PlacedArea[];
  private readonly airways: readonly { readonly name: string; readonly line: PlaneLine }[];
  private readonly fixes: readonly PlacedName[];
  private readonly airports: readonly PlacedName[];
  private readonly radars: readonly PlacedName[];
  private readonly rings: Point | undefined;
  private readonly world: World | undefined;

  constructor(chart: Chart, topology: Topology | undefined, projection: Projection) {
    const line = (places: readonly Pair[]) => planeLine(places, projection);
    const named = ({ name, at: [lat, lon] }: Named): PlacedName => ({ name, at: projection.project({ lat, lon }) });
    const area = (one: Area): PlacedArea => ({ area: one, line: line(one.boundary) });
    this.land = chart.land.map(line).filter(({ isFar }) => !isFar);
    this.lines = chart.lines.map(line);
    this.sectors = chart.sectors.map(area);
    this.areas = chart.areas.map(area);
    this.airways = chart.airways.map(({ name, line: places }) => ({ name, line: line(places) }));
    this.fixes = chart.fixes.map(named);
    this.airports = chart.airports.map(named);
    this.radars = chart.radars.map(named);
    this.rings = chart.rings === null ? undefined : projection.project({ lat: chart.rings[0], lon: chart.rings[1] });
    this.world = topology === undefined || chart.land.length > 0 ? undefined : worldOf(topology, projection);
  }

  /** Draws everything, layer by layer. Returns where the names of places stand. */
  draw(context: Context, camera: Camera, off: readonly Layer[]): Rect[] {
    const shown = (layer: Layer) => !off.includes(layer);
    const pen = new Pen(context, camera);
    context.fillStyle = COLOURS.sea;
    context.fillRect(0, 0, camera.width, camera.height);
    if (shown('land')) this.drawLand(pen);
    if (shown('areas')) for (const one of this.areas) pen.area(one, [3, 3]);
    if (shown('sectors')) for (const one of this.sectors) pen.area(one, [8, 5]);
    if (shown('airways')) {
      for (const { name, line } of this.airways) {
        if (pen.stroke([line], false, COLOURS.airway)) pen.between(name, line, COLOURS.airwayText);
      }
      for (const one of this.fixes) pen.named(one, 'triangle', COLOURS.airwayText);
    }
    if (shown('airports')) for (const one of this.airports) pen.named(one, 'cross', COLOURS.airport);
    if (shown('radars')) for (const one of this.radars) pen.named(one, 'large triangle', COLOURS.radar);
    if (shown('rings') && this.rings !== undefined) pen.rings(toScreen(camera, this.rings));
    context.setLineDash([]);
    return pen.names;
  }

  private drawLand(pen: Pen): void {
    const { world } = this;
    for (const { rings, isHome } of world?.land ?? []) pen.fill(rings, isHome ? COLOURS.home : COLOURS.land);
    for (const ring of this.land) pen.fill([ring], COLOURS.land);
    pen.stroke(this.land, true, COLOURS.coast);
    pen.stroke(world?.borders ?? [], false, COLOURS.border);
    pen.stroke(world?.coasts ?? [], false, COLOURS.coast);
    pen.stroke(this.lines, false, COLOURS.line);
  }
}

/** Draws what is seen, and notes where names stand. */
class Pen {
  readonly names: Rect[] = [];

  constructor(private readonly context: Context, private readonly camera: Camera) {
    context.font = FONT;
    context.textBaseline = 'alphabetic';
  }

  /** Adds those of the lines to a path that are seen; false when none is. */
  private path(lines: readonly PlaneLine[], closed: boolean): boolean {
    const seen = lines.filter((line) => isSeen(line, this.camera));
    if (seen.length === 0) return false;
    this.context.beginPath();
    for (const line of seen) trace(this.context, line, this.camera, closed);
    return true;
  }

  fill(rings: readonly PlaneLine[], colour: string): void {
    if (!this.path(rings, true)) return;
    this.context.fillStyle = colour;
    this.context.fill('evenodd');
  }

  stroke(lines: readonly PlaneLine[], closed: boolean, colour: string, dash: number[] = []): boolean {
    if (!this.path(lines, closed)) return false;
    this.line(colour, dash);
    return true;
  }

  private line(colour: string, dash: number[] = []): void {
    this.context.strokeStyle = colour;
    this.context.lineWidth = 1;
    this.context.setLineDash(dash);
    this.context.stroke();
  }

  /** Words whose first letter's foot is at a point. */
  private words(words: string, { x, y }: Point, colour: string): void {
    if (words === '') return;
    this.context.fillStyle = colour;
    this.context.fillText(words, x, y);
    this.names.push({
      x0: Math.floor(x), y0: Math.floor(y) - ASCENT, x1: Math.ceil(x + words.length * CHARACTER), y1: Math.ceil(y) + DESCENT,
    });
  }

  private isInside({ x, y }: Point): boolean {
    return x > -100 && y > -20 && x < this.camera.width + 100 && y < this.camera.height + 20;
  }

  area({ area, line }: PlacedArea, dash: number[]): void {
    if (!this.stroke([line], true, AREA_COLOURS[area.kind], dash)) return;
    const [low, high] = area.levels;
    const levels = high >= 660 ? `${low}+` : `${low}-${high}`;
    const { x, y } = middleOf(line, this.camera);
    const colour = area.kind === 'sector' ? COLOURS.sectorText : AREA_COLOURS[area.kind];
    if (this.isInside({ x, y })) this.words(`${area.name} ${levels}`.trim(), { x: x - 30, y }, colour);
  }

  /** A name in the middle of a line's first part. */
  between(name: string, { xy }: PlaneLine, colour: string): void {
    const [ax = 0, ay = 0, bx = ax, by = ay] = xy;
    const { x, y } = toScreen(this.camera, { x: (ax + bx) / 2, y: (ay + by) / 2 });
    if (this.isInside({ x, y })) this.words(name, { x: x + 4, y: y - 3 }, colour);
  }

  named({ name, at }: PlacedName, symbol: 'triangle' | 'large triangle' | 'cross', colour: string): void {
    const { context } = this;
    const { x, y } = toScreen(this.camera, at);
    if (!this.isInside({ x, y })) return;
    context.beginPath();
    if (symbol === 'cross') {
      context.moveTo(x - 4, y);
      context.lineTo(x + 4, y);
      context.moveTo(x, y - 4);
      context.lineTo(x, y + 4);
    } else {
      const size = symbol === 'triangle' ? 4 : 5;
      context.moveTo(x, y - size);
      context.lineTo(x + size, y + size - 1);
      context.lineTo(x - size, y + size - 1);
      context.closePath();
    }
    this.line(colour);
    const beside = { triangle: { x: x + 6, y: y + 4 }, 'large triangle': { x: x - 10, y: y + 16 }, cross: { x: x + 6, y: y - 3 } }[symbol];
    this.words(name, beside, colour);
  }

  rings(middle: Point): void {
    const step = ringStep(this.camera.metresPerPixel);
    for (let ring = 1; ring <= RINGS; ring++) {
      const radius = (ring * step * METRES_PER_NM) / this.camera.metresPerPixel;
      this.context.beginPath();
      this.context.arc(middle.x, middle.y, radius, 0, 2 * Math.PI);
      this.line(COLOURS.ring, [2, 5]);
      this.context.fillStyle = COLOURS.ringText;
      this.context.fillText(`${ring * step}`, middle.x + 3, middle.y - radius - 2);
    }
  }
}

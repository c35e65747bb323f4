// Coasts and borders of the whole Earth: Natural Earth at 1:50,000,000 (public domain), as the package
// world-atlas has it in TopoJSON: every border once, in steps of 0.0036° by 0.0017°.

import worldUrl from 'world-atlas/countries-50m.json?url';
import type { Projection } from './geometry';
import { planeLine, surrounds, type Pair, type PlaneLine } from './plane-line';

/** What is read of a TopoJSON file. */
export interface Topology {
  readonly arcs: readonly (readonly (readonly [number, number])[])[];
  readonly transform: { readonly scale: readonly [number, number]; readonly translate: readonly [number, number] };
  readonly objects: { readonly countries: { readonly geometries: readonly Country[] } };
}
type Country =
  | { readonly type: 'Polygon'; readonly arcs: readonly (readonly number[])[] }
  | { readonly type: 'MultiPolygon'; readonly arcs: readonly (readonly (readonly number[])[])[] }
  | { readonly type: null | 'GeometryCollection' };

/** Land in the plane. */
export interface World {
  /** Outlines of parts of countries: the outer one, and holes. */
  readonly land: readonly { readonly rings: readonly PlaneLine[]; readonly isHome: boolean }[];
  readonly coasts: readonly PlaneLine[];
  readonly borders: readonly PlaneLine[];
}

/** Arcs are differences from point to point, in steps. */
export function arcsOf({ arcs, transform: { scale, translate } }: Topology): Pair[][] {
  return arcs.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx, dy]) => {
      [x, y] = [x + dx, y + dy];
      return [y * scale[1] + translate[1], x * scale[0] + translate[0]] as const;
    });
  });
}

/** Joins arcs; a number below zero is one backwards, whose complement is meant. */
export function ringOf(indices: readonly number[], arcs: readonly (readonly Pair[])[]): Pair[] {
  const ring: Pair[] = [];
  for (const index of indices) {
    const arc = arcs[index < 0 ? ~index : index] ?? [];
    const forwards = index < 0 ? [...arc].reverse() : arc;
    // Its first point is the last one of the arc before.
    for (const point of ring.length === 0 ? forwards : forwards.slice(1)) ring.push(point);
  }
  return ring;
}

/** Projects it. The country in which the projection has its origin is home. */
export function worldOf(topology: Topology, projection: Projection): World {
  const arcs = arcsOf(topology);
  const uses = new Uint8Array(arcs.length);
  const land: { rings: PlaneLine[]; isHome: boolean }[] = [];
  for (const country of topology.objects.countries.geometries) {
    if (country.type !== 'Polygon' && country.type !== 'MultiPolygon') continue;
    const polygons = country.type === 'Polygon' ? [country.arcs] : country.arcs;
    const parts = polygons.map((polygon) => polygon.map((ring) => {
      for (const index of ring) {
        const arc = index < 0 ? ~index : index;
        uses[arc] = (uses[arc] ?? 0) + 1;
      }
      return planeLine(ringOf(ring, arcs), projection);
    }));
    const isHome = parts.some((rings) => rings[0]?.isFar === false
      && rings.filter((ring) => surrounds(ring, { x: 0, y: 0 })).length % 2 === 1);
    for (const rings of parts) if (rings[0]?.isFar === false) land.push({ rings, isHome });
  }
  const lines = arcs.map((arc) => planeLine(arc, projection));
  const near = (wanted: (count: number) => boolean) => lines.filter((line, index) => !line.isFar && wanted(uses[index] ?? 0));
  // What two countries share is a border; what one has for itself is a coast.
  return { land, coasts: near((count) => count === 1), borders: near((count) => count > 1) };
}

/** Fetches it. */
export async function fetchTopology(): Promise<Topology> {
  const answer = await fetch(worldUrl);
  if (!answer.ok) throw new Error(`${worldUrl}: ${answer.status}`);
  return (await answer.json()) as Topology;
}

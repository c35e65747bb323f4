import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Projection } from './geometry';
import { surrounds } from './plane-line';
import { arcsOf, ringOf, worldOf, type Topology } from './world';

/** Two squares side by side: the middle line is their border, the rest is coast. */
const SQUARES: Topology = {
  transform: { scale: [0.5, 0.5], translate: [10, 50] },
  arcs: [[[2, 0], [0, 2]], [[2, 2], [-2, 0], [0, -2], [2, 0]], [[2, 2], [2, 0], [0, -2], [-2, 0]]],
  objects: { countries: { geometries: [{ type: 'Polygon', arcs: [[0, 1]] }, { type: 'MultiPolygon', arcs: [[[~0, 2].reverse()]] }] } },
};

it('arcs are differences, and rings are arcs forwards and backwards', () => {
  const arcs = arcsOf(SQUARES);
  expect(arcs[0]).toEqual([[50, 11], [51, 11]]);
  expect(ringOf([0, 1], arcs)).toEqual([[50, 11], [51, 11], [51, 10], [50, 10], [50, 11]]);
  expect(ringOf([2, 0], arcs)).toEqual([[51, 11], [51, 12], [50, 12], [50, 11], [51, 11]]);
});

it('what two countries share is a border', () => {
  const world = worldOf(SQUARES, new Projection({ lat: 50.5, lon: 10.5 }));
  expect([world.borders.length, world.coasts.length]).toEqual([1, 2]);
  expect(world.land.map(({ isHome }) => isHome)).toEqual([true, false]);
});

// The packaged map itself: land and sea where they are, seen from anywhere.
const EARTH = JSON.parse(readFileSync(new URL('../../../../page/node_modules/world-atlas/countries-50m.json', import.meta.url), 'utf8')) as Topology;
const SEEN: readonly (readonly [name: string, lat: number, lon: number, land: readonly (readonly [number, number])[], sea: readonly (readonly [number, number])[]])[] = [
  ['Sydney', -33.9, 151.2, [[-33.5, 150.5], [-35.3, 149.1]], [[-34, 153], [-36.5, 151]]],
  ['Frankfurt', 50, 8.6, [[48.1, 11.6], [52.5, 13.4]], [[54.5, 7], [43, 5]]],
  ['Fiji, at 180°', -17.8, 178, [[-17.8, 178]], [[-16, -178], [-19, 179.9]]],
  // The opposite of Madrid is in New Zealand, that of Santiago in China.
  ['Madrid', 40.4, -3.7, [[39, -4]], [[44.5, -4], [37, 0.5]]],
  ['Santiago', -33.4, -70.7, [[-32, -65]], [[-33, -75]]],
  ['Tromsø', 69.6, 18.9, [[68, 25]], [[72, 20]]],
];

it.each(SEEN)('the Earth seen from %s', (_, lat, lon, land, sea) => {
  const projection = new Projection({ lat, lon });
  const world = worldOf(EARTH, projection);
  const isLand = ([placeLat, placeLon]: readonly [number, number]) => {
    const at = projection.project({ lat: placeLat, lon: placeLon });
    return world.land.some(({ rings }) => rings.filter((ring) => surrounds(ring, at)).length % 2 === 1);
  };
  expect(land.filter((place) => !isLand(place))).toEqual([]);
  expect(sea.filter(isLand)).toEqual([]);
  expect(world.coasts.length).toBeGreaterThan(20);
});

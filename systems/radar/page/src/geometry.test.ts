import { describe, expect, it } from 'vitest';
import { extentOf, METRES_PER_NM, Projection, rangeAndBearing, pixelAt, toPlane, toScreen, windowOf, zoom, type Camera } from './geometry';

describe('the plane', () => {
  const plane = new Projection({ lat: 51, lon: 10 });

  it('has its origin, true lengths near it and north up', () => {
    expect(plane.project({ lat: 51, lon: 10 })).toEqual({ x: 0, y: 0 });
    // A minute of latitude on the mean sphere: 1853.25 m.
    const north = plane.project({ lat: 51 + 1 / 60, lon: 10 });
    expect(north.x).toBeCloseTo(0, 6);
    expect(north.y).toBeCloseTo((6_371_008.8 * Math.PI) / 180 / 60, 2);
    const east = plane.project({ lat: 51, lon: 10 + 1 / 60 });
    expect(east.x).toBeCloseTo(1853.25 * Math.cos((51 * Math.PI) / 180), 1);
  });

  it('leads back', () => {
    for (const place of [{ lat: 51, lon: 10 }, { lat: 47.3, lon: 5.9 }, { lat: 55, lon: 15 }, { lat: -33, lon: 151 }]) {
      const back = plane.unproject(plane.project(place));
      expect(back.lat).toBeCloseTo(place.lat, 9);
      expect(back.lon).toBeCloseTo(place.lon, 9);
    }
  });
});

describe('range and bearing', () => {
  it('along a meridian and the equator', () => {
    const degree = (6_371_008.8 * Math.PI) / 180 / METRES_PER_NM;
    expect(rangeAndBearing({ lat: 50, lon: 8 }, { lat: 51, lon: 8 })).toEqual({ nm: expect.closeTo(degree, 6) as number, bearing: 0 });
    expect(rangeAndBearing({ lat: 0, lon: 8 }, { lat: 0, lon: 7 })).toEqual({ nm: expect.closeTo(degree, 6) as number, bearing: 270 });
  });

  it('between airports', () => {
    // EDDF to EDDM: great circle 161.2 NM on the sphere, initial course 128 degrees.
    const { nm, bearing } = rangeAndBearing({ lat: 50.033, lon: 8.57 }, { lat: 48.354, lon: 11.786 });
    expect(nm).toBeGreaterThan(161);
    expect(nm).toBeLessThan(164);
    expect(bearing).toBeGreaterThan(127);
    expect(bearing).toBeLessThan(129);
  });
});

it('the middle of places is found across 180°, too', () => {
  expect(extentOf([])).toBeUndefined();
  const { centre, nm } = extentOf([{ lat: -17, lon: 179 }, { lat: -17, lon: -179 }]) ?? { centre: { lat: 0, lon: 0 }, nm: 0 };
  expect(Math.abs(centre.lon)).toBeCloseTo(180, 6);
  expect(centre.lat).toBeCloseTo(-17, 1);
  // A degree of longitude there.
  expect(nm).toBeCloseTo(60 * 1.0007 * Math.cos((17 * Math.PI) / 180), 0);
});

describe('the camera', () => {
  const camera: Camera = { centre: { x: 1000, y: -500 }, metresPerPixel: 250, width: 800, height: 600 };

  it('goes there and back', () => {
    expect(toScreen(camera, camera.centre)).toEqual({ x: 400, y: 300 });
    const at = { x: 17, y: 590 };
    const back = toScreen(camera, toPlane(camera, at));
    expect(back.x).toBeCloseTo(at.x, 9);
    expect(back.y).toBeCloseTo(at.y, 9);
  });

  it('zooms around a place', () => {
    const fixed = { x: 100, y: 200 };
    const closer = zoom(camera, 0.5, fixed);
    expect(closer.metresPerPixel).toBe(125);
    expect(toPlane(closer, fixed)).toEqual(toPlane(camera, fixed));
    expect(zoom(camera, 1e-9, fixed).metresPerPixel).toBe(1);
  });

  it('in pixels of the plane nothing moves when the picture is moved', () => {
    const before = windowOf(camera);
    // 10.4 pixels to the east and two to the north.
    const after = windowOf({ ...camera, centre: { x: camera.centre.x + 2600, y: camera.centre.y + 500 } });
    expect(after).toEqual({ metresPerPixel: camera.metresPerPixel, corner: { x: before.corner.x + 10, y: before.corner.y - 2 } });
    for (const at of [{ x: 0, y: 0 }, { x: 12_345, y: -67_890 }]) {
      const [pixel, exact] = [pixelAt(at, camera.metresPerPixel), toScreen(camera, at)];
      expect(Math.abs(pixel.x - before.corner.x - exact.x)).toBeLessThanOrEqual(1);
      expect(Math.abs(pixel.y - before.corner.y - exact.y)).toBeLessThanOrEqual(1);
    }
  });
});

// The density of a scattergram as pixels: one for each of the server's bins, to be drawn enlarged.

import type { Scatter } from '../../api/types';

/** Red, green, blue, each in [0, 255]. */
export type Rgb = readonly [number, number, number];

/** Reads `#rrggbb`, as the style sheet's variables have it. Grey where it is something else. */
export function rgb(text: string): Rgb {
  const match = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
  if (match === null) return [128, 128, 128];
  const [, red = '', green = '', blue = ''] = match;
  return [parseInt(red, 16), parseInt(green, 16), parseInt(blue, 16)];
}

/** A single chain is faint but seen; the fullest bin is solid. In between by the logarithm. */
const FAINTEST = 0.3;

/** Opacity of a bin that holds `count`, where the fullest bin holds `most`. */
export function opacity(count: number, most: number): number {
  if (most <= 1) return 0.6;
  return FAINTEST + (1 - FAINTEST) * (Math.log(count) / Math.log(most));
}

/**
 * Pixels, `width` × `height` of the answer, row by row from the longest durations down, four bytes
 * each. `colours` are those of the paths; what is beyond them has the last one.
 */
export function raster(answer: Pick<Scatter, 'cells' | 'width' | 'height'>, colours: readonly Rgb[]): Uint8ClampedArray<ArrayBuffer> {
  const { cells, width, height } = answer;
  const pixels = new Uint8ClampedArray(width * height * 4);
  const most = cells.count.reduce((a, b) => Math.max(a, b), 0);
  const other = colours.at(-1) ?? [128, 128, 128];
  for (let index = 0; index < cells.x.length; index += 1) {
    const x = cells.x[index] ?? -1;
    const y = cells.y[index] ?? -1;
    if (x < 0 || x >= width || y < 0 || y >= height) continue;
    const at = ((height - 1 - y) * width + x) * 4;
    const [red, green, blue] = colours[cells.path[index] ?? -1] ?? other;
    pixels[at] = red;
    pixels[at + 1] = green;
    pixels[at + 2] = blue;
    pixels[at + 3] = 255 * opacity(cells.count[index] ?? 1, most);
  }
  return pixels;
}

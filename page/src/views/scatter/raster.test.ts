import { describe, expect, it } from 'vitest';
import { opacity, raster, rgb } from './raster';

describe('the raster', () => {
  const red = rgb('#ff0000');
  const grey = rgb('#808080');

  it('has long durations above, and paths beyond the colours in the last one', () => {
    const cells = { x: [0, 2], y: [0, 1], count: [1, 100], path: [0, 9] };
    const pixels = raster({ cells, width: 3, height: 2 }, [red, grey]);
    const at = (x: number, row: number) => [...pixels.slice((row * 3 + x) * 4, (row * 3 + x) * 4 + 4)];
    expect(at(0, 1).slice(0, 3)).toEqual([255, 0, 0]);
    expect(at(2, 0)).toEqual([128, 128, 128, 255]);
    expect(at(1, 0)).toEqual([0, 0, 0, 0]);
    expect(at(0, 1)[3]).toBeGreaterThan(50); // one chain among a hundred is still seen
  });

  it('leaves out what lies outside instead of wrapping it around', () => {
    const cells = { x: [3, -1, 0], y: [0, 0, 2], count: [1, 1, 1], path: [0, 0, 0] };
    expect(raster({ cells, width: 3, height: 2 }, [red]).every((byte) => byte === 0)).toBe(true);
  });

  it('is denser where there is more', () => {
    const opacities = [1, 2, 10, 100, 1000].map((count) => opacity(count, 1000));
    expect([...opacities].sort((a, b) => a - b)).toEqual(opacities);
    expect(opacities.at(-1)).toBe(1);
  });

  it('reads colours as the style sheet has them', () => {
    expect(rgb('#1668b0')).toEqual([0x16, 0x68, 0xb0]);
    expect(rgb('blue')).toEqual([128, 128, 128]);
  });
});

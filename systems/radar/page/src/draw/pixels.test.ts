import { describe, expect, it } from 'vitest';
import { seeded } from '../../../../../page/src/random';
import { Pixels, pixelOf, spriteOf } from './pixels';

const GROUND = pixelOf('#102030');
const INK = pixelOf('#f0e0d0');

function picture(width: number, height: number): Pixels {
  const pixels = new Pixels(width, height);
  pixels.data.fill(GROUND);
  return pixels;
}
const channels = (pixel: number) => [pixel & 0xff, (pixel >>> 8) & 0xff, (pixel >>> 16) & 0xff, pixel >>> 24];

it('a colour is a pixel as ImageData has it', () => {
  expect([...new Uint8Array(Uint32Array.of(INK).buffer)]).toEqual([0xf0, 0xe0, 0xd0, 0xff]);
});

describe('a shape', () => {
  // Two rows of three: all, half and nothing covered; its origin in the middle of the first.
  const sprite = spriteOf([255, 128, 0, 0, 255, 64], 3, 1, 0);

  it('covers what it covers', () => {
    const to = picture(5, 4);
    to.sprite(sprite, 2, 1, INK);
    expect(to.data[1 * 5 + 1]).toBe(INK);
    expect(to.data[2 * 5 + 2]).toBe(INK);
    const half = channels(to.data[1 * 5 + 2] ?? 0);
    [[0x10, 0xf0], [0x20, 0xe0], [0x30, 0xd0], [255, 255]].forEach(([under = 0, over = 0], index) => {
      expect(Math.abs((half[index] ?? 0) - (under + ((over - under) * 128) / 255))).toBeLessThanOrEqual(1.5);
    });
    expect([...to.data].filter((pixel) => pixel !== GROUND).length).toBe(4);
  });

  it('is the same at the edge, as far as it is inside, and nothing elsewhere', () => {
    for (const [x, y] of [[0, 0], [4, 3], [-1, 1], [5, 2], [2, -1], [40, 1], [2, -9]] as const) {
      const small = picture(5, 4);
      small.sprite(sprite, x, y, INK);
      const large = picture(200, 200);
      large.sprite(sprite, x + 80, y + 80, INK);
      for (let row = 0; row < 4; row++) {
        for (let column = 0; column < 5; column++) expect(small.data[row * 5 + column]).toBe(large.data[(row + 80) * 200 + column + 80]);
      }
    }
  });
});

describe('a line', () => {
  it('from pixel to pixel is solid, and the same in both directions', () => {
    const [one, other] = [picture(20, 20), picture(20, 20)];
    one.line(3, 4, 12, 4, INK);
    other.line(12, 4, 3, 4, INK);
    expect([...one.data]).toEqual([...other.data]);
    expect([...one.data].filter((pixel) => pixel === INK).length).toBe(10);
    const diagonal = picture(20, 20);
    diagonal.line(2, 2, 9, 9, INK);
    for (let at = 2; at <= 9; at++) expect(diagonal.data[at * 20 + at]).toBe(INK);
  });

  it('shares each step between two pixels that together are one', () => {
    const to = picture(20, 20);
    to.line(0, 5, 16, 8, INK);
    for (let x = 0; x <= 16; x++) {
      const covered = Array.from({ length: 20 }, (_, y) => ((to.data[y * 20 + x] ?? 0) & 0xff) - 0x10).reduce((sum, part) => sum + part, 0);
      expect(Math.abs(covered - (0xf0 - 0x10))).toBeLessThanOrEqual(4);
    }
  });

  it('that comes from far away is drawn where it is inside, and one beside is not', () => {
    const to = picture(20, 20);
    to.line(-1e7, 10, 1e7, 10, INK);
    expect([...to.data.subarray(200, 220)].every((pixel) => pixel === INK)).toBe(true);
    const none = picture(20, 20);
    none.line(-50, -3, 50, -40, INK);
    none.line(30, 5, 30, 9, INK);
    expect([...none.data].every((pixel) => pixel === GROUND)).toBe(true);
  });
});

it('what is restricted to a rectangle is the same there, and nothing elsewhere', () => {
  const next = seeded(11);
  const between = (low: number, high: number) => Math.floor(low + (high - low) * next());
  const sprite = spriteOf(Uint8Array.from({ length: 99 }, () => (next() < 0.3 ? 255 : 255 * next())), 11, 5, 4);
  for (let turn = 0; turn < 200; turn++) {
    const at = Array.from({ length: 8 }, () => between(-30, 90));
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = at;
    const draw = (to: Pixels) => {
      to.fill(a, b, a + 20, b + 9, INK);
      to.sprite(sprite, c, d, INK);
      to.line(e + 0.4, f + 0.3, g + 0.7, h, INK);
      to.line(a * 40, b * 40, c * 40, d * 40, INK);
      to.square(g, h, 3, INK);
    };
    const [whole, part] = [picture(60, 50), picture(60, 50)];
    draw(whole);
    const box = { x0: between(-9, 50), y0: between(-9, 40), x1: between(20, 70), y1: between(20, 60) };
    part.within(box, () => draw(part));
    const expected = whole.data.map((pixel, place) => {
      const [x, y] = [place % 60, Math.floor(place / 60)];
      return x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1 ? pixel : GROUND;
    });
    expect(part.data.findIndex((pixel, place) => pixel !== expected[place])).toBe(-1);
  }
});

it('is moved in any direction', () => {
  for (const [right, down] of [[3, 0], [-2, 0], [0, 4], [0, -5], [6, -3], [-7, 2]] as const) {
    const to = new Pixels(20, 15);
    to.data.forEach((_, at) => { to.data[at] = at; });
    to.shift(right, down);
    for (let y = Math.max(0, down); y < Math.min(15, 15 + down); y++) {
      for (let x = Math.max(0, right); x < Math.min(20, 20 + right); x++) expect(to.data[y * 20 + x]).toBe((y - down) * 20 + x - right);
    }
  }
});

describe('a sheet', () => {
  const sheet = new Pixels(8, 6);
  sheet.data.forEach((_, at) => { sheet.data[at] = at + 1; });

  it('is copied from any place of it, and beyond there is the ground', () => {
    for (const [x, y] of [[2, 1], [-2, -1], [5, 4], [-20, 0], [0, 30]] as const) {
      const to = new Pixels(4, 3);
      to.copy(sheet, x, y, GROUND);
      for (let row = 0; row < 3; row++) {
        for (let column = 0; column < 4; column++) {
          const isInside = column + x >= 0 && column + x < 8 && row + y >= 0 && row + y < 6;
          expect(to.data[row * 4 + column]).toBe(isInside ? (row + y) * 8 + column + x + 1 : GROUND);
        }
      }
    }
  });

  it('is scaled about the place that stays, and beyond there is the ground', () => {
    const same = new Pixels(4, 3);
    same.scale(sheet, 2, 1, 1, GROUND);
    const copied = new Pixels(4, 3);
    copied.copy(sheet, 2, 1, GROUND);
    expect([...same.data]).toEqual([...copied.data]);
    const twice = new Pixels(16, 12);
    twice.scale(sheet, 0, 0, 0.5, GROUND);
    for (let y = 0; y < 12; y++) for (let x = 0; x < 16; x++) expect(twice.data[y * 16 + x]).toBe((y >> 1) * 8 + (x >> 1) + 1);
    const half = new Pixels(8, 6);
    half.scale(sheet, -4, -3, 2, GROUND);
    expect(half.data[0]).toBe(GROUND);
    expect(half.data[3 * 8 + 4]).not.toBe(GROUND);
    expect(half.data[3 * 8 + 7]).toBe(GROUND);
  });
});

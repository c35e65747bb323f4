// Parts of a picture that are to be drawn again.

import type { Box } from './pixels';

const areaOf = ({ x0, y0, x1, y1 }: Box) => (x1 - x0) * (y1 - y0);

export class Damage {
  readonly boxes: Box[] = [];
  /** Of all boxes, those that lie on each other counted for each, pixels. */
  area = 0;

  constructor(private readonly width: number, private readonly height: number) {}

  /** What of a box is in the picture. */
  add(box: Box): void {
    const inside = { x0: Math.max(0, box.x0), y0: Math.max(0, box.y0), x1: Math.min(this.width, box.x1), y1: Math.min(this.height, box.y1) };
    if (inside.x0 >= inside.x1 || inside.y0 >= inside.y1) return;
    this.boxes.push(inside);
    this.area += areaOf(inside);
  }

  /** Two boxes, as one where that is not larger: a target's before and after its update. */
  addBoth(one: Box, other: Box): void {
    const both = { x0: Math.min(one.x0, other.x0), y0: Math.min(one.y0, other.y0), x1: Math.max(one.x1, other.x1), y1: Math.max(one.y1, other.y1) };
    if (areaOf(both) <= areaOf(one) + areaOf(other)) {
      this.add(both);
      return;
    }
    this.add(one);
    this.add(other);
  }

  /** What comes in at the edges of a picture that is moved by so many pixels. */
  addEdges(right: number, down: number): void {
    const { width, height } = this;
    if (right > 0) this.add({ x0: 0, y0: 0, x1: right, y1: height });
    if (right < 0) this.add({ x0: width + right, y0: 0, x1: width, y1: height });
    if (down > 0) this.add({ x0: 0, y0: 0, x1: width, y1: down });
    if (down < 0) this.add({ x0: 0, y0: height + down, x1: width, y1: height });
  }
}

/** Less than every pixel. */
const NOWHERE = -(2 ** 31);

/** Sides of boxes, from one frame to the next: so many numbers are not made anew. */
let scratch = new Int32Array(0);

/** Those whose boxes touch each box of `damage`: calls `see` for each, with them in their order. */
export function touching<One extends { readonly box: Box | undefined }>(all: readonly One[], damage: readonly Box[], see: (box: Box, those: readonly One[]) => void): void {
  // In numbers one after another: each box is compared with all of them.
  const end = 4 * all.length;
  if (scratch.length < end) scratch = new Int32Array(2 * end);
  const sides = scratch;
  all.forEach(({ box }, index) => {
    // An empty one touches nothing.
    sides[4 * index] = box?.x0 ?? 0;
    sides[4 * index + 1] = box?.y0 ?? 0;
    sides[4 * index + 2] = box?.x1 ?? NOWHERE;
    sides[4 * index + 3] = box?.y1 ?? NOWHERE;
  });
  for (const box of damage) {
    const { x0, y0, x1, y1 } = box;
    const those: One[] = [];
    for (let at = 0; at < end; at += 4) {
      if ((sides[at] ?? 0) >= x1 || (sides[at + 1] ?? 0) >= y1 || (sides[at + 2] ?? 0) <= x0 || (sides[at + 3] ?? 0) <= y0) continue;
      const one = all[at >> 2];
      if (one !== undefined) those.push(one);
    }
    see(box, those);
  }
}

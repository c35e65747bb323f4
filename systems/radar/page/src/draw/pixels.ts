// A picture as an array of pixels, and what is drawn into it by the processor.
//
// Why not by the browser: without a GPU its canvas takes ten times as long for the same targets, and
// WebGL in software twenty times (`tools/page position-ways` measures them side by side). With a GPU
// one copy of the array goes to it for each frame.
//
// A pixel is 0xAABBGGRR, as ImageData has it where octets are little-endian, which every browser's
// machine is. All coordinates are pixels of the device; the alpha of a picture is always 255.

/** A shape without colour: how much of each pixel it covers, seen from its origin. Made by `spriteOf`. */
export interface Sprite {
  /** Place of each pixel that it covers. */
  readonly dx: Int16Array;
  readonly dy: Int16Array;
  /** How much of it is covered, in [1, 255]. Those with 255 come first. */
  readonly coverage: Uint8Array;
  /** Count of pixels with 255. */
  readonly solid: number;
  /** Bounds: the first pixels inside, and the first outside. */
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
  /** The places in a picture of so many columns, kept from one time to the next. */
  columns: number;
  readonly offsets: Int32Array;
}

/** A colour `#rrggbb` as a pixel. */
export function pixelOf(colour: string): number {
  const rgb = Number.parseInt(colour.slice(1), 16);
  return (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}

/** The shape of an alpha channel of `width` columns whose origin is at (`originX`, `originY`). */
export function spriteOf(alpha: ArrayLike<number>, width: number, originX: number, originY: number): Sprite {
  const covered: { x: number; y: number; a: number }[] = [];
  for (let at = 0; at < alpha.length; at++) {
    const a = alpha[at] ?? 0;
    if (a > 0) covered.push({ x: (at % width) - originX, y: Math.floor(at / width) - originY, a });
  }
  covered.sort((one, other) => Number(other.a === 255) - Number(one.a === 255));
  const [xs, ys] = [covered.map(({ x }) => x), covered.map(({ y }) => y)];
  return {
    dx: Int16Array.from(xs),
    dy: Int16Array.from(ys),
    coverage: Uint8Array.from(covered, ({ a }) => a),
    solid: covered.filter(({ a }) => a === 255).length,
    columns: 0,
    offsets: new Int32Array(covered.length),
    x0: Math.min(0, ...xs), y0: Math.min(0, ...ys), x1: Math.max(0, ...xs) + 1, y1: Math.max(0, ...ys) + 1,
  };
}

function spread(sprite: Sprite, columns: number): void {
  sprite.columns = columns;
  for (let at = 0; at < sprite.offsets.length; at++) sprite.offsets[at] = (sprite.dy[at] ?? 0) * columns + (sprite.dx[at] ?? 0);
}

/** `over` with `coverage` of 255 above `under`. */
function mix(under: number, over: number, coverage: number): number {
  // Two colours at once in one number: red and blue, and green alone. 255 has to count as all of it.
  const part = coverage + (coverage >> 7);
  const rest = 256 - part;
  const redBlue = ((Math.imul(under & 0xff00ff, rest) + Math.imul(over & 0xff00ff, part)) >>> 8) & 0xff00ff;
  const green = ((Math.imul(under & 0xff00, rest) + Math.imul(over & 0xff00, part)) >>> 8) & 0xff00;
  return (0xff000000 | redBlue | green) >>> 0;
}

export class Pixels {
  readonly data: Uint32Array;

  constructor(readonly width: number, readonly height: number, buffer: ArrayBufferLike = new ArrayBuffer(4 * width * height)) {
    this.data = new Uint32Array(buffer, 0, width * height);
  }

  /** Fills a rectangle, or what of it is inside. */
  fill(x0: number, y0: number, x1: number, y1: number, colour: number): void {
    const [left, right] = [Math.max(0, x0), Math.min(this.width, x1)];
    if (left >= right) return;
    for (let y = Math.max(0, y0); y < Math.min(this.height, y1); y++) {
      this.data.fill(colour, y * this.width + left, y * this.width + right);
    }
  }

  /** Copies `from` so that its pixel (x, y) is the first one here; what it does not have is `ground`. */
  copy(from: Pixels, x: number, y: number, ground: number): void {
    const [left, right] = [Math.max(0, -x), Math.min(this.width, from.width - x)];
    const [top, bottom] = [Math.max(0, -y), Math.min(this.height, from.height - y)];
    const isWhole = left === 0 && top === 0 && right === this.width && bottom === this.height;
    if (!isWhole) this.data.fill(ground);
    if (left >= right) return;
    for (let row = top; row < bottom; row++) {
      const begin = (row + y) * from.width + x;
      this.data.set(from.data.subarray(begin + left, begin + right), row * this.width + left);
    }
  }

  /** Copies `from` larger or smaller: the pixel here at (x, y) is the nearest there to (`fromX` + x × `step`,
   * `fromY` + y × `step`). */
  scale(from: Pixels, fromX: number, fromY: number, step: number, ground: number): void {
    const { data, width, height } = this;
    const columns = Int32Array.from({ length: width }, (_, x) => {
      const column = Math.floor(fromX + (x + 0.5) * step);
      return column >= 0 && column < from.width ? column : -1;
    });
    let [begin, end] = [0, width];
    while (begin < end && (columns[begin] ?? -1) < 0) begin++;
    while (end > begin && (columns[end - 1] ?? -1) < 0) end--;
    if (begin > 0 || end < width) data.fill(ground);
    for (let y = 0; y < height; y++) {
      const row = Math.floor(fromY + (y + 0.5) * step);
      if (row < 0 || row >= from.height) {
        data.fill(ground, y * width, (y + 1) * width);
        continue;
      }
      const source = row * from.width;
      for (let x = begin, to = y * width + begin; x < end; x++, to++) data[to] = from.data[source + (columns[x] ?? 0)] ?? ground;
    }
  }

  /** Draws a shape in a colour with its origin at (x, y). */
  sprite(of: Sprite, x: number, y: number, colour: number): void {
    const { data, width, height } = this;
    const { dx, dy, coverage, solid } = of;
    const count = coverage.length;
    const base = y * width + x;
    if (x + of.x0 >= 0 && y + of.y0 >= 0 && x + of.x1 <= width && y + of.y1 <= height) {
      if (of.columns !== width) spread(of, width);
      const { offsets } = of;
      for (let at = 0; at < solid; at++) data[base + (offsets[at] ?? 0)] = colour;
      for (let at = solid; at < count; at++) {
        const to = base + (offsets[at] ?? 0);
        data[to] = mix(data[to] ?? 0, colour, coverage[at] ?? 0);
      }
      return;
    }
    if (x + of.x1 <= 0 || y + of.y1 <= 0 || x + of.x0 >= width || y + of.y0 >= height) return;
    for (let at = 0; at < count; at++) this.point(x + (dx[at] ?? 0), y + (dy[at] ?? 0), colour, coverage[at] ?? 0);
  }

  /** A pixel that is covered in part, if it is inside. */
  private point(x: number, y: number, colour: number, coverage: number): void {
    if (coverage === 0 || x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = y * this.width + x;
    this.data[at] = mix(this.data[at] ?? 0, colour, coverage);
  }

  /** A line as wide as a pixel, smooth: two pixels in each step along its longer side share it. */
  line(fromX: number, fromY: number, toX: number, toY: number, colour: number): void {
    const clipped = clip(fromX, fromY, toX, toY, this.width, this.height);
    if (clipped === undefined) return;
    const [x0, y0, x1, y1] = clipped;
    const isFlat = Math.abs(x1 - x0) >= Math.abs(y1 - y0);
    const steps = Math.max(1, Math.round(isFlat ? Math.abs(x1 - x0) : Math.abs(y1 - y0)));
    // Along its longer side, and beside it in steps of a pixel's 256th.
    const [along, beside] = isFlat ? [x0, y0] : [y0, x0];
    const way = isFlat ? Math.sign(x1 - x0) : Math.sign(y1 - y0);
    const slope = ((isFlat ? y1 - y0 : x1 - x0) * 256) / steps;
    const first = Math.round(along);
    const { data, width, height } = this;
    const isInside = Math.min(x0, x1) >= 1 && Math.min(y0, y1) >= 1 && Math.max(x0, x1) < width - 2 && Math.max(y0, y1) < height - 2;
    const [stride, strideBeside] = isFlat ? [way, width] : [way * width, 1];
    const begin = isFlat ? first : first * width;
    for (let step = 0; step <= steps; step++) {
      const place = Math.round(beside * 256 + step * slope);
      const [low, part] = [place >> 8, place & 255];
      if (isInside) {
        const at = begin + step * stride + low * strideBeside;
        data[at] = mix(data[at] ?? 0, colour, 255 - part);
        data[at + strideBeside] = mix(data[at + strideBeside] ?? 0, colour, part);
      } else if (isFlat) {
        this.point(first + step * way, low, colour, 255 - part);
        this.point(first + step * way, low + 1, colour, part);
      } else {
        this.point(low, first + step * way, colour, 255 - part);
        this.point(low + 1, first + step * way, colour, part);
      }
    }
  }

  /** A square whose upper left corner is at (x, y). */
  square(x: number, y: number, side: number, colour: number): void {
    const { data, width, height } = this;
    const [left, right, bottom] = [Math.max(0, x), Math.min(width, x + side), Math.min(height, y + side)];
    for (let row = Math.max(0, y); row < bottom; row++) {
      for (let at = row * width + left; at < row * width + right; at++) data[at] = colour;
    }
  }
}

/** The part of a line within a picture and a pixel around it (Liang and Barsky); undefined without any. */
function clip(x0: number, y0: number, x1: number, y1: number, width: number, height: number): readonly [number, number, number, number] | undefined {
  if (x0 >= 0 && y0 >= 0 && x1 >= 0 && y1 >= 0 && x0 < width && y0 < height && x1 < width && y1 < height) return [x0, y0, x1, y1];
  const [dx, dy] = [x1 - x0, y1 - y0];
  let [enter, leave] = [0, 1];
  for (const [move, room] of [[-dx, x0 + 1], [dx, width - x0], [-dy, y0 + 1], [dy, height - y0]] as const) {
    if (move === 0) {
      if (room < 0) return undefined;
    } else if (move < 0) {
      enter = Math.max(enter, room / move);
    } else {
      leave = Math.min(leave, room / move);
    }
  }
  return enter > leave ? undefined : [x0 + enter * dx, y0 + enter * dy, x0 + leave * dx, y0 + leave * dy];
}

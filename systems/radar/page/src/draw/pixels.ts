// A picture as an array of pixels, and what is drawn into it by the processor.
//
// Why not by the browser: without a GPU its canvas takes five times as long for the same targets, and
// WebGL in software twenty-five times (`tools/page position-ways` measures them side by side). With a GPU
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

/** A rectangle of whole pixels: the first inside, and the first outside. */
export interface Box {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** Lines are cut at this distance from the picture, pixels: their steps are numbers of 16 bits and 16 more. */
const FAR = 8192;

export class Pixels {
  readonly data: Uint32Array;
  /** Nothing is drawn outside of it. */
  private clip: Box;

  constructor(readonly width: number, readonly height: number, buffer: ArrayBufferLike = new ArrayBuffer(4 * width * height)) {
    this.data = new Uint32Array(buffer, 0, width * height);
    this.clip = { x0: 0, y0: 0, x1: width, y1: height };
  }

  /** Restricts drawing to what of `box` is inside, until `draw` returns. Each pixel there becomes what it would
   * become without: a picture can be drawn anew in part. */
  within(box: Box, draw: () => void): void {
    const { width, height } = this;
    this.clip = { x0: Math.max(0, box.x0), y0: Math.max(0, box.y0), x1: Math.min(width, box.x1), y1: Math.min(height, box.y1) };
    try {
      draw();
    } finally {
      this.clip = { x0: 0, y0: 0, x1: width, y1: height };
    }
  }

  /** Moves all by so many pixels, to the left and up with negative ones. What comes in at the edges is to be drawn. */
  shift(right: number, down: number): void {
    const by = down * this.width + right;
    if (by < 0) this.data.copyWithin(0, -by);
    else this.data.copyWithin(by, 0, this.data.length - by);
  }

  /** Fills a rectangle, or what of it is inside. */
  fill(x0: number, y0: number, x1: number, y1: number, colour: number): void {
    const { clip } = this;
    const [left, right, bottom] = [Math.max(clip.x0, x0), Math.min(clip.x1, x1), Math.min(clip.y1, y1)];
    if (left >= right) return;
    for (let y = Math.max(clip.y0, y0); y < bottom; y++) {
      this.data.fill(colour, y * this.width + left, y * this.width + right);
    }
  }

  /** Copies `from` so that its pixel (x, y) is the first one here; what it does not have is `ground`. */
  copy(from: Pixels, x: number, y: number, ground: number): void {
    const { x0, y0, x1, y1 } = this.clip;
    const [left, right] = [Math.max(x0, -x), Math.min(x1, from.width - x)];
    const [top, bottom] = [Math.max(y0, -y), Math.min(y1, from.height - y)];
    const isWhole = left === x0 && top === y0 && right === x1 && bottom === y1;
    if (!isWhole) this.fill(x0, y0, x1, y1, ground);
    if (left >= right) return;
    for (let row = top; row < bottom; row++) {
      const begin = (row + y) * from.width + x;
      this.data.set(from.data.subarray(begin + left, begin + right), row * this.width + left);
    }
  }

  /** Copies `from` larger or smaller: the pixel here at (x, y) is the nearest there to (`fromX` + x × `step`,
   * `fromY` + y × `step`). Not restricted by `within`. */
  scale(from: Pixels, fromX: number, fromY: number, step: number, ground: number): void {
    const { data, width, height } = this;
    // Columns in steps of a pixel's 65536th.
    const [first, stride] = [Math.floor((fromX + step / 2) * 65536), Math.round(step * 65536)];
    let [begin, end] = [0, width];
    const column = (x: number) => Math.floor((first + x * stride) / 65536);
    while (begin < end && (column(begin) < 0 || column(begin) >= from.width)) begin++;
    while (end > begin && (column(end - 1) < 0 || column(end - 1) >= from.width)) end--;
    if (begin > 0 || end < width) data.fill(ground);
    const { data: source } = from;
    let before = -1;
    for (let y = 0; y < height; y++) {
      const row = Math.floor(fromY + (y + 0.5) * step);
      if (row < 0 || row >= from.height) {
        data.fill(ground, y * width, (y + 1) * width);
        continue;
      }
      if (row === before) {
        data.copyWithin(y * width, (y - 1) * width, y * width);
        continue;
      }
      before = row;
      const base = row * from.width;
      const last = y * width + end;
      for (let to = y * width + begin, place = first + begin * stride; to < last; to++, place += stride) data[to] = source[base + (place >> 16)] ?? ground;
    }
  }

  /** Draws a shape in a colour with its origin at (x, y). */
  sprite(of: Sprite, x: number, y: number, colour: number): void {
    const { data, width, clip } = this;
    const { dx, dy, coverage, solid } = of;
    const count = coverage.length;
    const base = y * width + x;
    if (x + of.x0 >= clip.x0 && y + of.y0 >= clip.y0 && x + of.x1 <= clip.x1 && y + of.y1 <= clip.y1) {
      if (of.columns !== width) spread(of, width);
      const { offsets } = of;
      for (let at = 0; at < solid; at++) data[base + (offsets[at] ?? 0)] = colour;
      for (let at = solid; at < count; at++) {
        const to = base + (offsets[at] ?? 0);
        data[to] = mix(data[to] ?? 0, colour, coverage[at] ?? 0);
      }
      return;
    }
    if (x + of.x1 <= clip.x0 || y + of.y1 <= clip.y0 || x + of.x0 >= clip.x1 || y + of.y0 >= clip.y1) return;
    for (let at = 0; at < count; at++) this.point(x + (dx[at] ?? 0), y + (dy[at] ?? 0), colour, coverage[at] ?? 0);
  }

  /** A pixel that is covered in part, if it is inside. */
  private point(x: number, y: number, colour: number, coverage: number): void {
    const { clip } = this;
    if (coverage === 0 || x < clip.x0 || y < clip.y0 || x >= clip.x1 || y >= clip.y1) return;
    const at = y * this.width + x;
    this.data[at] = mix(this.data[at] ?? 0, colour, coverage);
  }

  /** A line as wide as a pixel, smooth: two pixels in each step along its longer side share it. A part of the
   * picture gets what the whole would get, since steps are counted from the line's beginning. */
  line(fromX: number, fromY: number, toX: number, toY: number, colour: number): void {
    if (Math.min(fromX, fromY, toX, toY) < -FAR || Math.max(fromX, toX) >= this.width + FAR || Math.max(fromY, toY) >= this.height + FAR) {
      const cut = cutFar(fromX, fromY, toX, toY, this.width, this.height);
      if (cut !== undefined) this.line(cut.x0, cut.y0, cut.x1, cut.y1, colour);
      return;
    }
    const isFlat = Math.abs(toX - fromX) >= Math.abs(toY - fromY);
    if (isFlat) this.steps(fromX, fromY, toX, toY, 1, this.width, colour);
    else this.steps(fromY, fromX, toY, toX, this.width, 1, colour);
  }

  /** The same in coordinates along its longer side and beside it, whose pixels are `stride` and `strideBeside` apart. */
  private steps(along: number, beside: number, end: number, endBeside: number, stride: number, strideBeside: number, colour: number): void {
    const { data, clip } = this;
    const isFlat = stride === 1;
    const low = isFlat ? clip.x0 : clip.y0;
    const high = isFlat ? clip.x1 : clip.y1;
    const lowBeside = isFlat ? clip.y0 : clip.x0;
    const highBeside = isFlat ? clip.y1 : clip.x1;
    const count = Math.round(Math.abs(end - along));
    const way = end < along ? -1 : 1;
    const first = Math.round(along);
    const from = Math.max(0, way > 0 ? low - first : first - high + 1);
    const last = Math.min(count, way > 0 ? high - 1 - first : first - low);
    // Beside it in steps of a pixel's 65536th.
    const slope = count === 0 ? 0 : Math.round(((endBeside - beside) * 65536) / count);
    let place = Math.round(beside * 65536) + from * slope;
    let at = (first + from * way) * stride;
    for (let step = from; step <= last; step++, place += slope, at += way * stride) {
      const row = place >> 16;
      const part = (place >> 8) & 255;
      const to = at + row * strideBeside;
      if (row < lowBeside - 1 || row >= highBeside) continue;
      if (row >= lowBeside) data[to] = part === 0 ? colour : mix(data[to] ?? 0, colour, 255 - part);
      if (part > 0 && row < highBeside - 1) data[to + strideBeside] = mix(data[to + strideBeside] ?? 0, colour, part);
    }
  }

  /** A square whose upper left corner is at (x, y). */
  square(x: number, y: number, side: number, colour: number): void {
    const { data, width, clip } = this;
    if (side === 2 && x >= clip.x0 && y >= clip.y0 && x + 2 <= clip.x1 && y + 2 <= clip.y1) {
      const at = y * width + x;
      data[at] = colour;
      data[at + 1] = colour;
      data[at + width] = colour;
      data[at + width + 1] = colour;
      return;
    }
    const left = Math.max(clip.x0, x);
    const right = Math.min(clip.x1, x + side);
    const bottom = Math.min(clip.y1, y + side);
    for (let row = Math.max(clip.y0, y); row < bottom; row++) {
      for (let at = row * width + left; at < row * width + right; at++) data[at] = colour;
    }
  }
}

/** The part of a line that is not far from a picture (Liang and Barsky); undefined without any. */
function cutFar(x0: number, y0: number, x1: number, y1: number, width: number, height: number): Box | undefined {
  const [dx, dy] = [x1 - x0, y1 - y0];
  // Rather nearer, so that what was cut is not far.
  const far = FAR - 1;
  let [enter, leave] = [0, 1];
  for (const [move, room] of [[-dx, x0 + far], [dx, width + far - x0], [-dy, y0 + far], [dy, height + far - y0]] as const) {
    if (move === 0) {
      if (room < 0) return undefined;
    } else if (move < 0) {
      enter = Math.max(enter, room / move);
    } else {
      leave = Math.min(leave, room / move);
    }
  }
  return enter > leave ? undefined : { x0: x0 + enter * dx, y0: y0 + enter * dy, x1: x0 + leave * dx, y1: y0 + leave * dy };
}

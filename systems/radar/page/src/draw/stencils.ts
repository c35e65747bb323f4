// Shapes of letters, symbols and rings for one size of pixels: drawn once by the browser, kept as
// sprites.

import { CHARACTER, FONT, TINY_CHARACTER, type Look } from '../target';
import { Pixels, spriteOf, type Sprite } from './pixels';

/** Letters stand between two pixels in steps of this part of one: 6.6 and 5.4 pixels are multiples. */
const PHASES = 5;
/** Half of the square that a ring around a symbol takes. */
const RING = 13;
/** Half of the square that a symbol takes. */
const SYMBOL = 8;
/** Where the stub of a target without a label begins and ends, to the right of its symbol and above it. */
const STUB_BEGIN = 5;
export const STUB = 9;

/** A ring around a symbol: of a selected target or of a conflict; and of two targets that are too close. */
export type Ring = 'single' | 'double';

/** Letters of one size. */
interface Face {
  readonly font: string;
  /** From one letter to the next, pixels of the style sheet. */
  readonly advance: number;
  readonly glyphs: Map<string, readonly (Sprite | undefined)[]>;
}

export class Stencils {
  private readonly canvas = new OffscreenCanvas(1, 1);
  private readonly context: OffscreenCanvasRenderingContext2D;
  private readonly faces: Readonly<Record<'normal' | 'tiny', Face>>;
  private readonly symbols = new Map<Look, Sprite>();
  private readonly rings = new Map<Ring, Sprite>();
  private stubSprite: Sprite | undefined;

  /** `ratio`: pixels of the device in one of the style sheet. */
  constructor(readonly ratio: number) {
    // It is read at once: a GPU would have to give it back.
    const context = this.canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error('this browser has no 2D canvas in a worker');
    this.context = context;
    this.faces = {
      normal: { font: FONT, advance: CHARACTER, glyphs: new Map() },
      tiny: { font: FONT.replace('11px', '9px'), advance: TINY_CHARACTER, glyphs: new Map() },
    };
  }

  /** Writes words with their upper left corner at (x, y), pixels of the device. */
  write(to: Pixels, words: string, x: number, y: number, size: 'normal' | 'tiny', colour: number): void {
    const face = this.faces[size];
    const advance = face.advance * this.ratio;
    for (let index = 0; index < words.length; index++) {
      const letter = words[index] ?? ' ';
      if (letter === ' ') continue;
      const fifths = Math.round((x + index * advance) * PHASES);
      const whole = Math.floor(fifths / PHASES);
      const sprite = (face.glyphs.get(letter) ?? this.glyph(face, letter))[fifths - whole * PHASES];
      if (sprite !== undefined) to.sprite(sprite, whole, y, colour);
    }
  }

  symbol(look: Look): Sprite {
    const known = this.symbols.get(look);
    if (known !== undefined) return known;
    const sprite = this.drawn(SYMBOL, (context) => {
      context.lineWidth = 1.3;
      context.beginPath();
      trace(context, look);
      context.stroke();
    });
    this.symbols.set(look, sprite);
    return sprite;
  }

  ring(kind: Ring): Sprite {
    const known = this.rings.get(kind);
    if (known !== undefined) return known;
    const sprite = this.drawn(RING, (context) => {
      context.lineWidth = kind === 'double' ? 2 : 1.3;
      for (const radius of kind === 'double' ? [7, 11] : [8]) {
        context.beginPath();
        context.arc(0, 0, radius, 0, 2 * Math.PI);
        context.stroke();
      }
    });
    this.rings.set(kind, sprite);
    return sprite;
  }

  /** The stub of a target without a label, from its symbol: most have none where there are thousands. */
  stub(): Sprite {
    return (this.stubSprite ??= this.lineOf(STUB_BEGIN, -STUB_BEGIN, STUB, -STUB));
  }

  /** A line, from the origin of what it belongs to. */
  private lineOf(x0: number, y0: number, x1: number, y1: number): Sprite {
    const { ratio } = this;
    const half = Math.ceil(STUB * ratio) + 2;
    // Of white on black each channel is how much is covered.
    const to = new Pixels(2 * half, 2 * half);
    to.line(half + x0 * ratio, half + y0 * ratio, half + x1 * ratio, half + y1 * ratio, 0xffffffff);
    return spriteOf(to.data.map((pixel) => pixel & 0xff), 2 * half, half, half);
  }

  /** A letter at each of its phases. */
  private glyph(face: Face, letter: string): readonly (Sprite | undefined)[] {
    const glyphs = Array.from({ length: PHASES }, (_, phase) => {
      const size = Math.ceil(24 * this.ratio);
      const context = this.prepare(size);
      // Room at the left: a letter may extend beyond its place.
      const left = Math.ceil(4 * this.ratio);
      context.setTransform(this.ratio, 0, 0, this.ratio, left + phase / PHASES, 0);
      context.font = face.font;
      context.textBaseline = 'top';
      context.fillText(letter, 0, 0);
      const sprite = this.read(size, left, 0);
      return sprite.coverage.length > 0 ? sprite : undefined;
    });
    face.glyphs.set(letter, glyphs);
    return glyphs;
  }

  /** What `draw` draws around its origin, in a square of twice `half`. */
  private drawn(half: number, draw: (context: OffscreenCanvasRenderingContext2D) => void): Sprite {
    const middle = Math.ceil(half * this.ratio);
    const context = this.prepare(2 * middle + 1);
    context.setTransform(this.ratio, 0, 0, this.ratio, middle, middle);
    draw(context);
    return this.read(2 * middle + 1, middle, middle);
  }

  private prepare(size: number): OffscreenCanvasRenderingContext2D {
    // This clears it and sets all of its state back.
    this.canvas.width = size;
    this.canvas.height = size;
    this.context.fillStyle = '#ffffff';
    this.context.strokeStyle = '#ffffff';
    return this.context;
  }

  private read(size: number, originX: number, originY: number): Sprite {
    const { data } = this.context.getImageData(0, 0, size, size);
    const alpha = Uint8Array.from({ length: size * size }, (_, at) => data[4 * at + 3] ?? 0);
    return spriteOf(alpha, size, originX, originY);
  }
}

/** A square with its middle, a triangle, a plus, a cross, two circles. */
function trace(path: CanvasPath, look: Look): void {
  switch (look) {
    case 'correlated':
      path.rect(-3.5, -3.5, 7, 7);
      path.rect(-0.5, -0.5, 1, 1);
      break;
    case 'uncorrelated':
      path.moveTo(0, -5);
      path.lineTo(4.5, 3.5);
      path.lineTo(-4.5, 3.5);
      path.closePath();
      break;
    case 'primary':
      path.moveTo(-4, 0);
      path.lineTo(4, 0);
      path.moveTo(0, -4);
      path.lineTo(0, 4);
      break;
    case 'coasting':
      path.moveTo(-4, -4);
      path.lineTo(4, 4);
      path.moveTo(4, -4);
      path.lineTo(-4, 4);
      break;
    case 'emergency':
      for (const radius of [5, 2]) {
        path.moveTo(radius, 0);
        path.arc(0, 0, radius, 0, 2 * Math.PI);
      }
  }
}

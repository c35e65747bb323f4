// A part of the page as an SVG picture that opens elsewhere: what it shows (SVG, canvas, text, boxes)
// with all styles inlined. A canvas becomes a bitmap within it. What is scrolled out of sight, controls
// and gradients are left out.

const SVG = 'http://www.w3.org/2000/svg';

/** An SVG document, its size in CSS pixels. */
export interface Picture {
  readonly text: string;
  readonly width: number;
  readonly height: number;
}

/** Edges in pixels of the window. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Controls, and what follows the pointer. */
const LEFT_OUT = '.unseen, .bar :is(button, select, input, label), input, select, datalist, dialog, progress, img, '
  + '.u-cursor-x, .u-cursor-y, .u-cursor-pt, .u-select';

/** The picture of an element as it is shown. */
export function pictureOf(element: HTMLElement, title: string): Picture {
  const box = element.getBoundingClientRect();
  const [width, height] = [Math.ceil(box.width), Math.ceil(box.height)];
  const root = make('svg', { width, height, viewBox: `0 0 ${width} ${height}` });
  root.append(Object.assign(make('title', {}), { textContent: title }));
  root.append(make('rect', { width, height, fill: getComputedStyle(document.documentElement).getPropertyValue('--panel').trim() }));
  const layer = make('g', { transform: `translate(${-box.left} ${-box.top})` });
  root.append(layer);
  new Drawing(layer).element(element, box);
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

/** Pixels of a PNG for each CSS pixel. */
const DENSITY = 2;

/** The same as a PNG. */
export async function pngOf({ text, width, height }: Picture): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * DENSITY;
    canvas.height = height * DENSITY;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((done) => { canvas.toBlob(done, 'image/png'); });
    if (blob === null) throw new Error('the picture is too large for a PNG');
    return blob;
  } finally {
    URL.revokeObjectURL(url);
  }
}

function make(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

const round = (pixels: number) => Math.round(pixels * 100) / 100;

/** Draws elements into a layer whose coordinates are those of the window. */
class Drawing {
  private clips = 0;

  constructor(private readonly layer: SVGElement) {}

  /** An element and what is in it, as far as it is within `clip`. */
  element(element: Element, clip: Box): void {
    const style = getComputedStyle(element);
    if (style.display === 'none' || style.visibility === 'hidden' || element.matches(LEFT_OUT)) return;
    const box = element.getBoundingClientRect();
    if (element instanceof SVGSVGElement) this.clipped(inlined(element, box), box, clip);
    else if (element instanceof HTMLCanvasElement) this.clipped(bitmap(element, box), box, clip);
    else {
      this.box(style, box, clip);
      const inner = style.overflowX === 'visible' ? clip : common(clip, box);
      for (const child of element.childNodes) {
        if (child instanceof Text) this.text(child, style, inner);
        else if (child instanceof Element) this.element(child, inner);
      }
    }
  }

  private clipped(drawn: SVGElement, box: Box, clip: Box): void {
    const { left, top, right, bottom } = common(box, clip);
    if (right <= left || bottom <= top) return;
    if (left > box.left || top > box.top || right < box.right || bottom < box.bottom) {
      this.clips += 1;
      const id = `visible-${this.clips}`;
      const path = make('clipPath', { id });
      path.append(make('rect', { x: left, y: top, width: right - left, height: bottom - top }));
      const group = make('g', { 'clip-path': `url(#${id})` });
      group.append(drawn);
      this.layer.append(path, group);
    } else this.layer.append(drawn);
  }

  /** Background and borders. */
  private box(style: CSSStyleDeclaration, whole: Box, clip: Box): void {
    const { left, top, right, bottom } = common(whole, clip);
    if (right <= left || bottom <= top) return;
    if (!/^(?:transparent|rgba\(.*, 0\))$/.test(style.backgroundColor)) {
      this.layer.append(make('rect', {
        x: round(left), y: round(top), width: round(right - left), height: round(bottom - top),
        rx: Number.parseFloat(style.borderTopLeftRadius) || 0, fill: style.backgroundColor,
      }));
    }
    const edges = { Top: [left, top, right, top], Right: [right, top, right, bottom], Bottom: [left, bottom, right, bottom], Left: [left, top, left, bottom] } as const;
    for (const [side, [x1, y1, x2, y2]] of Object.entries(edges) as [keyof typeof edges, readonly [number, number, number, number]][]) {
      const [width, kind, stroke] = [Number.parseFloat(style[`border${side}Width`]), style[`border${side}Style`], style[`border${side}Color`]];
      if (width === 0 || kind === 'none' || kind === 'hidden' || /, 0\)$/.test(stroke)) continue;
      this.layer.append(make('line', {
        x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2), stroke, 'stroke-width': width,
        ...(kind === 'dashed' || kind === 'dotted' ? { 'stroke-dasharray': `${2 * width} ${2 * width}` } : {}),
      }));
    }
  }

  /** Text, a line at a time, with the width that it has here: other programs have other fonts. */
  private text(node: Text, style: CSSStyleDeclaration, clip: Box): void {
    for (const { text, box } of linesOf(node)) {
      const seen = common(box, clip);
      if (seen.right - seen.left < 1 || seen.bottom - seen.top < box.height / 2) continue;
      const cut = seen.right < box.right - 1;
      const letters = Math.floor(text.length * ((seen.right - box.left) / box.width)) - 1;
      const drawn = make('text', {
        x: round(box.left), y: round(baseline(style, box)), fill: style.color,
        'font-family': style.fontFamily, 'font-size': style.fontSize, 'font-weight': style.fontWeight,
        ...(cut ? {} : { textLength: round(box.width), lengthAdjust: 'spacingAndGlyphs' }),
      });
      drawn.textContent = cut ? `${text.slice(0, Math.max(0, letters))}…` : text;
      this.layer.append(drawn);
    }
  }
}

function common(one: Box, other: Box): Box {
  return {
    left: Math.max(one.left, other.left), top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right), bottom: Math.min(one.bottom, other.bottom),
  };
}

/** The lines of a text node, each with its place in the window. */
function linesOf(node: Text): { text: string; box: DOMRect }[] {
  const range = document.createRange();
  const lines: { text: string; first: number; end: number; top: number }[] = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const { top, width } = range.getBoundingClientRect();
    if (width === 0) continue;
    const line = lines.at(-1);
    if (line !== undefined && Math.abs(line.top - top) < 2) Object.assign(line, { text: `${line.text} ${word}`, end: index + word.length });
    else lines.push({ text: word, first: index, end: index + word.length, top });
  }
  return lines.map(({ text, first, end }) => {
    range.setStart(node, first);
    range.setEnd(node, end);
    return { text, box: range.getBoundingClientRect() };
  });
}

let measure: CanvasRenderingContext2D | null | undefined;

function baseline({ fontWeight, fontSize, fontFamily }: CSSStyleDeclaration, box: DOMRect): number {
  measure ??= document.createElement('canvas').getContext('2d');
  if (measure === null) return box.bottom;
  measure.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = measure.measureText('x');
  return box.top + (box.height - ascent - descent) / 2 + ascent;
}

function bitmap(canvas: HTMLCanvasElement, { left, top, width, height }: DOMRect): SVGElement {
  return make('image', { x: round(left), y: round(top), width: round(width), height: round(height), href: canvas.toDataURL('image/png') });
}

/** Properties that children take over: written where they differ from the parent's. */
const INHERITED = [
  'fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'font-family', 'font-size', 'font-weight',
  'text-anchor', 'paint-order', 'visibility', 'marker-end',
] as const;

/** Properties that they do not, with the value that need not be written. */
const OWN = { opacity: '1', 'clip-path': 'none', 'vector-effect': 'none', display: 'inline', 'dominant-baseline': 'auto' } as const;

/** A copy of an SVG element at its place in the window, its styles as attributes. */
function inlined(svg: SVGSVGElement, { left, top, width, height }: DOMRect): SVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  inline(svg, copy, undefined);
  for (const [key, value] of Object.entries({ x: left, y: top, width, height })) copy.setAttribute(key, String(round(value)));
  return copy;
}

function inline(from: Element, to: Element, parent: CSSStyleDeclaration | undefined): void {
  const style = getComputedStyle(from);
  const said = INHERITED.map((name) => [name, style.getPropertyValue(name)] as const).filter(([name, value]) => value !== parent?.getPropertyValue(name));
  const own = Object.entries(OWN).map(([name]) => [name, style.getPropertyValue(name)] as const)
    .filter(([name, value]) => value !== OWN[name as keyof typeof OWN] && !(name === 'display' && value !== 'none'));
  for (const { name } of [...to.attributes]) if (/^(?:class|style|role|tabindex|aria-.*|data-.*)$/.test(name)) to.removeAttribute(name);
  // As attributes of their own: the page's policy forbids a `style` that is set as text.
  for (const [name, value] of [...said, ...own]) if (value !== '') to.setAttribute(name, value);
  [...from.children].forEach((child, index) => {
    const twin = to.children[index];
    if (twin !== undefined) inline(child, twin, style);
  });
}

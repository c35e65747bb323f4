// Layout of a call graph: nodes stand in layers from left to right. A call leads to a later layer;
// only a call that closes a cycle runs back.
//
// The method is Sugiyama's (K. Sugiyama, S. Tagawa, M. Toda: Methods for Visual Understanding of
// Hierarchical System Structures, 1981): layers by longest path, order within a layer by the mean of
// the neighbours, upright positions as near to the neighbours as the distances allow.

import { acyclic, layersOf, type Link } from './layers';
import { ordered } from './order';
import { spread } from './spread';

/** Sizes in pixels. */
export interface Sizes {
  /** Width of a node's text; a layer is as wide as its widest node. */
  readonly nodeWidth: (id: string) => number;
  readonly nodeHeight: number;
  /** Between two layers, at least: where the labels there need more, they have it. */
  readonly gapX: number;
  /** Between two nodes of a layer. */
  readonly gapY: number;
  /** Height that an edge needs where it passes a layer. */
  readonly labelHeight: number;
  /** The box around a label, by the index of its edge. */
  readonly label: (index: number) => Size;
}

/** Size in pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Between a label and what is beside it, in pixels. */
const MARGIN = 4;

export interface PlacedNode {
  readonly id: string;
  readonly layer: number;
  /** The left upper corner. */
  readonly x: number;
  readonly y: number;
  /** Width of the node's layer. */
  readonly width: number;
}

export interface PlacedEdge {
  /** Index in the given edges. */
  readonly index: number;
  /** For an SVG path, from caller to called. */
  readonly d: string;
  /** Whether it closes a cycle and thus runs from right to left. */
  readonly back: boolean;
  /** The middle of its label, whose box is over no other label, loop or node. */
  readonly label: { readonly x: number; readonly y: number };
}

export interface Layout {
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
  readonly width: number;
  readonly height: number;
}

/** A place in a layer: of a node, or of a long edge that passes through. */
interface Item {
  readonly key: string;
  readonly height: number;
  y: number;
}

/** Lays a graph out. An edge of a node that is not given is left out. */
export function layout(ids: readonly string[], links: readonly Link[], sizes: Sizes): Layout {
  const known = new Set(ids);
  const edges = links.map((link, index) => ({ ...link, index })).filter((edge) => known.has(edge.from) && known.has(edge.to));
  const { forward, back } = acyclic(ids, edges);
  const layer = layersOf(ids, forward);

  // Every edge becomes steps from one layer to the next, through places of its own in between.
  const columns: string[][] = [];
  for (const id of ids) (columns[layer.get(id) ?? 0] ??= []).push(id);
  const steps: Link[] = [];
  const ways = new Map<number, string[]>();
  for (const edge of forward) {
    if (edge.from === edge.to) continue;
    const way = [edge.from];
    for (let at = (layer.get(edge.from) ?? 0) + 1; at < (layer.get(edge.to) ?? 0); at += 1) {
      const key = `${edge.index}@${at}`;
      columns[at]?.push(key);
      way.push(key);
    }
    way.push(edge.to);
    way.slice(1).forEach((to, index) => steps.push({ from: way[index] as string, to }));
    ways.set(edge.index, way);
  }

  const placed = positions(ordered(columns, steps), steps, (key) => (known.has(key) ? sizes.nodeHeight : sizes.labelHeight), sizes);
  const spans = spansOf(columns.map((column) => column.filter((key) => known.has(key))), gapsOf(edges, ways, layer, sizes), sizes);
  const span = (at: number) => spans[at] ?? NOWHERE;
  const nodes = ids.map((id) => {
    const at = layer.get(id) ?? 0;
    const { left, width } = span(at);
    return { id, layer: at, x: left, y: (placed.get(id)?.y ?? 0) - sizes.nodeHeight / 2, width };
  });
  const drawn = draw(edges, ways, back, layer, placed, span, sizes);
  const last = spans.at(-1);
  return {
    nodes,
    edges: drawn,
    width: last === undefined ? 0 : last.labels === 0 ? last.left + last.width : last.labelsLeft + last.labels,
    height: Math.max(0, ...[...placed.values()].map((item) => item.y + item.height / 2), ...drawn.map((edge) => edge.label.y + sizes.label(edge.index).height / 2)),
  };
}

/** Position of a layer and of the labels after it, in pixels. */
interface Span {
  readonly left: number;
  readonly width: number;
  readonly labelsLeft: number;
  /** The width of the widest label; 0 where there is none. */
  readonly labels: number;
}

const NOWHERE: Span = { left: 0, width: 0, labelsLeft: 0, labels: 0 };

/** Space to the right of a layer: loops at its nodes, and labels beside these. */
interface Gap {
  readonly loops: boolean;
  readonly labels: number;
}

/** The layer behind which the label of an edge stands: where the edge leaves, or is left for if it runs back. */
function gapOf(edge: Indexed, ways: ReadonlyMap<number, readonly string[]>, layer: ReadonlyMap<string, number>): number {
  return layer.get(ways.get(edge.index)?.[0] ?? edge.from) ?? 0;
}

function gapsOf(edges: readonly Indexed[], ways: ReadonlyMap<number, readonly string[]>, layer: ReadonlyMap<string, number>, sizes: Sizes): Map<number, Gap> {
  const gaps = new Map<number, Gap>();
  for (const edge of edges) {
    const at = gapOf(edge, ways, layer);
    const { loops, labels } = gaps.get(at) ?? { loops: false, labels: 0 };
    gaps.set(at, { loops: loops || edge.from === edge.to, labels: Math.max(labels, sizes.label(edge.index).width) });
  }
  return gaps;
}

function spansOf(layers: readonly (readonly string[])[], gaps: ReadonlyMap<number, Gap>, sizes: Sizes): Span[] {
  let left = 0;
  return layers.map((ids, at) => {
    const width = Math.max(0, ...ids.map(sizes.nodeWidth));
    const { loops, labels } = gaps.get(at) ?? { loops: false, labels: 0 };
    const first = (loops ? reachOf(sizes) : 0) + MARGIN;
    const gap = Math.max(sizes.gapX, labels === 0 ? 0 : first + labels + MARGIN);
    // In the middle of what the loops leave.
    const span = { left, width, labels, labelsLeft: left + width + first + (gap - first - MARGIN - labels) / 2 };
    left += width + gap;
    return span;
  });
}

/** Upright positions of all items: each near the mean of its neighbours, none over another. */
function positions(columns: readonly (readonly string[])[], steps: readonly Link[], height: (key: string) => number, sizes: Sizes): Map<string, Item> {
  const items = new Map<string, Item>();
  const rows = columns.map((column) => column.map((key) => {
    const item: Item = { key, height: height(key), y: 0 };
    items.set(key, item);
    return item;
  }));
  const beside = new Map<string, Item[]>();
  for (const { from, to } of steps) {
    for (const [one, other] of [[from, to], [to, from]] as const) {
      const item = items.get(other);
      if (item !== undefined) beside.set(one, [...(beside.get(one) ?? []), item]);
    }
  }
  const place = (row: readonly Item[]) => {
    const wanted = row.map((item) => {
      const neighbours = beside.get(item.key) ?? [];
      return neighbours.length === 0 ? item.y : neighbours.reduce((sum, other) => sum + other.y, 0) / neighbours.length;
    });
    const apart = row.slice(1).map((item, index) => ((row[index]?.height ?? 0) + item.height) / 2 + sizes.gapY);
    spread(wanted, apart).forEach((y, index) => ((row[index] as Item).y = y));
  };
  rows.forEach((row) => spread(row.map(() => 0), row.slice(1).map((item, index) => ((row[index]?.height ?? 0) + item.height) / 2 + sizes.gapY))
    .forEach((y, index) => ((row[index] as Item).y = y)));
  for (let sweep = 0; sweep < 6; sweep += 1) {
    rows.forEach(place);
    [...rows].reverse().forEach(place);
  }
  const top = Math.min(0, ...[...items.values()].map((item) => item.y - item.height / 2));
  const lift = Math.min(...[...items.values()].map((item) => item.y - item.height / 2), Infinity);
  const shift = Number.isFinite(lift) ? lift : top;
  for (const item of items.values()) item.y -= shift;
  return items;
}

type Indexed = Link & { readonly index: number };

function draw(
  edges: readonly Indexed[], ways: ReadonlyMap<number, readonly string[]>, back: ReadonlySet<number>, layer: ReadonlyMap<string, number>,
  placed: ReadonlyMap<string, Item>, span: (layer: number) => Span, sizes: Sizes,
): PlacedEdge[] {
  const y = (key: string) => placed.get(key)?.y ?? 0;
  const ports = portsOf(ways, y, sizes.nodeHeight);
  const loopsOf = new Map<string, number>();
  const drawn = edges.map((edge): Drawn => {
    const way = ways.get(edge.index);
    const at = gapOf(edge, ways, layer);
    const { labels, labelsLeft } = span(at);
    const x = labelsLeft + labels / 2;
    if (way === undefined) {
      const loops = loopsOf.get(edge.from) ?? 0;
      loopsOf.set(edge.from, loops + 1);
      return { ...loop(edge.index, span(at), y(edge.from), loops % 2 === 1, sizes), x, gap: at };
    }
    const first = layer.get(way[0] as string) ?? 0;
    const points: Point[] = [];
    way.forEach((key, step) => {
      const { left, width } = span(first + step);
      const middle = step === 0 ? ports.out.get(edge.index) ?? 0 : step === way.length - 1 ? ports.into.get(edge.index) ?? 0 : y(key);
      if (step > 0) points.push([left, middle]);
      if (step < way.length - 1) points.push([left + width, middle]);
    });
    const runsBack = back.has(edge.index);
    const [start, end] = points as [Point, Point];
    return { index: edge.index, back: runsBack, d: curve(runsBack ? points.reverse() : points), x, wanted: (start[1] + end[1]) / 2, gap: at };
  });
  return withLabels(drawn, sizes);
}

/** An edge whose label is not placed yet. */
interface Drawn {
  readonly index: number;
  readonly d: string;
  readonly back: boolean;
  /** The middle of its label across. */
  readonly x: number;
  /** Best vertical position of its label, before overlaps are resolved. */
  readonly wanted: number;
  readonly gap: number;
}

type Point = readonly [number, number];

/** Points on a node's sides where edges begin and end, in the order of the edges' other ends. */
function portsOf(ways: ReadonlyMap<number, readonly string[]>, y: (key: string) => number, height: number): { out: Map<number, number>; into: Map<number, number> } {
  const side = (end: (way: readonly string[]) => string, next: (way: readonly string[]) => string) => {
    const of = new Map<string, number[]>();
    for (const [index, way] of ways) of.set(end(way), [...(of.get(end(way)) ?? []), index]);
    const found = new Map<number, number>();
    for (const [node, indices] of of) {
      indices.sort((a, b) => y(next(ways.get(a) ?? [])) - y(next(ways.get(b) ?? [])) || a - b);
      const step = Math.min(height / 4, (height * 0.8) / indices.length);
      indices.forEach((index, at) => found.set(index, y(node) + (at - (indices.length - 1) / 2) * step));
    }
    return found;
  };
  return {
    out: side((way) => way[0] as string, (way) => way[1] as string),
    into: side((way) => way.at(-1) as string, (way) => way.at(-2) as string),
  };
}

/** A smooth line that leaves and reaches every point level. */
function curve(points: readonly Point[]): string {
  const [start, ...rest] = points;
  if (start === undefined) return '';
  let [px, py] = start;
  const parts = [`M${tenth(px)},${tenth(py)}`];
  for (const [x, y] of rest) {
    const middle = (px + x) / 2;
    parts.push(y === py ? `L${tenth(x)},${tenth(y)}` : `C${tenth(middle)},${tenth(py)} ${tenth(middle)},${tenth(y)} ${tenth(x)},${tenth(y)}`);
    [px, py] = [x, y];
  }
  return parts.join('');
}

/** Extent of a loop beyond its node: a cubic curve reaches three quarters of the way to its control points. */
function reachOf(sizes: Sizes): number {
  return sizes.gapX * 0.3 * 0.75;
}

/** A class that calls itself: out of its right side and back into it; a second such call below the first. */
function loop(index: number, { left, width }: Span, middle: number, below: boolean, sizes: Sizes): Omit<Drawn, 'x' | 'gap'> {
  const x = left + width;
  const [far, near] = [sizes.nodeHeight * 0.4, sizes.nodeHeight * 0.15];
  const [high, low] = below ? [middle + near, middle + far] : [middle - far, middle - near];
  const control = x + reachOf(sizes) / 0.75;
  return {
    index, back: true, wanted: (high + low) / 2,
    d: `M${tenth(x)},${tenth(high)}C${tenth(control)},${tenth(high)} ${tenth(control)},${tenth(low)} ${tenth(x)},${tenth(low)}`,
  };
}

/** The labels behind each layer stand in one column, moved up and down until none is over another. */
function withLabels(drawn: readonly Drawn[], sizes: Sizes): PlacedEdge[] {
  const placed = new Map<number, number>();
  for (const gap of new Set(drawn.map((edge) => edge.gap))) {
    const column = drawn.filter((edge) => edge.gap === gap).sort((a, b) => a.wanted - b.wanted || a.index - b.index);
    const heights = column.map((edge) => sizes.label(edge.index).height);
    const found = spread(column.map((edge) => edge.wanted), heights.slice(1).map((height, at) => (height + (heights[at] ?? 0)) / 2 + MARGIN / 2));
    // None above the picture's upper end.
    const lift = Math.max(0, (heights[0] ?? 0) / 2 - (found[0] ?? 0));
    found.forEach((y, at) => placed.set((column[at] as Drawn).index, y + lift));
  }
  return drawn.map(({ index, back, d, x, wanted }) => ({ index, back, d, label: { x, y: placed.get(index) ?? wanted } }));
}

function tenth(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

// Where the nodes of a call graph stand: in layers from left to right, every call from a layer to a
// later one, as far as the calls have no cycle; a call that closes one runs back.
//
// The method is Sugiyama's (K. Sugiyama, S. Tagawa, M. Toda: Methods for Visual Understanding of
// Hierarchical System Structures, 1981): layers by longest path, order within a layer by the mean of
// the neighbours, upright positions as near to the neighbours as the distances allow.

import { acyclic, layersOf, type Link } from './layers';
import { ordered } from './order';
import { spread } from './spread';

/** Sizes in pixels. */
export interface Sizes {
  /** How much a node has to say; a layer is as wide as its widest. */
  readonly nodeWidth: (id: string) => number;
  readonly nodeHeight: number;
  /** Between two layers: room for the labels of calls. */
  readonly gapX: number;
  /** Between two nodes of a layer. */
  readonly gapY: number;
  readonly labelHeight: number;
}

export interface PlacedNode {
  readonly id: string;
  readonly layer: number;
  /** The left upper corner. */
  readonly x: number;
  readonly y: number;
  /** That of its layer. */
  readonly width: number;
}

export interface PlacedEdge {
  /** Of the edges given. */
  readonly index: number;
  /** For an SVG path, from caller to called. */
  readonly d: string;
  /** Whether it closes a cycle and thus runs from right to left. */
  readonly back: boolean;
  /** The middle of its label. */
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
  const spans = spansOf(columns.map((column) => column.filter((key) => known.has(key))), sizes);
  const span = (at: number) => spans[at] ?? { left: 0, width: 0 };
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
    width: last === undefined ? 0 : last.left + last.width,
    height: Math.max(0, ...[...placed.values()].map((item) => item.y + item.height / 2), ...drawn.map((edge) => edge.label.y + sizes.labelHeight / 2)),
  };
}

/** Where a layer is, in pixels. */
interface Span {
  readonly left: number;
  readonly width: number;
}

function spansOf(layers: readonly (readonly string[])[], sizes: Sizes): Span[] {
  let left = 0;
  return layers.map((ids) => {
    const span = { left, width: Math.max(0, ...ids.map(sizes.nodeWidth)) };
    left += span.width + sizes.gapX;
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
  const drawn = edges.map((edge) => {
    const way = ways.get(edge.index);
    if (way === undefined) return loop(edge.index, span(layer.get(edge.from) ?? 0), y(edge.from), sizes);
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
    return {
      index: edge.index, back: runsBack, d: curve(runsBack ? points.reverse() : points),
      label: { x: (start[0] + end[0]) / 2, y: (start[1] + end[1]) / 2 }, gap: first,
    };
  });
  return apartLabels(drawn, sizes);
}

type Point = readonly [number, number];

/** Where on a node's side each edge begins and ends: in the order of its other ends. */
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

/** A class that calls itself: out of its right side and back into it. */
function loop(index: number, { left, width }: Span, middle: number, sizes: Sizes): PlacedEdge & { gap: number | undefined } {
  const x = left + width;
  const [high, low] = [middle - sizes.nodeHeight * 0.4, middle - sizes.nodeHeight * 0.15];
  const reach = sizes.gapX * 0.3;
  return {
    index, back: true, gap: undefined, label: { x: x + reach / 2, y: high },
    d: `M${tenth(x)},${tenth(high)}C${tenth(x + reach)},${tenth(high)} ${tenth(x + reach)},${tenth(low)} ${tenth(x)},${tenth(low)}`,
  };
}

/** Labels between the same two layers, moved up and down until none is over another. */
function apartLabels(drawn: readonly (PlacedEdge & { gap: number | undefined })[], sizes: Sizes): PlacedEdge[] {
  const moved = new Map<number, number>();
  for (const gap of new Set(drawn.map((edge) => edge.gap))) {
    if (gap === undefined) continue;
    const column = drawn.filter((edge) => edge.gap === gap).sort((a, b) => a.label.y - b.label.y || a.index - b.index);
    const wanted = column.map((edge) => edge.label.y);
    const found = spread(wanted, column.slice(1).map(() => sizes.labelHeight));
    // None above the picture's upper end.
    const lift = Math.max(0, sizes.labelHeight / 2 - (found[0] ?? 0));
    found.forEach((y, at) => moved.set((column[at] as PlacedEdge).index, y + lift));
  }
  return drawn.map(({ index, back, d, label }) => ({ index, back, d, label: { x: label.x, y: moved.get(index) ?? label.y } }));
}

function tenth(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

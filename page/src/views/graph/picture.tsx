import { useMemo, useRef } from 'preact/hooks';
import type { Graph } from '../../api/types';
import { pathColour } from '../../draw/colours';
import { formatDuration, formatNumber, formatShort } from '../../draw/format';
import { useSize } from '../../draw/size';
import { useSheet, type Sheet } from '../../save/sheet';
import { layout, type Layout, type PlacedEdge, type PlacedNode, type Size, type Sizes } from './layout';
import { neighbour, type Direction } from './neighbour';

type Node = Graph['nodes'][number];
type Edge = Graph['edges'][number];

interface PictureProps {
  readonly graph: Graph;
  /** The node that is chosen. */
  readonly at: string | undefined;
  readonly root: string | undefined;
  readonly leaf: string | undefined;
  readonly nameOf: (node: Node) => string;
  readonly choose: (id: string) => void;
}

const ARROWS: Readonly<Record<string, Direction>> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' };
/** Below this scale words are no longer read: the picture scrolls instead. */
const SMALLEST = 0.8;

/** The graph, as wide as there is room. One node is in the order of the Tab key; arrows lead on. */
export function Picture({ graph, at, root, leaf, nameOf, choose }: PictureProps) {
  const { ref, width } = useSize<HTMLElement>();
  const svg = useRef<SVGSVGElement>(null);
  useSheet(ref, () => sheetOfCalls(graph));
  const rem = remPixels();
  const partOf = (node: Node): Part => (nameOf(node) === root ? 'root' : nameOf(node) === leaf ? 'leaf' : '');
  const { sizes, found } = useMemo(() => fitted(graph, partOf, rem, width), [graph, root, leaf, rem, width]);
  const applications = useMemo(() => [...new Set(graph.nodes.map((node) => node.application))], [graph]);
  const most = Math.max(...graph.edges.map((edge) => edge.rate_per_s), 0);
  const scale = Math.min(1, Math.max(SMALLEST, width / (found.width + 8)));
  const move = (event: KeyboardEvent, id: string) => {
    const direction = ARROWS[event.key];
    if (event.key === 'Enter' || event.key === ' ') choose(id);
    else if (direction === undefined) return;
    event.preventDefault();
    const next = direction === undefined ? undefined : neighbour(found, graph.edges, id, direction);
    if (next !== undefined) svg.current?.querySelector<SVGGElement>(`[data-node="${CSS.escape(next)}"]`)?.focus();
  };
  const inTabs = at ?? found.nodes[0]?.id;
  return (
    <section ref={ref} class="panel calls-graph" aria-label="Classes as they call each other">
      <svg ref={svg} role="group" aria-label="Graph of calls; arrow keys lead along the calls" width={(found.width + 8) * scale} height={(found.height + 8) * scale}
        viewBox={`-4 -4 ${found.width + 8} ${found.height + 8}`}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0L8,4L0,8Z" /></marker>
        </defs>
        {found.edges.map((placed) => <Line key={placed.index} placed={placed} edge={graph.edges[placed.index] as Edge} at={at} most={most} />)}
        {found.nodes.map((placed, index) => {
          const node = graph.nodes[index] as Node;
          return (
            <g key={node.id}>
              <title>{`${node.application}::${node.class} on ${node.hosts.join(', ')}`}</title>
              <g data-node={node.id} role="button" tabindex={node.id === inTabs ? 0 : -1} aria-pressed={node.id === at}
                class={`node ${partOf(node)}`}
                onClick={() => choose(node.id)} onKeyDown={(event) => move(event, node.id)}>
                <Box node={node} placed={placed} height={sizes.nodeHeight} rem={rem} colour={pathColour(applications.indexOf(node.application))}
                  part={partOf(node)} />
              </g>
            </g>
          );
        })}
        {found.edges.map((placed) => <Label key={placed.index} placed={placed} edge={graph.edges[placed.index] as Edge} at={at} rem={rem} />)}
      </svg>
    </section>
  );
}

/** The calls, as a table that is saved. */
function sheetOfCalls({ edges }: Graph): Sheet {
  return {
    columns: ['Caller', 'Called', 'Asynchronous', 'Link', 'Calls', 'Sampled', 'Rate (/s)', 'Wait p50 (ns)', 'Wait p99 (ns)'],
    rows: edges.map((edge) => [edge.from, edge.to, String(edge.asynchronous), String(edge.link), edge.count, String(edge.sampled), edge.sampled ? null : edge.rate_per_s, edge.wait_p50_ns, edge.wait_p99_ns]),
  };
}

/** The size of 1 rem in pixels: it grows with the window. */
function remPixels(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/** Between two layers, in rem: the width of most labels. */
const GAP = 6;
/** Between the lines of a label, in rem. */
const LINE = 1.08;
/** The width of a letter of the node's class, and of its other lines, in rem; on the generous side. */
const LETTER = 0.61;
const SMALL = 0.5;
/** Left and right of a node's lines, in rem. */
const MARGINS = 1.6;
/** Largest width of a node, in rem; longer names are cut. */
const WIDEST = 20;

/** Role of a node in the selection; empty for neither root nor leaf. */
type Part = 'root' | 'leaf' | '';

/** The text lines of a node. */
function linesOf(node: Node): { where: string; rate: string; times: string } {
  return {
    where: `${node.application}${node.hosts.length > 1 ? ` · ${node.hosts.length} hosts` : ''}`,
    rate: `${formatNumber(node.rate_per_s)} /s`,
    times: `${formatDuration(node.p50_ns)} – ${formatDuration(node.p99_ns)}`,
  };
}

function sizesOf(graph: Graph, partOf: (node: Node) => Part, rem: number): Sizes {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const nodeWidth = (id: string) => {
    const node = nodes.get(id);
    if (node === undefined) return 0;
    const { where, rate, times } = linesOf(node);
    const part = partOf(node);
    const small = Math.max(where.length + rate.length + 2, times.length + (part === '' ? 0 : part.length + 2)) * SMALL;
    return Math.round(Math.min(WIDEST, Math.max(node.class.length * LETTER, small) + MARGINS) * rem);
  };
  return {
    nodeWidth,
    nodeHeight: Math.round(4.3 * rem), gapX: Math.round(GAP * rem), gapY: Math.round(1.1 * rem), labelHeight: Math.round(LINE * 3.2 * rem),
    label: (index) => labelSize(graph.edges[index], rem),
  };
}

/** The layout; where there is room, layers stand further apart, so that labels hide less of the calls. */
function fitted(graph: Graph, partOf: (node: Node) => Part, rem: number, width: number): { sizes: Sizes; found: Layout } {
  const ids = graph.nodes.map((node) => node.id);
  const narrow = sizesOf(graph, partOf, rem);
  const first = layout(ids, graph.edges, narrow);
  const gaps = Math.max(...first.nodes.map((node) => node.layer), 0);
  const more = gaps === 0 ? 0 : Math.min((15 - GAP) * rem, Math.max(0, (width - 3 * rem - first.width) / gaps));
  const sizes = { ...narrow, gapX: narrow.gapX + more };
  return { sizes, found: more === 0 ? first : layout(ids, graph.edges, sizes) };
}

/** A node's box and text. Its text is also its accessible name, so each line ends in a space. */
function Box({ node, placed, height, rem, colour, part }: { node: Node; placed: PlacedNode; height: number; rem: number; colour: string; part: Part }) {
  const letters = Math.floor((placed.width / rem - 1.4) / LETTER);
  const x = placed.x + 0.9 * rem;
  const right = placed.x + placed.width - 0.6 * rem;
  const { where, rate, times } = linesOf(node);
  return (
    <>
      <rect class="box" x={placed.x} y={placed.y} width={placed.width} height={height} rx={4} />
      <rect x={placed.x} y={placed.y} width={5} height={height} rx={2} fill={colour} />
      <text x={x} y={placed.y + 1.2 * rem}>{where}{' '}</text>
      <text x={right} y={placed.y + 1.2 * rem} text-anchor="end">{rate}{' '}</text>
      <text class="class" x={x} y={placed.y + 2.45 * rem}>{node.class.length > letters ? `${node.class.slice(0, letters - 1)}…` : node.class}{' '}</text>
      <text class="numbers" x={x} y={placed.y + 3.65 * rem}>{times}{' '}</text>
      {part !== '' && <text class="part" x={right} y={placed.y + 3.65 * rem} text-anchor="end">{part}</text>}
    </>
  );
}

function touches(edge: Edge, at: string | undefined): string {
  return edge.from === at || edge.to === at ? ' at' : '';
}

/** A call: thicker the more often it is made, by powers of ten. */
function Line({ placed, edge, at, most }: { placed: PlacedEdge; edge: Edge; at: string | undefined; most: number }) {
  const width = most > 0 && edge.rate_per_s > 0 ? Math.max(1, 4 + Math.log10(edge.rate_per_s / most)) : 1;
  return (
    <g class={`edge${edge.link ? ' link' : edge.asynchronous ? ' asynchronous' : ''}${touches(edge, at)}`}>
      <path d={placed.d} stroke-width={width} marker-end="url(#arrow)" />
    </g>
  );
}

/** Lines of a call's label: its rate, and the p50 and p99 of the wait. */
function labelLines(edge: Edge): string[] {
  const waits = [edge.wait_p50_ns, edge.wait_p99_ns].flatMap((ns) => (ns === null ? [] : [formatDuration(ns)]));
  // A sample does not tell the rate.
  return [edge.sampled ? `${formatShort(edge.count)} ${edge.link ? 'links' : 'seen'}` : `${formatNumber(edge.rate_per_s)} /s`, ...waits];
}

/** The box around a label. */
function labelSize(edge: Edge | undefined, rem: number): Size {
  const lines = edge === undefined ? [] : labelLines(edge);
  return { width: Math.max(0, ...lines.map((line) => line.length)) * SMALL * rem, height: lines.length * LINE * rem };
}

/** A label: a narrow column between two layers. */
function Label({ placed, edge, at, rem }: { placed: PlacedEdge; edge: Edge; at: string | undefined; rem: number }) {
  const { x, y } = placed.label;
  const lines = labelLines(edge);
  const { width, height } = labelSize(edge, rem);
  const top = y - height / 2;
  return (
    <g class={`edge label${touches(edge, at)}`} aria-hidden="true" pointer-events="none">
      <rect x={x - width / 2} y={top} width={width} height={height} rx={3} />
      {lines.map((line, index) => (
        <text key={index} x={x} y={top + (index + 0.78) * LINE * rem} text-anchor="middle" class={index === 0 ? undefined : 'wait'}>{line}</text>
      ))}
    </g>
  );
}

import { useMemo, useRef } from 'preact/hooks';
import type { Graph } from '../../api/types';
import { pathColour } from '../../draw/colours';
import { formatDuration, formatNumber, formatShort } from '../../draw/format';
import { useSize } from '../../draw/size';
import { layout, type Layout, type PlacedEdge, type PlacedNode, type Sizes } from './layout';
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
const SMALLEST = 0.9;

/** The graph, as wide as there is room. One node is in the order of the Tab key; arrows lead on. */
export function Picture({ graph, at, root, leaf, nameOf, choose }: PictureProps) {
  const { ref, width } = useSize<HTMLElement>();
  const svg = useRef<SVGSVGElement>(null);
  const rem = remPixels();
  const { sizes, found } = useMemo(() => fitted(graph, rem, width), [graph, rem, width]);
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
            <g key={node.id} data-node={node.id} role="button" tabIndex={node.id === inTabs ? 0 : -1} aria-pressed={node.id === at}
              aria-label={`${nameOf(node)}, ${formatNumber(node.rate_per_s)} per second, p50 ${formatDuration(node.p50_ns)}, p99 ${formatDuration(node.p99_ns)}`}
              class={`node${nameOf(node) === root ? ' root' : ''}${nameOf(node) === leaf ? ' leaf' : ''}`}
              onClick={() => choose(node.id)} onKeyDown={(event) => move(event, node.id)}>
              <Box node={node} placed={placed} sizes={sizes} rem={rem} colour={pathColour(applications.indexOf(node.application))}
                part={nameOf(node) === root ? 'root' : nameOf(node) === leaf ? 'leaf' : ''} />
            </g>
          );
        })}
        {found.edges.map((placed) => <Label key={placed.index} placed={placed} edge={graph.edges[placed.index] as Edge} at={at} rem={rem} />)}
      </svg>
    </section>
  );
}

/** The size of 1 rem in pixels: it grows with the window. */
function remPixels(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

/** Between the lines of a label, in rem. */
const LINE = 1.08;
/** The width of a letter of the node's class, in rem; on the generous side. */
const LETTER = 0.61;

function sizesOf(graph: Graph, rem: number): Sizes {
  const longest = Math.max(...graph.nodes.map((node) => node.class.length), 0);
  return {
    nodeWidth: Math.round(Math.min(20, Math.max(12, longest * LETTER + 1.6)) * rem),
    nodeHeight: Math.round(4.3 * rem), gapX: Math.round(7 * rem), gapY: Math.round(1.1 * rem), labelHeight: Math.round(LINE * 3.2 * rem),
  };
}

/** The layout; where there is room, layers stand further apart, so that labels hide less of the calls. */
function fitted(graph: Graph, rem: number, width: number): { sizes: Sizes; found: Layout } {
  const ids = graph.nodes.map((node) => node.id);
  const narrow = sizesOf(graph, rem);
  const first = layout(ids, graph.edges, narrow);
  const gaps = Math.max(...first.nodes.map((node) => node.layer), 0);
  const more = gaps === 0 ? 0 : Math.min(8 * rem, Math.max(0, (width - 3 * rem - first.width) / gaps));
  const sizes = { ...narrow, gapX: narrow.gapX + more };
  return { sizes, found: more === 0 ? first : layout(ids, graph.edges, sizes) };
}

function Box({ node, placed, sizes, rem, colour, part }: { node: Node; placed: PlacedNode; sizes: Sizes; rem: number; colour: string; part: string }) {
  const letters = Math.floor((sizes.nodeWidth / rem - 1.4) / LETTER);
  const x = placed.x + 0.9 * rem;
  const right = placed.x + sizes.nodeWidth - 0.6 * rem;
  return (
    <>
      <title>{`${node.application}::${node.class} on ${node.hosts.join(', ')}`}</title>
      <rect class="box" x={placed.x} y={placed.y} width={sizes.nodeWidth} height={sizes.nodeHeight} rx={4} />
      <rect x={placed.x} y={placed.y} width={5} height={sizes.nodeHeight} rx={2} fill={colour} />
      <text x={x} y={placed.y + 1.2 * rem}>{node.application}{node.hosts.length > 1 && ` · ${node.hosts.length} hosts`}</text>
      <text x={right} y={placed.y + 1.2 * rem} text-anchor="end">{formatNumber(node.rate_per_s)} /s</text>
      <text class="class" x={x} y={placed.y + 2.45 * rem}>{node.class.length > letters ? `${node.class.slice(0, letters - 1)}…` : node.class}</text>
      <text class="numbers" x={x} y={placed.y + 3.65 * rem}>{formatDuration(node.p50_ns)} – {formatDuration(node.p99_ns)}</text>
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
    <g class={`edge${edge.asynchronous ? ' asynchronous' : ''}${touches(edge, at)}`}>
      <path d={placed.d} stroke-width={width} marker-end="url(#arrow)" />
    </g>
  );
}

/** Rate, and the wait's p50 and p99 below each other: a narrow column between two layers. */
function Label({ placed, edge, at, rem }: { placed: PlacedEdge; edge: Edge; at: string | undefined; rem: number }) {
  const { x, y } = placed.label;
  const waits = [edge.wait_p50_ns, edge.wait_p99_ns].flatMap((ns) => (ns === null ? [] : [formatDuration(ns)]));
  // Of a sample alone no rate is known.
  const lines = [edge.sampled ? `${formatShort(edge.count)} seen` : `${formatNumber(edge.rate_per_s)} /s`, ...waits];
  const width = Math.max(...lines.map((line) => line.length)) * 0.5 * rem;
  const top = y - (lines.length / 2) * LINE * rem;
  return (
    <g class={`edge label${touches(edge, at)}`} aria-hidden="true" pointer-events="none">
      <rect x={x - width / 2} y={top} width={width} height={lines.length * LINE * rem} rx={3} />
      {lines.map((line, index) => (
        <text key={index} x={x} y={top + (index + 0.78) * LINE * rem} text-anchor="middle" class={index === 0 ? undefined : 'wait'}>{line}</text>
      ))}
    </g>
  );
}

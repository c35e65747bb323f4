import { useEffect, useRef, useState } from 'preact/hooks';
import { pathColour } from '../../draw/colours';
import { formatCount, formatDuration } from '../../draw/format';
import { linear, ticks } from '../../draw/scale';
import { useSize } from '../../draw/size';
import { useSheet, type Sheet } from '../../save/sheet';
import { toLinked } from '../../selection/links';
import { Link } from '../../shell/link';
import type { Axis } from '../../draw/fold';
import { isInside, type Node, type Row } from './tree';

interface WaterfallProps {
  /** The chain's id. */
  readonly chain: string;
  readonly nodes: readonly Node[];
  /** Places in `nodes`, from above. */
  readonly shown: readonly number[];
  readonly closed: ReadonlySet<string>;
  /** Number of each application, for its colour. */
  readonly applications: readonly string[];
  readonly chosen: string | undefined;
  readonly axis: (width: number) => Axis;
  readonly onChoose: (id: string) => void;
  readonly onClose: (id: string, close: boolean) => void;
}

/** Rows are higher on touch screens; the same condition as in the style sheet. */
const fingers = matchMedia('(max-width: 640px), (pointer: coarse)');

/** Only rows in sight are drawn, and so many more above and below, for a quick hand. */
const BEYOND = 12;

/** Rows against time. Names and numbers are text; bars, waits and calls are one SVG beside them. */
export function Waterfall({ chain, nodes, shown, closed, applications, chosen, axis: axisOf, onChoose, onClose }: WaterfallProps) {
  const { ref: track, width } = useSize<HTMLDivElement>();
  const scroller = useRef<HTMLDivElement>(null);
  useSheet(scroller, () => sheetOfRows(nodes));
  const [sight, setSight] = useState({ top: 0, height: 800 });
  const rowPx = Math.round(parseFloat(getComputedStyle(document.documentElement).fontSize) * (fingers.matches ? 2.9 : 1.85));
  const axis = axisOf(Math.max(100, width));
  const first = Math.max(0, Math.floor(sight.top / rowPx) - BEYOND);
  const end = Math.min(shown.length, Math.ceil((sight.top + sight.height) / rowPx) + BEYOND);
  const window = shown.slice(first, end);
  const chosenAt = shown.findIndex((index) => nodes[index]?.row.id === chosen);

  const look = () => {
    const element = scroller.current;
    if (element !== null) setSight({ top: element.scrollTop, height: element.clientHeight });
  };
  useEffect(look, [shown.length]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || chosenAt < 0) return;
    const [top, bottom] = [chosenAt * rowPx, (chosenAt + 1) * rowPx];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight - rowPx) element.scrollTop = bottom - element.clientHeight + rowPx;
  }, [chosenAt]);

  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = Math.max(0, chosenAt);
    const node = nodes[shown[at] ?? -1];
    const choose = (place: number) => {
      const next = nodes[shown[Math.max(0, Math.min(shown.length - 1, place))] ?? -1];
      if (next !== undefined) onChoose(next.row.id);
    };
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => choose(chosenAt + 1), ArrowUp: () => choose(at - 1), Home: () => choose(0), End: () => choose(shown.length - 1),
      PageDown: () => choose(at + 15), PageUp: () => choose(at - 15),
      ArrowRight: () => {
        if (node === undefined || node.below === 0) return;
        if (closed.has(node.row.id)) onClose(node.row.id, false);
        else choose(at + 1);
      },
      ArrowLeft: () => {
        if (node === undefined) return;
        if (node.below > 0 && !closed.has(node.row.id)) onClose(node.row.id, true);
        else if (node.parent >= 0) choose(shown.indexOf(node.parent));
      },
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };

  return (
    <div class="waterfall" style={{ '--row': `${rowPx}px` }}>
      <div class="waterfall-head" aria-hidden="true">
        <span>Transaction</span>
        <div ref={track}>{width > 0 && <TimeTicks axis={axis} width={width} />}</div>
        <span class="number wait">Wait</span><span class="number">Elapsed</span><span class="number rank">Rank</span>
      </div>
      <div ref={scroller} class="waterfall-rows" onScroll={look} role="treegrid" tabIndex={0} aria-label="Transactions of the chain" onKeyDown={keys}
        aria-rowcount={shown.length} aria-activedescendant={chosenAt < 0 ? undefined : `row-${chosenAt}`}>
        <div class="waterfall-all" role="presentation" style={{ height: `${shown.length * rowPx}px` }}>
          <div class="bars-layer" role="presentation">
            {width > 0 && <Bars chain={chain} nodes={nodes} shown={shown} first={first} end={end} axis={axis} width={width} rowPx={rowPx} applications={applications} />}
          </div>
          {window.map((index, offset) => {
            const node = nodes[index];
            return node === undefined ? null : (
              <RowText key={node.row.id} node={node} chain={chain} at={first + offset} top={(first + offset) * rowPx} chosen={first + offset === chosenAt}
                isClosed={closed.has(node.row.id)} colour={pathColour(applications.indexOf(node.row.application))} onChoose={onChoose} onClose={onClose} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** All transactions, closed ones too, as a table that is saved. */
function sheetOfRows(nodes: readonly Node[]): Sheet {
  return {
    columns: ['Level', 'Application', 'Class', 'Host', 'Process', 'Start after the root (ns)', 'Elapsed (ns)', 'Wait (ns)', 'CPU (ns)', 'Status', 'Asynchronous', 'Independent', 'Percentile', 'Id', 'Parent', 'Links'],
    rows: nodes.map(({ row }) => [
      row.level, row.application, row.class, row.host, row.process, row.start_ns, row.elapsed_ns, row.wait_ns, row.cpu_ns, row.status,
      String(row.asynchronous), String(row.independent), row.percentile, row.id, row.parent, row.links.map(({ chain, id }) => `${chain}:${id}`).join(' '),
    ]),
  };
}

interface RowTextProps {
  readonly node: Node;
  readonly chain: string;
  readonly at: number;
  readonly top: number;
  readonly chosen: boolean;
  readonly isClosed: boolean;
  readonly colour: string;
  readonly onChoose: (id: string) => void;
  readonly onClose: (id: string, close: boolean) => void;
}

function RowText({ node, chain, at, top, chosen, isClosed, colour, onChoose, onClose }: RowTextProps) {
  const { row } = node;
  const bad = row.status !== 'GOOD' && row.status !== '';
  return (
    <div id={`row-${at}`} role="row" class={`row${chosen ? ' chosen' : ''}${node.last ? ' last' : ''}`} style={{ top: `${top}px` }}
      aria-level={node.depth + 1} aria-rowindex={at + 1} aria-selected={chosen} aria-expanded={node.below > 0 ? !isClosed : undefined}
      onClick={() => onChoose(row.id)}>
      <span role="gridcell" class="name" style={{ paddingLeft: `${Math.min(node.depth, 24) * 0.9}rem` }} title={`${row.application}::${row.class} on ${row.host}, process ${row.process}`}>
        <button type="button" class="fold plain" tabIndex={-1} aria-hidden="true" disabled={node.below === 0}
          onClick={(event) => { event.stopPropagation(); onClose(row.id, !isClosed); }}>{node.below === 0 ? '' : isClosed ? '▸' : '▾'}</button>
        <span class="dot" style={{ background: colour }} /> {row.class} <span class="quiet">{row.application} {row.host}</span>
        <FirstLink links={row.links} chain={chain} />
        {node.orphan && <span class="bad" title="Its parent is not in the store"> · parent missing</span>}
      </span>
      <span role="gridcell" aria-label={`starts at ${formatDuration(row.start_ns)}${row.asynchronous ? ', asynchronous' : ''}`} />
      <span role="gridcell" class="number wait quiet">{row.wait_ns === null ? '' : formatDuration(row.wait_ns)}</span>
      <span role="gridcell" class="number">{row.open ? 'open' : formatDuration(row.elapsed_ns)}{bad && <span class={row.counts_for_chain ? 'bad' : 'quiet'}> {row.status}{row.counts_for_chain ? '' : ' (independent)'}</span>}</span>
      <span role="gridcell" class={`number rank${(row.percentile ?? 0) >= 99 ? ' bad' : ''}`}>{row.percentile === null ? '–' : `p${rank(row.percentile)}`}</span>
    </div>
  );
}

/** The first of a row's further parents, and how many more there are. */
function FirstLink({ links, chain }: { links: Node['row']['links']; chain: string }) {
  const [first] = links;
  if (first === undefined) return null;
  return (
    <span class="links" onClick={(event) => event.stopPropagation()}> ⇠ <LinkedName link={first} chain={chain} />{links.length > 1 && ` and ${formatCount(links.length - 1)} more`}</span>
  );
}

/** A further parent: its class, which leads to its chain where that is another one. */
export function LinkedName({ link, chain }: { link: Node['row']['links'][number]; chain: string }) {
  const name = link.class ?? `id ${link.id}`;
  if (link.chain === chain) return <span title={`id ${link.id}, in this chain`}>{name}</span>;
  return <Link to={toLinked(link.chain, link.root_start_ns)} title={`The chain ${link.chain}, of which it takes a transaction besides its parent`}>{name}</Link>;
}

/** A percentile as far as it says something: p50, p98.7, p99.93. */
function rank(percentile: number): string {
  return percentile >= 99.9 ? (Math.floor(percentile * 100) / 100).toString() : percentile >= 90 ? (Math.floor(percentile * 10) / 10).toString() : percentile.toFixed(0);
}

/** Room for a time beside its tick, in pixels. */
const TICK_WORDS = 48;

function TimeTicks({ axis, width }: { axis: Axis; width: number }) {
  return (
    <svg width={width} height="100%" class="ticks">
      {axis.pieces.map((piece) => piece.folded ? (
        <text key={piece.from_ns} x={piece.left + piece.width / 2} y="1.1rem" text-anchor="middle" class="fold-words">{formatDuration(piece.until_ns - piece.from_ns)}</text>
      ) : (
        ticks(linear(piece.from_ns, piece.until_ns, piece.width), Math.floor(piece.width / 90)).map((tick) => (
          // Not over the words of a fold beside it.
          axis.at(tick) + TICK_WORDS < piece.left + piece.width && <text key={tick} x={Math.min(width - 2, axis.at(tick) + 3)} y="1.1rem">{formatDuration(tick)}</text>
        ))
      ))}
    </svg>
  );
}

interface BarsProps {
  readonly chain: string;
  readonly nodes: readonly Node[];
  readonly shown: readonly number[];
  readonly first: number;
  readonly end: number;
  readonly axis: Axis;
  readonly width: number;
  readonly rowPx: number;
  readonly applications: readonly string[];
}

/** Bars, the waits before them, what called them, what is unsure about their start. */
function Bars({ chain, nodes, shown, first, end, axis, width, rowPx, applications }: BarsProps) {
  const placeOf = new Map(shown.map((index, place) => [index, place]));
  const byId = new Map(nodes.map((node, index) => [node.row.id, index]));
  const linked = (id: string) => {
    const index = byId.get(id) ?? -1;
    const [row, place] = [nodes[index]?.row, placeOf.get(index)];
    return row === undefined || place === undefined ? undefined : { row, place };
  };
  const height = shown.length * rowPx;
  const middle = (place: number) => place * rowPx + rowPx / 2;
  return (
    <svg class="bars" width={width} height={(end - first) * rowPx} viewBox={`0 ${first * rowPx} ${width} ${(end - first) * rowPx}`} style={{ top: `${first * rowPx}px` }} aria-hidden="true">
      <defs>
        <pattern id="fold-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" /></pattern>
      </defs>
      {axis.pieces.map((piece) => piece.folded ? (
        <rect key={piece.from_ns} class="folded" x={piece.left} y={0} width={piece.width} height={height} />
      ) : (
        ticks(linear(piece.from_ns, piece.until_ns, piece.width), Math.floor(piece.width / 90)).map((tick) => (
          <path key={tick} class="grid" d={`M${Math.round(axis.at(tick)) + 0.5} 0V${height}`} />
        ))
      ))}
      {shown.slice(first, end).map((index, offset) => {
        const node = nodes[index];
        if (node === undefined) return null;
        const { row } = node;
        const y = middle(first + offset);
        const left = axis.at(row.start_ns);
        const right = axis.at(row.start_ns + row.elapsed_ns);
        const parent = nodes[node.parent];
        const parentPlace = placeOf.get(node.parent);
        const bar = rowPx * 0.5;
        const unsure = row.clock_error_ns ?? 0;
        const from = axis.at(row.start_ns - unsure);
        const until = axis.at(row.start_ns + unsure);
        return (
          <g key={row.id}>
            {parent !== undefined && parentPlace !== undefined && (
              <Call asynchronous={row.asynchronous} x={axis.at(Math.min(row.start_ns, parent.row.start_ns + parent.row.elapsed_ns))} from={middle(parentPlace) + bar / 2} to={y} start={left} />
            )}
            {row.links.map((link) => (
              <FurtherParent key={`${link.chain} ${link.id}`} x={left} y={y} bar={bar}
                from={link.chain === chain ? linked(link.id) : undefined} endOf={(other) => axis.at(other.start_ns + other.elapsed_ns)} middle={middle} />
            ))}
            <rect class={`bar${row.open ? ' open' : ''}${row.status !== 'GOOD' && row.status !== '' ? ' failed' : ''}`} x={left} y={y - bar / 2} width={Math.max(2, right - left)} height={bar} rx="1.5"
              fill={pathColour(applications.indexOf(row.application))} />
            <InnerBars nodes={nodes} at={index} y={y} bar={bar} axis={axis} />
            {until - from > 3 && <path class="unsure" d={`M${from} ${y - bar / 2 - 1}v${bar + 2}M${from} ${y}H${until}M${until} ${y - bar / 2 - 1}v${bar + 2}`} />}
          </g>
        );
      })}
    </svg>
  );
}

/** More inside one bar cannot be told apart. */
const INNER_MAX = 200;

/** Within a bar: the calls that it waited for, which are not on the path to the last row. */
function InnerBars({ nodes, at, y, bar, axis }: { nodes: readonly Node[]; at: number; y: number; bar: number; axis: Axis }) {
  const parent = nodes[at];
  if (parent === undefined || parent.below === 0) return null;
  const inner: Node[] = [];
  for (let index = at + 1; index <= at + parent.below && inner.length < INNER_MAX; index += 1) {
    const node = nodes[index];
    if (node?.parent === at && isInside(node, parent.row)) inner.push(node);
  }
  return (
    <>
      {inner.map(({ row }) => {
        const left = axis.at(row.start_ns);
        return <rect key={row.id} class="inner" x={left} y={y} width={Math.max(1, axis.at(row.start_ns + row.elapsed_ns) - left)} height={bar / 2 - 1.5} />;
      })}
    </>
  );
}

interface FurtherParentProps {
  readonly x: number;
  readonly y: number;
  readonly bar: number;
  /** Its row and place; undefined where it is of another chain, or folded away. */
  readonly from: { readonly row: Row; readonly place: number } | undefined;
  readonly endOf: (row: Row) => number;
  readonly middle: (place: number) => number;
}

/** From a further parent to the row that takes it: from its end where it is drawn, else from the left. */
function FurtherParent({ x, y, bar, from, endOf, middle }: FurtherParentProps) {
  if (from === undefined) return <path class="call link" d={`M${Math.max(0, x - 1.6 * bar)} ${y - bar}L${x} ${y}`} />;
  return <path class="call link" d={`M${endOf(from.row)} ${middle(from.place)}L${x} ${y}`} />;
}

/** From who called down to who was called; what lies between the two is the wait. */
function Call({ asynchronous, x, from, to, start }: { asynchronous: boolean; x: number; from: number; to: number; start: number }) {
  return <path class={`call${asynchronous ? ' asynchronous' : ''}`} d={`M${x} ${from}V${to}H${Math.max(x, start)}`} />;
}

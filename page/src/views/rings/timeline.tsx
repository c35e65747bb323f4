import { useMemo, useState } from 'preact/hooks';
import { axisOf, type Axis } from '../../draw/fold';
import { formatDuration, formatShare, formatTimeOfDay } from '../../draw/format';
import { cpuShare } from '../../draw/length-bar';
import { niceStep } from '../../draw/scale';
import { useSize } from '../../draw/size';
import { useSheet } from '../../save/sheet';
import { go } from '../../selection/current';
import { toChain } from '../../selection/links';
import { foldsOf, lanesOf, wholeOf, type Lane, type Piece, type Placed } from './pieces';

/** Rows that are drawn: further threads are only listed. */
const ROWS_MAX = 60;
/** Smallest bar: one that is shorter is drawn so wide. */
const LEAST_PX = 2;
/** How far beside a bar a pointer still means it. */
const NEAR_PX = 5;

interface TimelineProps {
  readonly pieces: readonly Piece[];
  readonly colourOf: (name: string) => string;
}

/** The last transactions against time, a lane for each thread: what is called stands below its caller, and the dark part of a bar is CPU time. */
export function Timeline({ pieces, colourOf }: TimelineProps) {
  const { ref, width } = useSize<HTMLDivElement>();
  const { placed, lanes, rows: all } = useMemo(() => lanesOf(pieces), [pieces]);
  const whole = useMemo(() => wholeOf(pieces), [pieces]);
  const folds = useMemo(() => foldsOf(pieces), [pieces]);
  const [under, setUnder] = useState<string>();
  useSheet(ref, () => ({
    columns: ['Class', 'Thread', 'Row', 'Start (ns after the process began)', 'Elapsed (ns)', 'CPU (ns)', 'Status', 'Id', 'Parent', 'Chain', 'Context'],
    rows: placed.map(({ piece, row }) => [piece.class, piece.thread, row, piece.start_ns, piece.elapsed_ns, piece.cpu_ns, piece.status, piece.id, piece.parent, piece.chain, piece.context]),
  }));
  const factor = parseFloat(getComputedStyle(document.documentElement).fontSize) / 13;
  const step = Math.round(20 * factor);
  const rows = Math.min(all, ROWS_MAX);
  const height = rows * step + Math.round(24 * factor);
  const axis = axisOf(whole, folds, Math.max(10, width));
  const drawn = placed.filter(({ row }) => row < rows);
  const place = (piece: Piece) => boxOf(piece, axis, whole);
  const chosen = drawn.find(({ piece }) => piece.id === under);
  const find = (event: MouseEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return nearest(drawn, place, event.clientX - box.left, Math.floor((event.clientY - box.top) / step));
  };
  const open = (piece: Piece | undefined) => {
    if (piece !== undefined && piece.chain !== '') go(toChain(piece.chain, piece.at_ns));
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const order = [...drawn].sort((a, b) => a.piece.start_ns - b.piece.start_ns || a.row - b.row);
    const at = order.findIndex(({ piece }) => piece.id === under);
    const to: Readonly<Record<string, number>> = { ArrowRight: at + 1, ArrowLeft: at < 0 ? order.length - 1 : at - 1, Home: 0, End: order.length - 1 };
    const next = to[event.key];
    if (event.key === 'Enter') open(chosen?.piece);
    else if (next === undefined) return;
    else if (order[next] !== undefined) setUnder(order[next].piece.id);
    event.preventDefault();
  };
  return (
    <figure class="panel ring-timeline" aria-label="Last transactions as bars">
      <figcaption><strong>Last transactions as bars</strong> <span class="quiet">a lane for each thread; what is called stands below its caller. The dark part of a bar is CPU time.</span></figcaption>
      <div ref={ref} class="bars-area" style={{ height: `${height}px` }} tabIndex={0} role="application" aria-roledescription="timeline"
        aria-label={`${drawn.length} transactions of ${lanes.length} threads; arrows go from bar to bar, Enter shows its chain`}
        onKeyDown={keys} onPointerMove={(event) => setUnder(find(event)?.piece.id)} onPointerLeave={() => setUnder(undefined)} onClick={(event) => open(find(event)?.piece)}>
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            <defs><pattern id="ring-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" /></pattern></defs>
            {axis.pieces.filter((piece) => piece.folded).map((piece) => (
              <g key={piece.from_ns}>
                <rect class="folded" x={piece.left} width={piece.width} height={rows * step} />
                {piece.width > 40 * factor && <text class="fold-words" x={piece.left + piece.width / 2} y={rows * step + 13 * factor} text-anchor="middle">{formatDuration(piece.until_ns - piece.from_ns)}</text>}
              </g>
            ))}
            {lanes.filter(({ top }) => top < rows).map((lane) => <LaneLines key={lane.thread} lane={lane} step={step} width={width} named={lanes.length > 1} />)}
            {drawn.map((each) => <Box key={each.piece.id} of={each} box={place(each.piece)} step={step} colour={colourOf(each.piece.class)} under={each.piece.id === under} letter={6 * factor} />)}
            <Measure axis={axis} y={rows * step + 13 * factor} factor={factor} />
          </svg>
        )}
      </div>
      <p class="readout" role="status">{chosen === undefined ? <span class="quiet">{all > rows ? `${lanes.filter(({ top }) => top >= rows).length} further threads are in the list below. ` : ''}Click a bar to see its chain.</span> : <Words piece={chosen.piece} />}</p>
    </figure>
  );
}

interface BoxRange {
  readonly x: number;
  readonly width: number;
}

/** Where a piece is drawn; what is open reaches to the edge. */
function boxOf({ start_ns, elapsed_ns, open }: Piece, axis: Axis, whole: { readonly from_ns: number; readonly until_ns: number }): BoxRange {
  const x = axis.at(Math.max(whole.from_ns, start_ns));
  const end = axis.at(open ? whole.until_ns : start_ns + elapsed_ns);
  return { x, width: Math.max(LEAST_PX, end - x) };
}

/** The bar at a place, or the nearest one in its row. */
function nearest(drawn: readonly Placed[], place: (piece: Piece) => BoxRange, x: number, row: number): Placed | undefined {
  let best: Placed | undefined;
  let least = NEAR_PX;
  for (const each of drawn) {
    if (each.row !== row) continue;
    const box = place(each.piece);
    const away = Math.max(box.x - x, x - box.x - box.width, 0);
    if (away < least || (away === 0 && least === 0)) [best, least] = [each, away];
  }
  return best;
}

function LaneLines({ lane, step, width, named }: { lane: Lane; step: number; width: number; named: boolean }) {
  return (
    <>
      <path class="grid" d={`M0 ${lane.top * step + 0.5}H${width}`} />
      {named && <text class="lane" x={width - 3} y={lane.top * step + step * 0.72} text-anchor="end">thread {lane.thread}</text>}
    </>
  );
}

interface BoxProps {
  readonly of: Placed;
  readonly box: BoxRange;
  readonly step: number;
  readonly colour: string;
  readonly under: boolean;
  readonly letter: number;
}

function Box({ of: { piece, row }, box, step, colour, under, letter }: BoxProps) {
  const y = row * step + 2;
  const height = step - 3;
  const cpu = cpuShare(piece);
  const failed = !piece.open && piece.status.toLowerCase() !== 'good';
  const name = piece.class.split('::').at(-1) ?? piece.class;
  return (
    <g class={`span${piece.open ? ' open' : ''}${failed ? ' failed' : ''}${under ? ' under' : ''}`} style={{ color: colour }}>
      <rect class="whole" x={box.x} y={y} width={box.width} height={height} rx={1.5} />
      {cpu !== null && <rect class="busy" x={box.x} y={y} width={box.width * cpu} height={height} rx={1.5} />}
      {name.length * letter < box.width - 6 && <text x={box.x + 3} y={y + height * 0.76}>{name}</text>}
    </g>
  );
}

/** A stretch of the axis with its length, as maps have it. */
function Measure({ axis, y, factor }: { axis: Axis; y: number; factor: number }) {
  const piece = axis.pieces.filter((each) => !each.folded).reduce<Axis['pieces'][number] | undefined>((widest, each) => (widest === undefined || each.width > widest.width ? each : widest), undefined);
  if (piece === undefined || piece.width <= 0) return null;
  const perNs = piece.width / (piece.until_ns - piece.from_ns);
  const ns = niceStep((80 * factor) / perNs, 1);
  const px = ns * perNs;
  return (
    <g class="measure">
      <path class="axis" d={`M0.5 ${y - 4}v4h${px}v-4`} />
      <text x={px + 5} y={y + 1}>{formatDuration(ns)}</text>
    </g>
  );
}

function Words({ piece }: { piece: Piece }) {
  const share = cpuShare(piece);
  return (
    <>
      <strong>{piece.class}</strong> {piece.open ? `open for ${formatDuration(piece.elapsed_ns)}` : formatDuration(piece.elapsed_ns)}
      {piece.cpu_ns !== null && `, CPU ${formatDuration(piece.cpu_ns)}${share === null ? '' : ` (${formatShare(share)})`}`}
      , began {formatTimeOfDay(piece.at_ns, 6)} UTC{piece.open || piece.status.toLowerCase() === 'good' ? '' : `, ${piece.status}`}
      {piece.context !== '' && <span class="quiet"> {piece.context}</span>}
    </>
  );
}

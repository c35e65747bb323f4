import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Scatter } from '../../api/types';
import { DurationAxisLeft, TimeAxis } from '../../draw/axes';
import { canvasColours, PATH_COLOURS } from '../../draw/colours';
import { formatCount, formatDuration, formatRange, formatTime } from '../../draw/format';
import { MarkLines } from '../../draw/marks';
import { linear, scaleOf, type Scale } from '../../draw/scale';
import { useSize } from '../../draw/size';
import { panned, wheelFactor, type Range } from '../../draw/zoom';
import { useSheet, type Sheet } from '../../save/sheet';
import { theme } from '../../shell/theme';
import { between, brushOf, grown, rectangleOf, shifted, type Axes, type Brush, type Rectangle } from './brush';
import { raster, rgb } from './raster';

/** Room around the plot for its labels, in pixels at a font of 13; grows with the font. */
const ROOM = { left: 62, right: 14, top: 14, bottom: 40 };
/** Distance that an arrow key moves the range, as a share of the axis. */
const STEP = 0.1;
/** A pointer that moves less than this has clicked. */
const CLICK_PX = 4;

interface PlotProps {
  readonly answer: Scatter;
  /** When roots started that did not arrive: UTC ns. */
  readonly missing: readonly number[];
  /** Range of the axes; the answer may still be about an earlier range. */
  readonly range: Brush;
  readonly brush: Brush | undefined;
  readonly limitNs: number | undefined;
  /** Takes the brush away with `undefined`. `held` while a key repeats it. */
  readonly onBrush: (brush: Brush | undefined, held: boolean) => void;
  /** Opens the slowest chain of a column; its id is '' where the server has not looked for it. */
  readonly onOpen: (chain: string, startNs: number, durationNs: number) => void;
  readonly onZoom: () => void;
  /** Shows more or less of an axis around a place of it, in [0, 1]: by the wheel, with shift of durations. */
  readonly onCloser: (axis: keyof Axes, at: number, factor: number, event: Event) => void;
  /** Shows what lies beside, by arrows: so much of each axis further. */
  readonly onStep: (later: number, longer: number, event: Event) => void;
  /** Shows what was dragged to; `held` but for the first of one movement. */
  readonly onPan: (times: Range, durations: Range, held: boolean) => void;
}

/** The scattergram itself: density on a canvas, everything that is single as SVG above it. */
export function Plot({ answer, missing, range, brush, limitNs, onBrush, onOpen, onZoom, onCloser, onStep, onPan }: PlotProps) {
  const { ref, width, height } = useSize<HTMLDivElement>();
  useSheet(ref, () => sheetOfBins(answer));
  const room = roomOf();
  const axes: Axes = {
    time: linear(range.from_ns, range.until_ns, Math.max(10, width - room.left - room.right)),
    duration: scaleOf(answer.scale, range.min_ns, range.max_ns, Math.max(10, height - room.top - room.bottom)),
  };
  const [drag, setDrag] = useState<Rectangle>();
  const [pointer, setPointer] = useState<readonly [number, number]>();
  const marked = drag ?? (brush === undefined ? undefined : rectangleOf(brush, axes));
  const space = useRef(false);
  const [pans, setPans] = useState(false);
  const handlers = usePointer(axes, marked, setDrag, setPointer, space, {
    brushed: (rectangle) => onBrush(brushOf(rectangle, axes), false),
    clicked: (at) => {
      const near = nearestExtreme(answer, axes, at);
      if (near !== undefined) onOpen(near.chain, near.startNs, near.maxNs);
      else onBrush(undefined, false);
    },
    panned: onPan,
  }, room);
  const wheel = (event: WheelEvent) => {
    // With control it is the browser's, as everywhere.
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    if (event.shiftKey) {
      onCloser('duration', share(axes.duration.length - (event.clientY - box.top - room.top), axes.duration), wheelFactor(event), event);
    } else {
      onCloser('time', share(event.clientX - box.left - room.left, axes.time), wheelFactor(event), event);
    }
  };
  const hold = (held: boolean) => {
    space.current = held;
    setPans(held);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = keyed(event, marked, axes);
    const [dx, dy] = arrow(event, STEP);
    if (event.key === ' ') {
      event.preventDefault();
      hold(true);
    } else if (marked === undefined && (dx !== 0 || dy !== 0)) {
      event.preventDefault();
      onStep(dx, -dy, event);
    } else if (next !== undefined) {
      event.preventDefault();
      onBrush(brushOf(next, axes), event.key !== 'b');
    } else if (event.key === 'Escape' && brush !== undefined) onBrush(undefined, false);
    else if (event.key === 'Enter' && brush !== undefined) onZoom();
  };

  return (
    <div class="scatter-plot">
      <div ref={ref} class={`plot-area${pans ? ' pans' : ''}`} tabIndex={0} role="application" aria-roledescription="scattergram" aria-describedby="scatter-words"
        aria-label="Start against duration; b begins a brush, arrows move it, or what is shown where there is none; plus and minus zoom"
        onKeyDown={keys} onKeyUp={(event) => event.key === ' ' && hold(false)} onBlur={() => hold(false)} onWheel={wheel} {...handlers}>
        {width > 0 && (
          <>
            <Density answer={answer} axes={axes} room={room} />
            <svg width={width} height={height} aria-hidden="true">
              <Patterns axes={axes} />
              <g transform={`translate(${room.left} ${room.top})`}>
                <TimeAxis scale={axes.time} y={axes.duration.length} grid={0} />
                <DurationAxisLeft scale={axes.duration} grid={0} />
                <Unsure answer={answer} axes={axes} limitNs={limitNs} />
                <MarkLines scale={axes.time} height={axes.duration.length} rem={room.top * 0.93} />
                <Incomplete answer={answer} axes={axes} />
                <Missing starts={missing} axes={axes} />
                {marked !== undefined && (
                  <rect class="brush" clip-path="url(#plot-inside)" x={marked.left} y={marked.top} width={Math.max(1, marked.right - marked.left)} height={Math.max(1, marked.bottom - marked.top)} />
                )}
              </g>
            </svg>
          </>
        )}
      </div>
      <Readout answer={answer} axes={axes} pointer={pointer} />
      <p id="scatter-words" class="unseen">
        {formatCount(answer.total)} chains, {formatRange(answer.from_ns, answer.until_ns)} UTC, from {formatDuration(answer.min_ns)} to {formatDuration(answer.max_ns)}.
      </p>
      <p class="unseen" role="status">{brush === undefined ? '' : brushWords(brush).join(', ')}</p>
    </div>
  );
}

/** The bins as they were counted, as a table that is saved: the answer has no single durations. */
function sheetOfBins({ cells, edges_ns, from_ns, until_ns, width, paths }: Scatter): Sheet {
  const start = (column: number) => formatTime(from_ns + ((until_ns - from_ns) * column) / width, 6);
  return {
    columns: ['Start from (UTC)', 'Start until (UTC)', 'Duration from (ns)', 'Duration until (ns)', 'Path', 'Count'],
    rows: cells.x.map((x, index) => {
      const y = cells.y[index] ?? 0;
      return [start(x), start(x + 1), edges_ns[y] ?? null, edges_ns[y + 1] ?? null, paths[cells.path[index] ?? -1]?.path ?? '', cells.count[index] ?? 0];
    }),
  };
}

/** A brush in words: its range of time, and that of durations. */
export function brushWords(brush: Brush): [string, string] {
  return [formatRange(brush.from_ns, brush.until_ns), `${formatDuration(brush.min_ns)} to ${formatDuration(brush.max_ns)}`];
}

function roomOf(): typeof ROOM {
  const factor = parseFloat(getComputedStyle(document.documentElement).fontSize) / 13;
  return { left: ROOM.left * factor, right: ROOM.right * factor, top: ROOM.top * factor, bottom: ROOM.bottom * factor };
}

/** The density and the extremes, drawn again when the answer, the size or the theme changes. */
function Density({ answer, axes, room }: { answer: Scatter; axes: Axes; room: typeof ROOM }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const shown = theme.value;
  const [width, height] = [axes.time.length, axes.duration.length];
  const bins = useMemo(() => binsOf(answer), [answer, shown]);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (element === null || context === null || context === undefined) return;
    const density = devicePixelRatio;
    element.width = Math.round(width * density);
    element.height = Math.round(height * density);
    context.scale(density, density);
    draw(context, bins, answer, axes, canvasColours(element)('--text'));
  }, [bins, width, height, axes.time.from, axes.time.until, axes.duration.from, axes.duration.until, axes.duration.kind]);
  return <canvas ref={canvas} aria-hidden="true" style={{ left: `${room.left}px`, top: `${room.top}px`, width: `${width}px`, height: `${height}px` }} />;
}

/** The answer's bins, one pixel each, in the colours of the theme that is shown. */
function binsOf(answer: Scatter): HTMLCanvasElement {
  const colour = canvasColours(document.documentElement);
  const colours = Array.from({ length: PATH_COLOURS }, (_, index) => rgb(colour(`--path-${index}`)));
  colours.push(rgb(colour('--path-other')));
  const bins = document.createElement('canvas');
  bins.width = answer.width;
  bins.height = answer.height;
  bins.getContext('2d')?.putImageData(new ImageData(raster(answer, colours), answer.width, answer.height), 0, 0);
  return bins;
}

/** Draws bins where they belong on these axes, which may show another range than the answer has. */
function draw(context: CanvasRenderingContext2D, bins: HTMLCanvasElement, answer: Scatter, { time, duration }: Axes, text: string): void {
  const { left, width } = columnsOf(answer, time);
  const [shortest, longest] = [answer.edges_ns[0] ?? answer.min_ns, answer.edges_ns.at(-1) ?? answer.max_ns].map((ns) => duration.length - duration.at(ns)) as [number, number];
  context.imageSmoothingEnabled = false; // a bin has edges; blurred it would seem to hold what it does not
  context.drawImage(bins, left, longest, width * answer.width, shortest - longest);

  // The extremes of every column, however many chains hide them: one slow chain among a million.
  const size = Math.max(2, Math.min(3, width));
  context.fillStyle = text;
  const { extremes } = answer;
  extremes.x.forEach((x, index) => {
    const middle = left + (x + 0.5) * width - size / 2;
    for (const ns of [extremes.min_ns[index], extremes.max_ns[index]]) {
      if (ns !== undefined) context.fillRect(middle, duration.length - duration.at(ns) - size / 2, size, size);
    }
  });
}

/** Position of the answer's columns on an axis, in pixels: left edge of the first, and width of each. */
function columnsOf(answer: Pick<Scatter, 'from_ns' | 'until_ns' | 'width'>, time: Scale): { left: number; width: number } {
  const left = time.at(answer.from_ns);
  return { left, width: (time.at(answer.until_ns) - left) / answer.width };
}

/** Position of a pixel on an axis, in [0, 1]. */
function share(pixel: number, { length }: Scale): number {
  return Math.max(0, Math.min(1, pixel / length));
}

function Patterns({ axes: { time, duration } }: { axes: Axes }) {
  return (
    <defs>
      <clipPath id="plot-inside"><rect width={time.length} height={duration.length} /></clipPath>
      <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path d="M0 0V7" class="hatch" />
      </pattern>
      <pattern id="hatch-fine" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
        <path d="M0 0V4" class="hatch fine" />
      </pattern>
    </defs>
  );
}

/** Uncertain parts: stretches that the recorder lost, durations that are within the clocks' error; and the limit. */
function Unsure({ answer, axes: { time, duration }, limitNs }: { answer: Scatter; axes: Axes; limitNs: number | undefined }) {
  const error = answer.clocks?.error_ns_max ?? 0;
  const height = duration.length;
  const y = (ns: number) => Math.max(0, Math.min(height, height - duration.at(ns)));
  const inView = (ns: number) => ns > duration.from && ns < duration.until;
  return (
    <>
      {answer.gaps.map((gap) => {
        const left = Math.max(0, time.at(gap.from_ns));
        const right = Math.min(time.length, time.at(gap.until_ns));
        if (right < 0 || left > time.length) return null;
        return <rect key={`${gap.from_ns} ${gap.what}`} class="gap" x={left} y={0} width={Math.max(3, right - left)} height={height} />;
      })}
      {error > duration.from && (
        <g>
          <rect class="clock" x={0} y={y(error)} width={time.length} height={height - y(error)} />
          <text class="note" x={6} y={y(error) - 4}>clock error at most {formatDuration(error)}</text>
        </g>
      )}
      {limitNs !== undefined && inView(limitNs) && (
        <g>
          {error > 0 && <rect class="clock" x={0} y={y(limitNs + error)} width={time.length} height={y(limitNs - error) - y(limitNs + error)} />}
          <path class="limit" d={`M0 ${y(limitNs)}H${time.length}`} />
          <text class="note limit" x={time.length - 6} y={y(limitNs) - 4} text-anchor="end">limit {formatDuration(limitNs)}</text>
        </g>
      )}
    </>
  );
}

/** Chains without their end have no duration: they stand above the plot, where they started. */
function Incomplete({ answer, axes: { time } }: { answer: Scatter; axes: Axes }) {
  const { left, width } = columnsOf(answer, time);
  const most = answer.incomplete.count.reduce((a, b) => Math.max(a, b), 1);
  return (
    <>
      {answer.incomplete.x.map((x, index) => {
        const high = 4 + 7 * ((answer.incomplete.count[index] ?? 0) / most);
        const at = left + (x + 0.5) * width;
        return at >= 0 && at <= time.length && <path key={x} class="incomplete" d={`M${at} -2v${-high}`} />;
      })}
    </>
  );
}

/** Roots without the leaf that they need: above the plot, where they started. */
function Missing({ starts, axes: { time } }: { starts: readonly number[]; axes: Axes }) {
  const columns = new Set(starts.map((start) => Math.round(time.at(start))));
  return <>{[...columns].map((at) => at >= 0 && at <= time.length && <path key={at} class="incomplete missing" d={`M${at} -2v-11`} />)}</>;
}

/** Describes in words what lies under the pointer, always at the same place of the page. */
function Readout({ answer, axes, pointer }: { answer: Scatter; axes: Axes; pointer: readonly [number, number] | undefined }) {
  if (pointer === undefined) return <p class="readout quiet">Drag a rectangle to see why the chains in it are slow. Click a dot to open its chain. The wheel zooms.</p>;
  const [x, y] = pointer;
  const extreme = columnOf(answer, axes, x);
  return (
    <p class="readout">
      {formatTime(axes.time.value(x), 3)} · {formatDuration(axes.duration.value(axes.duration.length - y))}
      {extreme !== undefined && <span class="quiet"> · in this column from {formatDuration(extreme.minNs)} to {formatDuration(extreme.maxNs)}</span>}
    </p>
  );
}

interface Extreme {
  readonly chain: string;
  readonly startNs: number;
  readonly minNs: number;
  readonly maxNs: number;
  readonly x: number;
}

/** The extremes of the column at a pixel. */
function columnOf(answer: Scatter, { time }: Axes, pixel: number): Extreme | undefined {
  const { left, width } = columnsOf(answer, time);
  const x = Math.floor((pixel - left) / width);
  const index = answer.extremes.x.indexOf(x);
  const [minNs, maxNs] = [answer.extremes.min_ns[index], answer.extremes.max_ns[index]];
  if (minNs === undefined || maxNs === undefined) return undefined;
  return {
    x, minNs, maxNs,
    chain: answer.extremes.max_chain[index] ?? '',
    startNs: answer.from_ns + (answer.extremes.max_start_ns[index] ?? 0),
  };
}

/** The slowest chain of a column that is near enough to be meant. */
function nearestExtreme(answer: Scatter, axes: Axes, [x, y]: readonly [number, number]): Extreme | undefined {
  const { left, width } = columnsOf(answer, axes.time);
  const candidates: { readonly far: number; readonly extreme: Extreme }[] = [];
  for (let pixel = x - 8; pixel <= x + 8; pixel += Math.max(1, width)) {
    const extreme = columnOf(answer, axes, pixel);
    if (extreme === undefined) continue;
    const dy = axes.duration.length - axes.duration.at(extreme.maxNs) - y;
    const dx = left + (extreme.x + 0.5) * width - x;
    candidates.push({ far: Math.hypot(dx, dy), extreme });
  }
  const nearest = candidates.sort((a, b) => a.far - b.far)[0];
  return nearest !== undefined && nearest.far <= 9 ? nearest.extreme : undefined;
}

/** The brush after a key; `undefined` for keys that do not move it. */
function keyed(event: KeyboardEvent, marked: Rectangle | undefined, axes: Axes): Rectangle | undefined {
  const { time, duration } = axes;
  if (event.key === 'b') {
    // The slow half of the middle third: something to move from.
    return { left: time.length / 3, right: (time.length * 2) / 3, top: 0, bottom: duration.length / 2 };
  }
  const step = 12;
  const [dx, dy] = arrow(event, step);
  if (marked === undefined || (dx === 0 && dy === 0)) return undefined;
  return event.shiftKey ? grown(marked, dx, -dy, axes) : shifted(marked, dx, dy, axes);
}

/** Movement by an arrow key, in pixels to the right and down; 0 for other keys. */
function arrow({ key }: KeyboardEvent, step: number): [number, number] {
  return ({ ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] } as Record<string, [number, number]>)[key] ?? [0, 0];
}

interface Gestures {
  readonly brushed: (rectangle: Rectangle) => void;
  readonly clicked: (at: readonly [number, number]) => void;
  readonly panned: (times: Range, durations: Range, held: boolean) => void;
}

/**
 * Drags: a new rectangle, or the marked one put elsewhere when it is taken inside; with the middle
 * button, or while Space is down, what is shown.
 */
function usePointer(
  axes: Axes, marked: Rectangle | undefined, setDrag: (rectangle: Rectangle | undefined) => void,
  setPointer: (at: readonly [number, number] | undefined) => void, space: { readonly current: boolean }, gestures: Gestures, room: typeof ROOM,
) {
  const pan = useRef<{ at: readonly [number, number]; axes: Axes; moved: boolean }>(undefined);
  const start = useRef<{ at: readonly [number, number]; moves: Rectangle | undefined; last: Rectangle | undefined }>(undefined);
  const where = (event: PointerEvent): readonly [number, number] => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [event.clientX - box.left - room.left, event.clientY - box.top - room.top];
  };
  const inside = ([x, y]: readonly [number, number]) =>
    x >= 0 && y >= 0 && x <= axes.time.length && y <= axes.duration.length;
  return {
    onPointerDown: (event: PointerEvent) => {
      const at = where(event);
      const pans = event.button === 1 || (event.button === 0 && space.current);
      // A second finger begins nothing.
      if (!event.isPrimary || (event.button !== 0 && !pans) || !inside(at)) return;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      if (pans) {
        event.preventDefault();
        pan.current = { at, axes, moved: false };
        return;
      }
      const taken = marked !== undefined && at[0] > marked.left && at[0] < marked.right && at[1] > marked.top && at[1] < marked.bottom;
      start.current = { at, moves: taken ? marked : undefined, last: undefined };
    },
    onPointerMove: (event: PointerEvent) => {
      if (!event.isPrimary) return;
      const at = where(event);
      setPointer(inside(at) ? at : undefined);
      const taken = pan.current;
      if (taken !== undefined) {
        const [dx, dy] = [at[0] - taken.at[0], at[1] - taken.at[1]];
        if (!taken.moved && Math.hypot(dx, dy) < CLICK_PX) return;
        gestures.panned(panned(taken.axes.time, dx), panned(taken.axes.duration, -dy), taken.moved);
        taken.moved = true;
        return;
      }
      const from = start.current;
      if (from === undefined) return;
      const [dx, dy] = [at[0] - from.at[0], at[1] - from.at[1]];
      if (from.last === undefined && Math.hypot(dx, dy) < CLICK_PX) return;
      from.last = from.moves === undefined ? between(from.at, at, axes) : shifted(from.moves, dx, dy, axes);
      setDrag(from.last);
    },
    // The middle button would make the browser scroll by itself.
    onMouseDown: (event: MouseEvent) => {
      if (event.button === 1) event.preventDefault();
    },
    onPointerUp: () => {
      pan.current = undefined;
      const from = start.current;
      start.current = undefined;
      setDrag(undefined);
      if (from === undefined) return;
      if (from.last === undefined) gestures.clicked(from.at);
      else gestures.brushed(from.last);
    },
    onPointerCancel: () => {
      pan.current = undefined;
      start.current = undefined;
      setDrag(undefined);
    },
    onPointerLeave: () => setPointer(undefined),
  };
}

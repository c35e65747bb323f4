import { useRef, useState } from 'preact/hooks';
import type { Distribution, HistogramAnswer } from '../../api/types';
import { DurationAxisBelow } from '../../draw/axes';
import { formatCount, formatDuration, formatShare, formatShort } from '../../draw/format';
import { labels } from '../../draw/labels';
import { linear, scaleOf, ticks, type Scale } from '../../draw/scale';
import { useSize } from '../../draw/size';
import { panned, wheelFactor, type Range } from '../../draw/zoom';
import { useSheet } from '../../save/sheet';
import { go } from '../../selection/current';
import { barTop, binAt, type Bin } from './bins';

const ROOM = { left: 58, right: 16, top: 80, bottom: 30 };

interface CountsProps {
  readonly answer: HistogramAnswer;
  readonly distribution: Distribution;
  readonly counts: 'linear' | 'log';
  readonly limitNs: number | undefined;
  /** The durations that are shown, where it is not all of them. */
  readonly range: Range | undefined;
  readonly onRange: (range: Range, held: boolean) => void;
  /** Shows more or less around a place of the axis, in [0, 1]. */
  readonly onCloser: (at: number, factor: number, event: Event) => void;
}

/** Counts by duration, with the parameters of the distribution where they are. */
export function Counts({ answer, distribution, counts, limitNs, range, onRange, onCloser }: CountsProps) {
  const { ref, width, height } = useSize<HTMLDivElement>();
  useSheet(ref, () => ({
    columns: ['From (ns)', 'Until (ns)', 'Count'], rows: answer.bins.map((bin) => [bin.from_ns, bin.until_ns, bin.count]),
  }));
  const [pointer, setPointer] = useState<number>();
  const factor = parseFloat(getComputedStyle(document.documentElement).fontSize) / 13;
  const room = { left: ROOM.left * factor, right: ROOM.right * factor, top: ROOM.top * factor, bottom: ROOM.bottom * factor };
  const plot = { width: Math.max(10, width - room.left - room.right), height: Math.max(10, height - room.top - room.bottom) };
  const x = scaleOf(answer.scale, range?.[0] ?? answer.bins[0]?.from_ns ?? 1, range?.[1] ?? answer.bins.at(-1)?.until_ns ?? 2, plot.width);
  const bins = answer.bins.filter((bin) => bin.until_ns > x.from && bin.from_ns < x.until);
  const most = bins.reduce((a, bin) => Math.max(a, bin.count), 1);
  const y = counts === 'log' ? scaleOf('log', 1, most, plot.height) : linear(0, most, plot.height);
  const under = pointer === undefined ? undefined : binAt(bins, x.value(pointer));
  const where = (event: MouseEvent) => event.clientX - (event.currentTarget as HTMLElement).getBoundingClientRect().left - room.left;
  const open = (bin: Bin | undefined) => {
    if (bin !== undefined && bin.count > 0) go({ view: 'scatter', selection: { min_ns: Math.floor(bin.from_ns), max_ns: Math.ceil(bin.until_ns) } });
  };
  const wheel = (event: WheelEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    onCloser(Math.max(0, Math.min(1, where(event) / x.length)), wheelFactor(event), event);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const filled = bins.filter((bin) => bin.count > 0);
    const at = under === undefined ? -1 : filled.indexOf(under);
    const to: Readonly<Record<string, number>> = { ArrowRight: at + 1, ArrowLeft: at < 0 ? filled.length - 1 : at - 1, Home: 0, End: filled.length - 1 };
    const next = to[event.key];
    if (event.key === 'Enter') open(under);
    else if (next === undefined) return;
    event.preventDefault();
    const bin = filled[next ?? -1];
    if (bin !== undefined) setPointer(x.at(bin.from_ns + (bin.until_ns - bin.from_ns) / 2));
  };
  const pan = useRef<{ at: number; x: Scale; moved: boolean }>(undefined);
  return (
    <>
      <div ref={ref} class="histogram-area" tabIndex={0} role="application" aria-roledescription="histogram" aria-label={`${inWords(distribution)}; arrows go from bar to bar, Enter shows its chains`}
        onKeyDown={keys} onWheel={wheel} onPointerLeave={() => setPointer(undefined)} onClick={() => open(under)}
        onMouseDown={(event) => {
          if (event.button === 1) event.preventDefault(); // the browser would scroll by itself
        }}
        onPointerDown={(event) => {
          if (event.button !== 1) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          pan.current = { at: where(event), x, moved: false };
        }}
        onPointerMove={(event) => {
          setPointer(where(event));
          const taken = pan.current;
          if (taken === undefined) return;
          onRange(panned(taken.x, where(event) - taken.at), taken.moved);
          taken.moved = true;
        }}
        onPointerUp={() => (pan.current = undefined)} onPointerCancel={() => (pan.current = undefined)}>
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true">
            <clipPath id="histogram-inside"><rect width={plot.width} height={plot.height} /></clipPath>
            <g transform={`translate(${room.left} ${room.top})`}>
              <CountAxis scale={y} width={plot.width} kind={counts} />
              <g clip-path="url(#histogram-inside)">
                {bins.map((bin) => bin.count > 0 && (
                  <rect key={bin.from_ns} class={`bin${limitNs !== undefined && bin.from_ns >= limitNs ? ' above' : ''}${bin === under ? ' under' : ''}`}
                    x={x.at(bin.from_ns)} width={Math.max(1, x.at(bin.until_ns) - x.at(bin.from_ns) - 0.5)}
                    y={plot.height - barTop(bin.count, y)} height={barTop(bin.count, y)} />
                ))}
              </g>
              <DurationAxisBelow scale={x} y={plot.height} grid={0} />
              <Marks x={x} height={plot.height} distribution={distribution} limitNs={limitNs} letter={6.2 * factor} />
            </g>
          </svg>
        )}
      </div>
      <p class="readout" role="status">
        {under === undefined ? <span class="quiet">Click a bar to see its chains in the scattergram. The wheel zooms.</span> : (
          <>{formatDuration(under.from_ns)} – {formatDuration(under.until_ns)} · {formatCount(under.count)} ({formatShare(under.count / Math.max(1, distribution.count))})</>
        )}
      </p>
    </>
  );
}

function inWords(d: Distribution): string {
  return `${formatCount(d.count)} durations from ${formatDuration(d.min_ns)} to ${formatDuration(d.max_ns)}, median ${formatDuration(d.median_ns)}, p99 ${formatDuration(d.p99_ns)}`;
}

function CountAxis({ scale, width, kind }: { scale: Scale; width: number; kind: 'linear' | 'log' }) {
  const found = ticks(scale, kind === 'log' ? 6 : Math.max(2, Math.min(8, scale.length / 60))).filter((tick) => Number.isInteger(tick));
  return (
    <g aria-hidden="true">
      {found.map((tick) => {
        const at = Math.round(scale.length - barTop(tick, scale)) + 0.5;
        return (
          <g key={tick} transform={`translate(0 ${at})`}>
            <path class="grid" d={`M0 0H${width}`} />
            <text x={-7} dy="0.32em" text-anchor="end">{tick < 1000 ? tick : formatShort(tick)}</text>
          </g>
        );
      })}
    </g>
  );
}

/** Rows of labels above the plot, in lines of text: one for each of the marks, which may lie close together. */
const ROWS = 5;

/** Lines at what has a name; their labels stand in rows, so that neighbours stay legible. */
function Marks({ x, height, distribution: d, limitNs, letter }: { x: Scale; height: number; distribution: Distribution; limitNs: number | undefined; letter: number }) {
  const all: readonly (readonly [string, string, number])[] = [
    ['median', 'median', d.median_ns], ['mean', 'mean', d.mean_ns], ['p99', 'p99', d.p99_ns], ['3 sigma', 'sigma', d.three_sigma_ns],
    ...(limitNs === undefined ? [] : [['limit', 'limit', limitNs] as const]),
  ];
  const marks = all
    .filter(([, , ns]) => ns >= x.from && ns <= x.until)
    .sort((a, b) => a[2] - b[2])
    .map(([name, kind, ns]) => ({ kind, text: `${name} ${formatDuration(ns)}`, at: Math.round(x.at(ns)) + 0.5 }));
  const y = (index: number) => ((places[index]?.row ?? 0) - ROWS + 0.7) * 2.2 * letter;
  const places = labels(marks.map(({ text, at }) => [at, (text.length + 2) * letter] as const), x.length, ROWS);
  return (
    <>
      {marks.map(({ kind, text, at }, index) => <g key={text} class={`mark-line ${kind}`}><path d={`M${at} ${y(index) - 1.2 * letter}V${height}`} /></g>)}
      {marks.map(({ kind, text, at }, index) => {
        const left = places[index]?.left === true;
        return <g key={text} class={`mark-line ${kind}`}><text x={left ? at - 4 : at + 4} y={y(index)} text-anchor={left ? 'end' : 'start'}>{text}</text></g>;
      })}
    </>
  );
}

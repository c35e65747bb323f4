// Series over time, or over the numbers 0, 1, 2 …, drawn by uPlot in this page's colours.

import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './series-plot.css';
import { useSheet } from '../save/sheet';
import { theme } from '../shell/theme';
import { canvasColours } from './colours';
import { formatDate, formatTime, formatTimeOfDay } from './format';
import { marksWithin, shortMark } from './marks';
import { linear, log, ticks, timeTicks } from './scale';
import { useSize } from './size';

/** One line of a plot. */
export interface Line {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** A variable of the style sheet, as `--path-0`. */
  readonly colour: string;
  readonly dashed?: boolean;
  /** Points without a line between them. */
  readonly points?: boolean;
}

/** An upright line at a place of the axis. */
export interface Mark {
  readonly at: number;
  readonly colour: string;
  readonly text?: string;
}

interface SeriesPlotProps {
  /** Description of the plot for screen readers. */
  readonly label: string;
  /** Positions on the horizontal axis, common to all lines: UTC in ns, or indices into `names`. */
  readonly at: readonly number[];
  /** Names of the positions, for an axis that does not show time. */
  readonly names?: readonly string[];
  readonly lines: readonly Line[];
  readonly marks?: readonly Mark[];
  /** A value in words, with its unit; at the axis with the step between two of its ticks. */
  readonly say: (value: number, step?: number) => string;
  /** The unit of the values, for tables that are saved; '' for counts. */
  readonly unit: string;
  /** Start of the value axis: 0 or the smallest value; or a logarithmic axis, which cannot show 0. */
  readonly axis?: 'zero' | 'smallest' | 'log';
  /** Height in CSS pixels. */
  readonly height: number;
  /** Called with the nearest place when the plot is clicked. */
  readonly onPick?: (index: number) => void;
  /** Called with a stretch of the axis that was dragged over. */
  readonly onRange?: (from: number, until: number) => void;
  /** Plots of one group show the cursor at the same place. */
  readonly group?: string;
}

/** A plot as wide as there is room. */
export function SeriesPlot(props: SeriesPlotProps) {
  const { ref, width } = useSize<HTMLDivElement>();
  const latest = useRef(props);
  const { at, lines, marks, names, height, unit } = props;
  useSheet(ref, () => ({
    columns: [names === undefined ? 'Time (UTC)' : 'Version', ...lines.map(({ label }) => (unit === '' ? label : `${label} (${unit})`))],
    rows: at.map((place, index) => [names === undefined ? formatTime(place, 6) : (names[place] ?? place), ...lines.map(({ values }) => values[index] ?? null)]),
  }));
  const shownTheme = theme.value;
  // An axis of time has the marks of all time axes.
  const noted = names === undefined ? marksWithin(at[0] ?? 0, at.at(-1) ?? 0) : [];
  const notedKey = noted.map((mark) => `${mark.at_ns} ${mark.text}`).join('\n');
  latest.current = { ...props, marks: [...(marks ?? []), ...noted.map((mark): Mark => ({ at: mark.at_ns, colour: '--mark', text: shortMark(mark) }))] };
  useEffect(() => {
    if (ref.current === null || width === 0) return undefined;
    const options = optionsOf(latest, ref.current, width);
    const data = [[...at], ...lines.map((line) => [...line.values])] as uPlot.AlignedData;
    const plot = new uPlot(options, data, ref.current);
    return () => plot.destroy();
    // `marks` and `names` come with `lines` from one answer.
  }, [at, lines, marks, notedKey, names, width, height, shownTheme]);
  return <div ref={ref} class={`series-plot${lines.length === 1 ? ' single' : ''}`} role="img" aria-label={props.label} style={{ minHeight: `${height}px` }} />;
}

// Kinds of scales, as uPlot numbers them.
const LINEAR = 1;
const LOG = 3;

const AXIS_WIDTH = 76;
const TICK_WIDTH = 100;
const NAME_WIDTH = 84;

function optionsOf(latest: { current: SeriesPlotProps }, element: HTMLElement, width: number): uPlot.Options {
  const { lines, names, height, say, group, axis: kind = 'zero' } = latest.current;
  const colour = canvasColours(element);
  const fontSize = Number.parseFloat(getComputedStyle(element).fontSize) * 0.87;
  const axis: uPlot.Axis = {
    stroke: colour('--quiet'), font: `${fontSize}px ${colour('--font')}`,
    grid: { stroke: colour('--line'), width: 1 }, ticks: { stroke: colour('--line'), width: 1, size: 4 },
  };
  const place = (value: number) => (names === undefined ? formatTime(value, 0) : (names[value] ?? ''));
  return {
    width, height,
    // The last name at the axis stands under the last point, half of it beyond the plot.
    padding: names === undefined ? [null, null, null, null] : [null, fontSize * 3, null, null],
    legend: { live: true, markers: { width: 0, fill: (_plot, index) => colour(lines[index - 1]?.colour ?? '--quiet') } },
    cursor: {
      drag: { x: latest.current.onRange !== undefined, y: false, setScale: false },
      ...(group === undefined ? {} : { sync: { key: group, setSeries: false } }),
    },
    scales: {
      x: { time: false },
      // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- an ambient const enum: it has no values to name
      y: { distr: kind === 'log' ? LOG : LINEAR, range: (_plot, low, high) => yRange(low, high, kind) },
    },
    axes: [
      { ...axis, size: fontSize * 2.2, splits: (plot, _axis, from, until) => xSplits(plot.bbox.width / devicePixelRatio, from, until, names), values: (_plot, found) => xWords(found, names) },
      { ...axis, size: AXIS_WIDTH * (fontSize / 12), filter: (_plot, found) => found, splits: (plot, _axis, from, until) => ticks((kind === 'log' ? log : linear)(from, until, 1), plot.bbox.height / devicePixelRatio / (kind === 'log' ? 30 : 50)), values: (_plot, found) => found.map((value) => say(value, (found[1] ?? 0) - (found[0] ?? 0))) },
    ],
    series: [
      { label: names === undefined ? 'time' : 'version', value: (_plot, value: number | null) => (value === null ? '' : place(value)) },
      ...lines.map((line): uPlot.Series => ({
        label: line.label, stroke: colour(line.colour), width: line.points === true ? 0 : 1.5,
        points: { show: line.points === true || line.values.length < 60, size: 5, fill: colour(line.colour) },
        ...(line.dashed === true ? { dash: [5, 4] } : {}),
        // Beside the cursor there is a value; elsewhere the name alone says what a colour means.
        value: (plot, value: number | null) => (value === null ? (plot.cursor.idx == null ? '' : '–') : say(value)),
      })),
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, latest.current.marks ?? [], colour)],
      setSelect: [(plot) => {
        if (plot.select.width < 3) return;
        latest.current.onRange?.(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'));
      }],
      ready: [(plot) => plot.over.addEventListener('click', () => {
        const index = plot.cursor.idx;
        if (typeof index === 'number') latest.current.onPick?.(index);
      })],
    },
  };
}

/** The values' range with a little room; never empty. */
function yRange(low: number | null, high: number | null, kind: NonNullable<SeriesPlotProps['axis']>): [number, number] {
  const [least, most] = [low ?? 0, high ?? 1];
  if (kind === 'log') return [least > 0 ? least / 1.2 : 1, most > 0 ? most * 1.3 : 10];
  if (kind === 'zero') return [Math.min(0, least), most > 0 ? most * 1.06 : 1];
  const room = (most - least || Math.abs(most) || 1) * 0.08;
  return [least - room, most + room];
}

function xSplits(width: number, from: number, until: number, names: readonly string[] | undefined): number[] {
  if (names === undefined) return timeTicks(from, until, width / TICK_WIDTH).ticks;
  const every = Math.max(1, Math.ceil((until - from) / Math.max(1, width / NAME_WIDTH)));
  return names.map((_, index) => index).filter((index) => index % every === 0 && index >= from && index <= until);
}

function xWords(found: readonly number[], names: readonly string[] | undefined): string[] {
  if (names !== undefined) return found.map((index) => names[index] ?? '');
  const step = (found[1] ?? 0) - (found[0] ?? 0);
  return found.map((time) => (step >= 86_400e9 ? formatDate(time) : formatTimeOfDay(time, step >= 1e9 || step === 0 ? 0 : 3)));
}

function drawMarks(plot: uPlot, marks: readonly Mark[], colour: (variable: string) => string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.lineWidth = 1.5 * devicePixelRatio;
  for (const mark of marks) {
    const x = plot.valToPos(mark.at, 'x', true);
    ctx.strokeStyle = colour(mark.colour);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    if (mark.text === undefined) continue;
    const room = bbox.left + bbox.width - x;
    ctx.fillStyle = colour(mark.colour);
    ctx.font = `${11 * devicePixelRatio}px ${colour('--font')}`;
    ctx.textAlign = ctx.measureText(mark.text).width + 8 * devicePixelRatio > room ? 'right' : 'left';
    ctx.fillText(mark.text, x + (ctx.textAlign === 'right' ? -4 : 4) * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
  }
  ctx.restore();
}

import type { RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import type { Ring } from '../../api/types';
import { Duration } from '../../draw/exact';
import { formatCount, formatDuration } from '../../draw/format';
import type { Scale } from '../../draw/scale';
import { SortedTable, type Column } from '../../draw/sorted-table';
import { NO_CPU_OF_ALL, Unknown } from '../../draw/unknown';
import { useSheet } from '../../save/sheet';
import { go, place } from '../../selection/current';
import { shortName } from './names';
import { axisOfClasses, bars, mostOf, shares, TWIN, type RingClass } from './twins';

/** Ticks below the histograms. */
const TICKS = 6;

interface ClassesProps {
  readonly answer: Ring;
  /** The stroke of a class in the picture of the last transactions. */
  readonly colourOf: (name: string) => string;
}

/** Every class of the process, with both histograms. A class that is chosen selects the worst cases. */
export function Classes({ answer, colourOf }: ClassesProps) {
  const x = axisOfClasses(answer.classes);
  const head = useRef<HTMLSpanElement>(null);
  useSheet(head, () => ({
    columns: ['Class', 'Time', 'From (ns)', 'Until (ns)', 'Count'],
    rows: answer.classes.flatMap((row) => [['elapsed', row.elapsed] as const, ['thread CPU', row.cpu] as const].flatMap(([kind, of]) => (
      of?.bins.map((bin) => [row.class, kind, bin.from_ns, bin.until_ns, bin.count]) ?? []
    ))),
  }));
  const chosen = place().own['class'];
  const time = (ns: number | null | undefined) => (ns == null ? <Unknown why={NO_CPU_OF_ALL} /> : <Duration ns={ns} />);
  const columns: readonly Column<RingClass>[] = [
    {
      key: 'class', title: 'Class', by: (row) => row.class,
      show: (row) => (
        <button type="button" class="plain class-name" aria-pressed={row.class === chosen} title={row.class}
          onClick={() => go({ own: { class: row.class === chosen ? undefined : row.class } }, true)}>
          <span class="dot" style={{ background: colourOf(row.class) }} /> {shortName(row.class, answer)}{!row.enabled && <span class="quiet"> (off)</span>}
        </button>
      ),
    },
    { key: 'count', title: 'Ended', number: true, hint: 'Since the process started', by: (row) => row.count, show: (row) => formatCount(row.count) },
    { key: 'twin', title: <TwinHead x={x} axis={head} />, show: (row) => <Twin row={row} x={x} /> },
    { key: 'p50', title: 'p50', number: true, hint: 'Median of the elapsed time', by: (row) => row.p50_ns, show: (row) => time(row.p50_ns) },
    { key: 'p99', title: 'p99', number: true, by: (row) => row.p99_ns, show: (row) => time(row.p99_ns) },
    { key: 'max', title: 'Max', number: true, by: (row) => row.max_ns, show: (row) => time(row.max_ns) },
    { key: 'cpu50', title: 'CPU p50', number: true, hint: 'Median of the thread CPU time', by: (row) => row.cpu?.p50_ns ?? null, show: (row) => time(row.cpu?.p50_ns) },
    { key: 'cpumax', title: 'CPU max', number: true, by: (row) => row.cpu?.max_ns ?? null, show: (row) => time(row.cpu?.max_ns) },
  ];
  return (
    <section class="panel scroll classes" aria-label="Histograms of the classes">
      <SortedTable caption="Classes" shown columns={columns} rows={answer.classes} id={(row) => row.class} />
      {answer.classes_left_out > 0 && <p class="quiet">{formatCount(answer.classes_left_out)} further classes, which ended less often, are not listed.</p>}
    </section>
  );
}

/** The legend of the histograms, and their axis, are the head of their column. */
function TwinHead({ x, axis }: { x: Scale; axis: RefObject<HTMLSpanElement | null> }) {
  return (
    <span class="twin-head" title="Counts are logarithmic; all classes share the axis">
      Elapsed <span class="swatch elapsed" aria-hidden="true" /> above, thread CPU <span class="swatch cpu" aria-hidden="true" /> below the line
      <span ref={axis} class="twin-axis" aria-hidden="true">
        {shares(x, TICKS).map(({ ns, share }) => <span key={ns} style={{ left: `${share * 100}%`, transform: `translateX(-${share * 100}%)` }}>{formatDuration(ns)}</span>)}
      </span>
    </span>
  );
}

function Twin({ row, x }: { row: RingClass; x: Scale }) {
  const most = mostOf(row);
  const words = `elapsed: median ${formatDuration(row.p50_ns)}, p99 ${formatDuration(row.p99_ns)}${row.cpu === null ? '' : `; thread CPU: median ${formatDuration(row.cpu.p50_ns)}, p99 ${formatDuration(row.cpu.p99_ns)}`}`;
  return (
    <svg class="twin" viewBox={`0 0 ${TWIN.width} ${TWIN.height}`} preserveAspectRatio="none" role="img" aria-label={words}>
      <title>{words}</title>
      {shares(x, TICKS).map(({ ns, share }) => <path key={ns} class="grid" vector-effect="non-scaling-stroke" d={`M${share * TWIN.width} 0V${TWIN.height}`} />)}
      <g class="elapsed">{bars(row.elapsed.bins, most, x, 'above').map((bar) => <rect key={bar.x} {...bar} />)}</g>
      <g class="cpu">{bars(row.cpu?.bins ?? [], most, x, 'below').map((bar) => <rect key={bar.x} {...bar} />)}</g>
      <path class="axis" vector-effect="non-scaling-stroke" d={`M0 ${TWIN.height / 2}H${TWIN.width}`} />
    </svg>
  );
}

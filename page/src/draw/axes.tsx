import { formatDate, formatDuration, formatTimeOfDay } from './format';
import { ticks, timeTicks, type Scale } from './scale';

/** Time below a plot: ticks, and the date once. `y` is where the axis is. */
export function TimeAxis({ scale, y, grid }: { scale: Scale; y: number; grid: number }) {
  const { ticks: found, decimals, days } = timeTicks(scale.from, scale.until, Math.max(2, scale.length / 110));
  return (
    <g aria-hidden="true">
      <path class="axis" d={`M0 ${y + 0.5}H${scale.length}`} />
      {found.map((tick) => {
        const x = Math.round(scale.at(tick)) + 0.5;
        return (
          <g key={tick} transform={`translate(${x} ${y})`}>
            <path class="grid" d={`M0 0V${-grid}`} />
            <path class="axis" d="M0 0v5" />
            <text y={8} dy="0.8em" text-anchor={x < 30 ? 'start' : x > scale.length - 30 ? 'end' : 'middle'}>
              {days ? formatDate(tick) : formatTimeOfDay(tick, decimals)}
            </text>
          </g>
        );
      })}
      <text x={scale.length} y={y + 8} dy="2.1em" text-anchor="end">{formatDate(scale.from)} UTC</text>
    </g>
  );
}

/** Durations beside a plot, longest above; the labels stand to the left of x = 0. */
export function DurationAxisLeft({ scale, grid }: { scale: Scale; grid: number }) {
  return (
    <g aria-hidden="true">
      {ticks(scale, Math.max(2, scale.length / 55)).map((tick) => {
        const y = Math.round(scale.length - scale.at(tick)) + 0.5;
        return (
          <g key={tick} transform={`translate(0 ${y})`}>
            <path class="grid" d={`M0 0H${grid}`} />
            <path class="axis" d="M-4 0h4" />
            <text x={-7} dy="0.32em" text-anchor="end">{formatDuration(tick)}</text>
          </g>
        );
      })}
      <path class="axis" d={`M0.5 0V${scale.length}`} />
    </g>
  );
}

/** Durations below a plot. */
export function DurationAxisBelow({ scale, y, grid }: { scale: Scale; y: number; grid: number }) {
  return (
    <g aria-hidden="true">
      <path class="axis" d={`M0 ${y + 0.5}H${scale.length}`} />
      {ticks(scale, Math.max(2, scale.length / 80)).map((tick) => {
        const x = Math.round(scale.at(tick)) + 0.5;
        return (
          <g key={tick} transform={`translate(${x} ${y})`}>
            <path class="grid" d={`M0 0V${-grid}`} />
            <path class="axis" d="M0 0v5" />
            <text y={8} dy="0.8em" text-anchor={x < 20 ? 'start' : x > scale.length - 20 ? 'end' : 'middle'}>{formatDuration(tick)}</text>
          </g>
        );
      })}
    </g>
  );
}

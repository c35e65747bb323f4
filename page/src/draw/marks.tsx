import { marks, type TimeMark } from '../selection/marks';
import { formatTime } from './format';
import { labels } from './labels';
import type { Scale } from './scale';

/** Rows of labels, from the top of the plot. */
const ROWS = 3;
/** Longest label, in letters. */
const LETTERS = 24;

/** The marks within a range of time. */
export function marksWithin(from: number, until: number): TimeMark[] {
  return marks.value.filter(({ at_ns }) => at_ns >= from && at_ns <= until);
}

/** A mark's text as long as there is room for it. */
export function shortMark({ text }: TimeMark): string {
  return text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text;
}

/** Upright lines with their text at the marks, over the height of a plot. */
export function MarkLines({ scale, height, rem }: { scale: Scale; height: number; rem: number }) {
  const shown = marksWithin(scale.from, scale.until);
  const letter = 0.5 * rem;
  const places = labels(shown.map((mark) => [scale.at(mark.at_ns), (shortMark(mark).length + 1) * letter] as const), scale.length, ROWS);
  return (
    <>
      {shown.map((mark, index) => {
        const { row, left } = places[index] ?? { row: 0, left: false };
        const x = Math.round(scale.at(mark.at_ns)) + 0.5;
        return (
          <g key={`${mark.at_ns} ${mark.text}`} class="time-mark">
            <title>{`${mark.text}, ${formatTime(mark.at_ns)} UTC`}</title>
            <path d={`M${x} 0V${height}`} />
            <text x={left ? x - 4 : x + 4} y={(row + 0.9) * 1.1 * rem} text-anchor={left ? 'end' : 'start'}>{shortMark(mark)}</text>
          </g>
        );
      })}
    </>
  );
}

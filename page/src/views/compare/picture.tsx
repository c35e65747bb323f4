import { DurationAxisBelow } from '../../draw/axes';
import { filled, sharesOf, steps } from '../../draw/contrast';
import { log } from '../../draw/scale';
import { useSize } from '../../draw/size';
import { useSheet } from '../../save/sheet';

interface PictureProps {
  readonly edges: readonly number[];
  readonly a: readonly number[];
  readonly b: readonly number[];
  /** Description of the picture for screen readers. */
  readonly label: string;
}

const AXIS = 24;
const SIDE = 30;

/** Both histograms over each other with an axis of durations, as high as there is room. */
export function Picture({ edges, a, b, label }: PictureProps) {
  const { ref, width, height } = useSize<HTMLDivElement>();
  useSheet(ref, () => ({ columns: ['From (ns)', 'Until (ns)', 'A', 'B'], rows: a.map((count, index) => [edges[index] ?? null, edges[index + 1] ?? null, count, b[index] ?? 0]) }));
  const [first, last] = filled(edges, [a, b]);
  const kept = edges.slice(first, last + 1);
  const tall = height - AXIS;
  const x = log(kept[0] ?? 1, kept.at(-1) ?? 10, width - 2 * SIDE);
  const both = [sharesOf(a).slice(first, last), sharesOf(b).slice(first, last)];
  const top = Math.max(1e-12, ...both.flat());
  return (
    <div ref={ref} class="compare-picture" role="img" aria-label={label}>
      {width > 2 * SIDE && height > AXIS && (
        <svg width={width} height={height}>
          <g transform={`translate(${SIDE} 0)`}>
            <DurationAxisBelow scale={x} y={tall} grid={tall} />
            {both.map((shares, index) => (
              <path key={index} class={index === 0 ? 'a' : 'b'}
                d={`M0 ${tall}${steps(shares, (edge) => x.at(kept[edge] ?? 1), (share) => tall - (share / top) * (tall - 4))}L${x.length} ${tall}`} />
            ))}
          </g>
        </svg>
      )}
    </div>
  );
}

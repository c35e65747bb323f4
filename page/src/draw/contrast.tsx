import { scaleOf } from './scale';

interface ContrastProps {
  /** Edges of the bins; one more than there are counts. */
  readonly edges: readonly number[];
  /** Counts of the histogram that is drawn filled. */
  readonly front: readonly number[];
  /** Counts of the histogram that is drawn as a line behind it. */
  readonly back: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly frontColour: string;
  readonly backColour: string;
}

/**
 * Two histograms on common edges over each other, each as shares of its own sum, so that few and
 * many compare. Both have the height of the higher peak.
 */
export function Contrast({ edges, front, back, width, height, frontColour, backColour }: ContrastProps) {
  const x = scaleOf('log', edges[0] ?? 1, edges.at(-1) ?? 2, width);
  const shares = [front, back].map(sharesOf);
  const top = Math.max(1e-12, ...shares.flat());
  const [frontShares = [], backShares = []] = shares;
  const outline = (values: readonly number[]) => steps(values, (index) => x.at(edges[index] ?? 1), (share) => height - (share / top) * (height - 1));
  return (
    <svg class="contrast" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={`M0 ${height}${outline(backShares)}L${width} ${height}`} fill={backColour} fill-opacity="0.3" stroke={backColour} stroke-width="1" vector-effect="non-scaling-stroke" />
      <path d={`M0 ${height}${outline(frontShares)}L${width} ${height}`} fill={frontColour} fill-opacity="0.3" stroke={frontColour} stroke-width="1.5" vector-effect="non-scaling-stroke" />
    </svg>
  );
}

/** Each count as a share of all; all 0 where there is nothing. */
export function sharesOf(counts: readonly number[]): number[] {
  const sum = counts.reduce((a, b) => a + b, 0);
  return counts.map((count) => (sum === 0 ? 0 : count / sum));
}

/** The path of a histogram's outline, to be closed by its caller. */
export function steps(values: readonly number[], x: (edge: number) => number, y: (value: number) => number): string {
  return values.map((value, index) => `L${x(index).toFixed(1)} ${y(value).toFixed(1)}L${x(index + 1).toFixed(1)} ${y(value).toFixed(1)}`).join('');
}

/** The stretch of edges within which any of the histograms has something: what is worth drawing. */
export function filled(edges: readonly number[], histograms: readonly (readonly number[])[]): readonly [number, number] {
  let first = edges.length - 1;
  let last = 0;
  for (const counts of histograms) {
    counts.forEach((count, index) => {
      if (count === 0) return;
      first = Math.min(first, index);
      last = Math.max(last, index + 1);
    });
  }
  return first < last ? [first, last] : [0, edges.length - 1];
}

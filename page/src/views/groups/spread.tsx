import type { Distribution } from '../../api/types';
import { formatDuration } from '../../draw/format';
import type { Scale } from '../../draw/scale';
import { SPREAD_PX } from './values';

const HEIGHT = 16;

/** A distribution in one line: from the shortest to the longest, a box from the median to p99, a tick at p90. */
export function Spread({ of: { min_ns, median_ns, p90_ns, p99_ns, max_ns }, scale }: { of: Distribution; scale: Scale }) {
  const [from, median, p90, p99, until] = [min_ns, median_ns, p90_ns, p99_ns, max_ns].map((ns) => scale.at(ns)) as [number, number, number, number, number];
  const words = `shortest ${formatDuration(min_ns)}, median ${formatDuration(median_ns)}, 90 % ${formatDuration(p90_ns)}, 99 % ${formatDuration(p99_ns)}, longest ${formatDuration(max_ns)}`;
  return (
    <svg class="spread-of" width={SPREAD_PX + 4} height={HEIGHT} viewBox={`-2 0 ${SPREAD_PX + 4} ${HEIGHT}`} role="img" aria-label={words}>
      <title>{words}</title>
      <path class="whole" d={`M${from} ${HEIGHT / 2}H${until}M${from} 5v6M${until} 5v6`} />
      <rect x={median} y={3} width={Math.max(1.5, p99 - median)} height={HEIGHT - 6} />
      <path class="p90" d={`M${p90} 3v${HEIGHT - 6}`} />
    </svg>
  );
}

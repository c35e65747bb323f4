// Positions on a line, as near as possible to where they are wanted, with distances kept.

/**
 * The positions p with p[i+1] − p[i] ≥ apart[i] whose squared distances from `wanted` add up to the
 * least. Shifted by the distances before it, each position only has to be no less than the last:
 * isotonic regression, by pooling adjacent violators.
 */
export function spread(wanted: readonly number[], apart: readonly number[]): number[] {
  const before: number[] = [];
  let sum = 0;
  wanted.forEach((_, index) => {
    before.push(sum);
    sum += apart[index] ?? 0;
  });
  const pools: { sum: number; count: number }[] = [];
  wanted.forEach((place, index) => {
    let pool = { sum: place - (before[index] ?? 0), count: 1 };
    for (let last = pools.at(-1); last !== undefined && last.sum / last.count > pool.sum / pool.count; last = pools.at(-1)) {
      pool = { sum: pool.sum + last.sum, count: pool.count + last.count };
      pools.pop();
    }
    pools.push(pool);
  });
  return pools.flatMap((pool) => Array<number>(pool.count).fill(pool.sum / pool.count)).map((place, index) => place + (before[index] ?? 0));
}

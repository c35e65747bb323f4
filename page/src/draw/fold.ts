// A time axis on which long stretches without anything to see take little room.

/** A stretch of time, in ns relative to the root's start. */
export interface Stretch {
  readonly from_ns: number;
  readonly until_ns: number;
}

/** A piece of the axis: to scale, or folded to a fixed width. */
export interface Piece extends Stretch {
  readonly folded: boolean;
  readonly left: number;
  readonly width: number;
}

/** Width of a folded stretch in pixels: enough for its duration in words. */
export const FOLD_PX = 64;

/** The axis: pieces that follow each other without gaps over the whole width. */
export interface Axis {
  readonly pieces: readonly Piece[];
  /** Position of an instant in pixels; within a fold it is proportional. */
  at(ns: number): number;
}

/**
 * The stretches that are folded: each longer than all time in which something ran, so that to scale
 * it would hide what there is to see.
 */
export function foldable(whole: Stretch, idle: readonly Stretch[]): Stretch[] {
  const inside = idle
    .map((gap) => ({ from_ns: Math.max(whole.from_ns, gap.from_ns), until_ns: Math.min(whole.until_ns, gap.until_ns) }))
    .filter((gap) => gap.until_ns > gap.from_ns)
    .sort((a, b) => a.from_ns - b.from_ns);
  const idleNs = inside.reduce((sum, gap) => sum + gap.until_ns - gap.from_ns, 0);
  const busyNs = whole.until_ns - whole.from_ns - idleNs;
  return inside.filter((gap) => gap.until_ns - gap.from_ns > busyNs);
}

/** The axis over `whole`, with these stretches (in order, apart from each other) folded. */
export function axisOf(whole: Stretch, folds: readonly Stretch[], width: number): Axis {
  const parts: (Stretch & { readonly folded: boolean })[] = [];
  let at = whole.from_ns;
  for (const fold of folds) {
    if (fold.from_ns > at) parts.push({ from_ns: at, until_ns: fold.from_ns, folded: false });
    parts.push({ ...fold, folded: true });
    at = fold.until_ns;
  }
  if (at < whole.until_ns || parts.length === 0) parts.push({ from_ns: at, until_ns: Math.max(whole.until_ns, at + 1), folded: false });

  // Many folds in a narrow window share half of it.
  const foldPx = Math.min(FOLD_PX, width / 2 / Math.max(1, folds.length));
  const shownNs = parts.reduce((sum, part) => sum + (part.folded ? 0 : part.until_ns - part.from_ns), 0);
  const perNs = shownNs === 0 ? 0 : (width - folds.length * foldPx) / shownNs;
  let left = 0;
  const pieces = parts.map((part) => {
    const piece = { ...part, left, width: part.folded ? foldPx : (part.until_ns - part.from_ns) * perNs };
    left += piece.width;
    return piece;
  });
  return { pieces, at: (ns) => position(pieces, ns) };
}

function position(pieces: readonly Piece[], ns: number): number {
  const [first] = pieces;
  if (first === undefined || ns <= first.from_ns) return 0;
  for (const piece of pieces) {
    if (ns <= piece.until_ns) {
      return piece.left + ((ns - piece.from_ns) / (piece.until_ns - piece.from_ns)) * piece.width;
    }
  }
  const last = pieces[pieces.length - 1];
  return last === undefined ? 0 : last.left + last.width;
}

// A profile as boxes: each frame as wide as its cost, callees below their callers.

import type { Flame } from '../../api/types';

export type Frame = Flame['frames'][number];
export type FlameFunction = Flame['functions'][number];

/** A frame that is drawn. */
export interface Box {
  /** Index of the frame. */
  readonly frame: number;
  /** Left edge and width as parts of the picture's, in [0, 1]. */
  readonly x: number;
  readonly width: number;
  /** Row from above; the root is 0. */
  readonly row: number;
}

/** The name of a frame; the root stands for everything. */
export function nameOf(flame: Flame, frame: number): string {
  return functionOf(flame, frame)?.name ?? 'all';
}

/** The function of a frame; the root has none. */
export function functionOf(flame: Flame, frame: number): FlameFunction | undefined {
  const index = flame.frames[frame]?.function;
  return index === null || index === undefined ? undefined : flame.functions[index];
}

/** Indices of the frames directly below each frame, in the server's order: the expensive ones first. */
export function childrenOf({ frames }: Flame): number[][] {
  const below: number[][] = frames.map(() => []);
  frames.forEach(({ parent }, index) => {
    if (parent !== null) below[parent]?.push(index);
  });
  return below;
}

/**
 * The width of each frame in units of cost: what it costs now, or, where that is nothing, what it
 * cost before; at least what is below it.
 */
export function widthsOf({ frames }: Flame): number[] {
  const widths = frames.map((frame) => (frame.inclusive > 0 ? frame.inclusive : frame.inclusive_before ?? 0));
  const below = frames.map(() => 0);
  for (let index = frames.length - 1; index >= 0; index -= 1) {
    widths[index] = Math.max(widths[index] ?? 0, below[index] ?? 0);
    const parent = frames[index]?.parent ?? null;
    if (parent !== null) below[parent] = (below[parent] ?? 0) + (widths[index] ?? 0);
  }
  return widths;
}

/** The frames from the root to this one. */
export function pathTo({ frames }: Flame, frame: number): number[] {
  const path: number[] = [];
  for (let at: number | null = frame; at !== null && frames[at] !== undefined; at = frames[at]?.parent ?? null) path.unshift(at);
  return path;
}

/** The boxes where `zoom` takes the whole width, its callers above it; narrower ones than `least` are left out. */
export function boxesOf(flame: Flame, zoom: number, least: number): Box[] {
  const [below, widths] = [childrenOf(flame), widthsOf(flame)];
  const boxes: Box[] = pathTo(flame, zoom).map((frame, row) => ({ frame, x: 0, width: 1, row }));
  const whole = widths[zoom] ?? 0;
  if (whole <= 0) return boxes;
  const open = boxes.slice(-1);
  for (let box = open.pop(); box !== undefined; box = open.pop()) {
    let { x } = box;
    for (const frame of below[box.frame] ?? []) {
      const width = (widths[frame] ?? 0) / whole;
      if (width >= least) {
        const found = { frame, x, width, row: box.row + 1 };
        boxes.push(found);
        open.push(found);
      }
      x += width;
    }
  }
  return boxes;
}

/** Frames whose function, file or object has the text; and their part of the total, nested ones once. */
export function found(flame: Flame, text: string): { frames: ReadonlySet<number>; share: number } {
  const wanted = text.trim().toLowerCase();
  const frames = new Set<number>();
  if (wanted === '') return { frames, share: 0 };
  const hits = flame.functions.map(({ name, file, object }) => [name, file, object].some((each) => each.toLowerCase().includes(wanted)));
  const inside: boolean[] = [];
  let cost = 0;
  flame.frames.forEach((frame, index) => {
    const hit = frame.function !== null && hits[frame.function] === true;
    const above = frame.parent !== null && inside[frame.parent] === true;
    inside[index] = hit || above;
    if (!hit) return;
    frames.add(index);
    if (!above) cost += frame.inclusive;
  });
  return { frames, share: flame.total > 0 ? cost / flame.total : 0 };
}

/** The frame that a key leads to from another, or the same one. */
export function beside(flame: Flame, frame: number, key: string): number {
  const parent = flame.frames[frame]?.parent ?? null;
  const below = childrenOf(flame);
  if (key === 'ArrowUp') return parent ?? frame;
  if (key === 'ArrowDown') return below[frame]?.[0] ?? frame;
  const siblings = parent === null ? [frame] : below[parent] ?? [frame];
  const step = key === 'ArrowLeft' ? -1 : key === 'ArrowRight' ? 1 : 0;
  return siblings[siblings.indexOf(frame) + step] ?? frame;
}

/** Number of programs and libraries with a colour of their own. */
export const OBJECT_COLOURS = 8;

/** The programs and libraries by what they cost themselves, the most expensive first. */
export function objectsOf({ functions }: Flame): string[] {
  const costs = new Map<string, number>();
  for (const { object, own } of functions) costs.set(object, (costs.get(object) ?? 0) + own);
  return [...costs].sort(([, one], [, other]) => other - one).map(([object]) => object);
}

/** How much a frame itself changed beside the largest such change, in [-1, 1]; null without a run before. */
export function changesOf({ frames }: Flame): readonly (number | null)[] {
  const change = ({ own, own_before }: Frame) => (own_before === null ? null : own - own_before);
  const changes = frames.map(change);
  const most = changes.reduce<number>((largest, each) => Math.max(largest, Math.abs(each ?? 0)), 1);
  return changes.map((each) => (each === null ? null : each / most));
}

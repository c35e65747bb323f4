// What the Now view keeps from one refresh to the next: rows that stay where they are, a class that
// fell silent, and how each class went since the page was opened.

import type { Now } from '../../api/types';
import { className } from '../../selection/links';

type Application = Now['applications'][number];
type Class = Application['classes'][number];

/** One class on the board. */
export interface ClassRow {
  /** `application::class`. */
  readonly name: string;
  /** The class as the last answer that contained it reported it. */
  readonly last: Class;
  /** When it was first missing from an answer, UTC; undefined while it is in them. */
  readonly silentSinceNs: number | undefined;
  /** The p99 of each refresh in ns, the newest last; null where nothing ran. */
  readonly trail: readonly (number | null)[];
}

/** One application on the board. */
export interface ApplicationRow {
  readonly application: string;
  readonly last: Application;
  readonly gone: boolean;
  readonly classes: readonly ClassRow[];
}

/** All that is shown, and which window it is of. */
export interface Board {
  readonly windowS: number;
  readonly atNs: number;
  readonly applications: readonly ApplicationRow[];
}

/** Number of refreshes in a trail: two minutes at one every 2 s. */
export const TRAIL = 60;

/**
 * The board after an answer. A row never moves while the page is open: those known stay in their
 * order, new ones come behind (of the first answer, in the order of their names). Another window is
 * another board.
 */
export function after(board: Board | undefined, now: Now): Board {
  const before = board?.windowS === now.window_s ? board : undefined;
  // The same answer again (nobody records, or the collector is slower than the page): no news.
  if (before?.atNs === now.at_ns && before.applications.length === now.applications.length) return before;
  const applications = keptOrder(
    before?.applications ?? [], now.applications, (row) => row.application, (row) => row.application,
  ).map(({ old, fresh }) => applicationAfter(old, fresh, now.at_ns));
  return { windowS: now.window_s, atNs: now.at_ns, applications };
}

function applicationAfter(old: ApplicationRow | undefined, fresh: Application | undefined, atNs: number): ApplicationRow {
  const last = fresh ?? (old as ApplicationRow).last;
  const classes = keptOrder(old?.classes ?? [], fresh?.classes ?? [], (row) => row.last.class, (row) => row.class);
  return {
    application: last.application,
    last,
    gone: fresh === undefined,
    classes: classes.map((pair) => classAfter(last.application, pair.old, pair.fresh, atNs)),
  };
}

function classAfter(application: string, old: ClassRow | undefined, fresh: Class | undefined, atNs: number): ClassRow {
  const last = fresh ?? (old as ClassRow).last;
  const ran = fresh !== undefined && fresh.count > 0;
  return {
    name: className(application, last.class),
    last,
    silentSinceNs: fresh !== undefined ? undefined : (old?.silentSinceNs ?? atNs),
    trail: [...(old?.trail ?? []), ran ? fresh.p99_ns : null].slice(-TRAIL),
  };
}

/** Old rows in their order, each with its fresh one where there is one; then the new ones by name. */
function keptOrder<Old, Fresh>(
  olds: readonly Old[], freshs: readonly Fresh[], oldKey: (row: Old) => string, freshKey: (row: Fresh) => string,
): { old: Old | undefined; fresh: Fresh | undefined }[] {
  const fresh = new Map(freshs.map((row) => [freshKey(row), row]));
  const known = new Set(olds.map(oldKey));
  const news = freshs.filter((row) => !known.has(freshKey(row)));
  news.sort((a, b) => freshKey(a).localeCompare(freshKey(b), 'en', { numeric: true }));
  return [
    ...olds.map((old) => ({ old, fresh: fresh.get(oldKey(old)) })),
    ...news.map((row) => ({ old: undefined, fresh: row })),
  ];
}

/** A trail as the points of an SVG polyline: one stretch for each run of refreshes that had something. */
export function trailPoints(trail: readonly (number | null)[], width: number, height: number): string[] {
  const known = trail.filter((value) => value !== null);
  const most = Math.max(...known, 0);
  if (most === 0) return [];
  const step = width / Math.max(1, TRAIL - 1);
  const stretches: string[][] = [[]];
  trail.forEach((value, index) => {
    if (value === null) {
      stretches.push([]);
      return;
    }
    const x = width - (trail.length - 1 - index) * step;
    stretches.at(-1)?.push(`${Math.round(x * 10) / 10},${Math.round((height - (value / most) * height) * 10) / 10}`);
  });
  return stretches.filter((stretch) => stretch.length > 0).map((stretch) => stretch.join(' '));
}

/** Positions of marks in a trail whose newest value is of `atNs` and whose refreshes are `everyNs` apart. */
export function markPlaces(marks: readonly { readonly at_ns: number }[], atNs: number, everyNs: number, width: number): number[] {
  const step = width / Math.max(1, TRAIL - 1);
  const places = marks.map(({ at_ns }) => Math.round((width - ((atNs - at_ns) / everyNs) * step) * 10) / 10);
  return [...new Set(places)].filter((x) => x >= 0 && x <= width);
}

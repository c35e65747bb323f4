// Marks on the axis of time: those that people noted, and the versions of services that came to run.

import { effect, signal, untracked } from '@preact/signals';
import { ask, askLong, type Asked } from '../api/client';
import { epoch, status } from '../api/connection';
import { Problem } from '../api/problem';
import { answered } from '../api/question';
import type { Marks, Versions } from '../api/types';
import { moves, place } from './current';

/** A mark. */
export interface TimeMark {
  readonly at_ns: number;
  readonly text: string;
  /** The service that it is about; '' for all. */
  readonly service: string;
  /** The number of one that somebody noted; one that was found in rows has none. */
  readonly id: number | undefined;
}

const noted = signal<readonly TimeMark[]>([]);
const found = signal<readonly TimeMark[]>([]);

/** All marks, by time. */
export const marks = signal<readonly TimeMark[]>([]);
/** What of the marks may be missing, in words; '' for nothing. */
export const missingMarks = signal('');

/** The marks that people noted, of the server's answer. */
export function notedMarks({ marks: all }: Marks): TimeMark[] {
  return all.map(({ at_ns, text, service, id }) => ({ at_ns, text, service, id }));
}

/** The versions that came to run, as marks. */
export function foundMarks({ changes }: Pick<Versions, 'changes'>): TimeMark[] {
  return changes.map(({ at_ns, service, version }) => ({ at_ns, text: `${version} on ${service}`, service, id: undefined }));
}

/** All in the order of time. Of one version that was found twice, by different ranges, the earlier. */
export function together(...lists: readonly (readonly TimeMark[])[]): TimeMark[] {
  const all = new Map<string, TimeMark>();
  for (const mark of lists.flat()) {
    const name = mark.id === undefined ? mark.text : `#${mark.id}`;
    const known = all.get(name);
    if (known === undefined || mark.at_ns < known.at_ns) all.set(name, mark);
  }
  return [...all.values()].sort((a, b) => a.at_ns - b.at_ns);
}

/** Asks the server for what people noted: after a change, and from time to time. */
export async function readMarks(): Promise<void> {
  try {
    const answer = await ask('marks');
    noted.value = notedMarks(answer);
    damaged.value = answer.damage.join('; ');
  } catch (error) {
    // The page shows a lost server anyway, and one of an older version has no marks.
    if (!(error instanceof Problem)) throw error;
  }
}

const damaged = signal('');
const cut = signal('');

/** The time whose rows were looked at for versions; undefined bounds are open. */
interface Looked {
  readonly from_ns: number | undefined;
  readonly until_ns: number | undefined;
  /** Whether all rows of it were. */
  readonly whole: boolean;
}

/** Whether a range was looked at already. */
export function covers(looked: Looked | undefined, { from_ns, until_ns }: Omit<Looked, 'whole'>): boolean {
  if (looked === undefined) return false;
  if (looked.from_ns === from_ns && looked.until_ns === until_ns) return true;
  return looked.whole && (looked.from_ns ?? -Infinity) <= (from_ns ?? -Infinity) && (looked.until_ns ?? Infinity) >= (until_ns ?? Infinity);
}

/** Notes are a small file; versions are read from rows, so they are looked for once a range, and then at its end. */
const NOTED_EVERY_MS = 15_000;
const VERSIONS_EVERY_MS = 60_000;
/** A range that changes faster is not looked at. */
const CALM_MS = 1_000;
/** Length of the end that is looked at again, in ns: longer than between two looks. */
const END_NS = 180e9;

/** Follows marks for as long as the page is open. Called once. */
export function followMarks(): void {
  let looked: Looked | undefined;
  let asked: Asked<Versions> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (range: Omit<Looked, 'whole'>, keeps: boolean) => {
    asked?.cancel();
    const question = askLong('versions', [['from_ns', range.from_ns], ['until_ns', range.until_ns]]);
    asked = question;
    question.answer.then((answer) => {
      if (!keeps) looked = { ...range, whole: !answer.newest_only };
      found.value = together(found.peek(), foundMarks(answer));
      if (!keeps) cut.value = answer.newest_only ? `versions of services were looked for in the newest ${answer.rows.toLocaleString('en')} rows of the time only` : '';
    }, () => undefined); // a cluster does not know them, and an alarm about a mark would help nobody
  };
  epoch.subscribe(() => void readMarks());
  setInterval(() => {
    if (document.visibilityState === 'visible') void readMarks();
  }, NOTED_EVERY_MS);
  setInterval(() => {
    const until = status.peek()?.covered?.until_ns;
    if (document.visibilityState === 'visible' && looked !== undefined && until !== undefined) look({ from_ns: until - END_NS, until_ns: undefined }, true);
  }, VERSIONS_EVERY_MS);
  effect(() => {
    const { from_ns, until_ns } = moves() ? { from_ns: undefined, until_ns: undefined } : place().selection;
    if (!answered.value || covers(looked, { from_ns, until_ns })) return;
    clearTimeout(timer);
    timer = setTimeout(() => look({ from_ns, until_ns }, false), CALM_MS);
  });
  effect(() => {
    const all = together(noted.value, found.value);
    untracked(() => (marks.value = all));
  });
  effect(() => {
    missingMarks.value = [damaged.value, cut.value].filter((part) => part !== '').join('; ');
  });
}

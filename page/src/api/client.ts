// Asks the server. The only place of the page that does.

import { cancelled, lost, Problem, problemOf } from './problem';
import { connection, heard, token, tokenWanted } from './connection';
import type { AnswerOf, Deleted, Imported, Named, Params, Path, Progress } from './types';

const BASE = '/api/v1';

/** The address of an answer, without what only one asking of it needs. */
export function questionUrl<P extends Path>(path: P, params: Params<NoInfer<P>>): string {
  return url(path, params);
}

type Pairs = readonly (readonly [string, string | number | undefined])[];

function url(path: string, pairs: Pairs): string {
  const query = new URLSearchParams();
  for (const [key, value] of pairs) if (value !== undefined) query.append(key, String(value));
  const text = query.toString();
  return `${BASE}/${path}${text === '' ? '' : `?${text}`}`;
}

async function request(url: string, signal: AbortSignal | null, change?: object | File | 'delete'): Promise<Response> {
  const headers: Record<string, string> = token.peek() === '' ? {} : { authorization: `Bearer ${token.peek()}` };
  const isFile = change instanceof File;
  const how = change === undefined ? {} : change === 'delete' ? { method: 'DELETE' } : { method: 'POST', body: isFile ? change : JSON.stringify(change) };
  if (typeof change === 'object') headers['content-type'] = isFile ? 'application/octet-stream' : 'application/json';
  try {
    return await fetch(url, { headers, signal, cache: 'no-store', ...how });
  } catch {
    if (signal?.aborted === true) throw cancelled();
    connection.value = 'lost';
    throw lost();
  }
}

async function body(response: Response, signal: AbortSignal | null): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (signal?.aborted === true) throw cancelled();
    if (error instanceof SyntaxError) return undefined;
    connection.value = 'lost'; // it broke off in the middle
    throw lost();
  }
}

/** The answer at an address, or a [`Problem`]. `begun` is called when it begins to come. */
async function answered(url: string, signal: AbortSignal | null, begun?: () => void): Promise<unknown> {
  const response = await request(url, signal);
  begun?.();
  const answer = await body(response, signal);
  if (!response.ok) {
    const problem = problemOf(response.status, answer);
    if (problem.kind === 'token') tokenWanted.value = true;
    // A proxy that says that nobody is behind it: the same to the reader as no answer.
    if (response.status === 502) {
      connection.value = 'lost';
      throw lost();
    }
    throw problem;
  }
  if (answer === undefined) throw new Problem('refused', 'The answer is not JSON', 'check for a proxy between browser and server');
  heard();
  return answer;
}

/** Asks what is answered at once. */
export async function ask<P extends Path>(path: P, params: Params<NoInfer<P>> = []): Promise<AnswerOf<P>> {
  return (await answered(questionUrl(path, params), null)) as AnswerOf<P>;
}

/** What people tell the server, by path. */
interface Told {
  /** They take care of an alarm. */
  'rules/acknowledge': { rule: string };
  /** They want to hear nothing of a rule for some seconds; 0: from now on again. */
  'rules/silence': { rule: string; seconds: number };
  /** Something happened. */
  marks: { text: string; at_ns?: number };
  /** An address of the page is to have a name. */
  views: { name: string; address: string };
}

/** Tells the server something. A problem where the server refuses it. */
export async function tell<P extends keyof Told>(path: P, change: Told[P]): Promise<void> {
  await changed(await request(`${BASE}/${path}`, null, change));
}

/** What of the stored rows is changed, and what the server answers, by path. */
interface Changes {
  /** Rows of a time are deleted; not when there are more than were shown. */
  'data/deletion': { asked: { from_ns: number; until_ns: number; rows_max: number }; answer: Deleted };
}

/** Has the server change stored rows. A problem where it refuses. */
export async function change<P extends keyof Changes>(path: P, asked: Changes[P]['asked']): Promise<Changes[P]['answer']> {
  return (await changed(await request(`${BASE}/${path}`, null, asked))) as Changes[P]['answer'];
}

/** Has the server import a file. A problem where it refuses. */
export async function upload(file: File): Promise<Imported> {
  return (await changed(await request(url('data/import', [['name', file.name]]), null, file))) as Imported;
}

/** Removes what has been told. A problem where the server refuses it. */
export async function takeBack(what: 'marks' | 'views', name: string | number): Promise<void> {
  await changed(await request(`${BASE}/${what}/${encodeURIComponent(name)}`, null, 'delete'));
}

async function changed(response: Response): Promise<unknown> {
  const answer = await body(response, null);
  if (response.ok) {
    heard();
    return answer;
  }
  // Not `problemOf`: a token that may only read is no reason to ask for another one.
  const said = answer as { error?: string } | undefined;
  throw new Problem('refused', said?.error ?? `The server answered with status ${response.status}`, '');
}

/** Fetches what is to be saved as a file. */
export async function download<P extends Path>(path: P, params: Params<NoInfer<P>>): Promise<Blob> {
  const response = await request(questionUrl(path, params), null);
  if (!response.ok) throw problemOf(response.status, await body(response, null));
  return await response.blob();
}

type FirstOf<P extends string> = P extends `${infer First}/${string}` ? First : P;

/** First segments of the paths whose questions cannot be named: they do not read the store. */
const NAMELESS = { status: true, rings: true, rules: true, runs: true, data: true, questions: true, marks: true, views: true } satisfies Record<FirstOf<Exclude<Path, Named>>, true>;

/** Whether a question of this path can be followed. */
export function canBeNamed(path: Path): path is Named {
  return !Object.hasOwn(NAMELESS, path.split('/', 1)[0] ?? '');
}

/** Lists of which an answer has a piece only, by path: the entries' field, and what tells them apart. */
const PIECES: Readonly<Partial<Record<Path, readonly [list: string, name: string]>>> = { classes: ['classes', 'name'], paths: ['paths', 'path'] };

/** The whole list of which `first` is the first piece; the later ones are asked for with `more`. What
 * comes twice, because the list grew meanwhile, is there once; an empty piece is the end. */
async function wholeList(path: Path, first: unknown, more: (offset: number) => Promise<unknown>): Promise<unknown> {
  const [field, name] = PIECES[path] ?? [];
  if (field === undefined || name === undefined) return first;
  type Entries = Record<string, unknown>[];
  const whole = first as { total: number } & Record<string, Entries>;
  const all = new Map((whole[field] ?? []).map((entry) => [entry[name], entry]));
  let [offset, total] = [whole[field]?.length ?? 0, whole.total];
  while (offset > 0 && offset < total) {
    const next = (await more(offset)) as typeof whole;
    const entries = next[field] ?? [];
    if (entries.length === 0) break;
    for (const entry of entries) all.set(entry[name], entry);
    offset += entries.length;
    total = next.total;
  }
  return { ...whole, [field]: [...all.values()], total: all.size };
}

let questions = 0;
/** Tells this page's questions from those of others that ask the same server. */
const page = Math.random().toString(36).slice(2, 10);

/** A question under way. */
export interface Asked<T> {
  readonly answer: Promise<T>;
  /** Progress of the question; undefined once the server does not know it, and from then on. */
  progress(): Promise<Progress | undefined>;
  /** Ends it, here and on the server. */
  cancel(): void;
}

/** Asks what may take long: under a name, where it can have one, by which it is followed. */
export function askLong<P extends Path>(path: P, params: Params<NoInfer<P>>): Asked<AnswerOf<P>> {
  questions += 1;
  const id = canBeNamed(path) ? `${page}-${questions}` : undefined;
  const aborter = new AbortController();
  // Ends requests for the progress as soon as the answer begins to arrive: their result has no use.
  const ending = new AbortController();
  const piece = (more: Pairs) =>
    answered(url(path, [...(params as Pairs), ...more, ['question', id]]), aborter.signal, () => ending.abort());
  return {
    answer: piece([]).then((first) => wholeList(path, first, (offset) => piece([['offset', offset]]))) as Promise<AnswerOf<P>>,
    progress: async () => {
      if (id === undefined || ending.signal.aborted) return undefined;
      try {
        const progress = (await answered(`${BASE}/questions/${id}`, ending.signal)) as Progress;
        // One that has ended, or has not come yet, is not underway.
        return progress.state === 'waiting' || progress.state === 'running' ? progress : undefined;
      } catch {
        return undefined; // whatever is wrong, the answer will say it
      }
    },
    // The closed connection ends it on the server as well.
    cancel: () => {
      ending.abort();
      aborter.abort();
    },
  };
}

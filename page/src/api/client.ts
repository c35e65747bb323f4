// Asks the server. The only place of the page that does.

import { cancelled, lost, Problem, problemOf } from './problem';
import { connection, heard, token, tokenWanted } from './connection';
import type { Progress } from './types';

/** Parameters of a question; what is undefined is left out. */
export type Params = readonly (readonly [string, string | number | undefined])[];

const BASE = '/api/v1';

/** The address of an answer, without what only one asking of it needs. */
export function questionUrl(path: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [key, value] of params) if (value !== undefined) query.append(key, String(value));
  const text = query.toString();
  return `${BASE}/${path}${text === '' ? '' : `?${text}`}`;
}

async function request(url: string, method: string, signal: AbortSignal | null): Promise<Response> {
  const headers: Record<string, string> = token.peek() === '' ? {} : { authorization: `Bearer ${token.peek()}` };
  try {
    return await fetch(url, { method, headers, signal, cache: 'no-store' });
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

/** One request, its answer or a [`Problem`]. */
export async function ask<T>(url: string, signal: AbortSignal | null = null): Promise<T> {
  const response = await request(url, 'GET', signal);
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
  if (answer === undefined) throw new Problem('refused', 'The answer is not JSON', 'is there a proxy between?');
  heard();
  return answer as T;
}

/** Fetches what is to be saved as a file. */
export async function download(path: string, params: Params): Promise<Blob> {
  const response = await request(questionUrl(path, params), 'GET', null);
  if (!response.ok) throw problemOf(response.status, await body(response, null));
  return await response.blob();
}

let questions = 0;
/** Tells this page's questions from those of others that ask the same server. */
const page = Math.random().toString(36).slice(2, 10);

/** A question under way. */
export interface Asked<T> {
  readonly answer: Promise<T>;
  /** How far it is; undefined where the server no longer or does not yet knows of it. */
  progress(): Promise<Progress | undefined>;
  /** Ends it, here and on the server. */
  cancel(): void;
}

/** Asks what may take long: under an id, by which it can be watched and cancelled. */
export function askLong<T>(path: string, params: Params): Asked<T> {
  questions += 1;
  const id = `${page}-${questions}`;
  const aborter = new AbortController();
  return {
    answer: ask<T>(questionUrl(path, [...params, ['question', id]]), aborter.signal),
    progress: () => ask<Progress>(`${BASE}/questions/${id}`, aborter.signal).catch(() => undefined),
    cancel: () => {
      // The closed connection cancels as well; the DELETE gets through a proxy that keeps it open.
      // That nobody knows of the question any more is no problem of anyone.
      request(`${BASE}/questions/${id}`, 'DELETE', null).catch(() => undefined);
      aborter.abort();
    },
  };
}

// Reasons why a question was not answered, with hints for the reader.

/** Kind of the problem: the page behaves differently for the first three. */
export type ProblemKind = 'lost' | 'token' | 'cancelled' | 'refused';

/** A question that was not answered. */
export class Problem extends Error {
  constructor(
    readonly kind: ProblemKind,
    message: string,
    /** Hint for the reader; '' for none. */
    readonly hint: string,
  ) {
    super(message);
    this.name = 'Problem';
  }
}

/** The server did not answer at all. */
export function lost(): Problem {
  return new Problem('lost', 'The server does not respond', 'the page retries until the server responds');
}

/** The reader, or the next question, ended this one. */
export function cancelled(): Problem {
  return new Problem('cancelled', 'Cancelled', '');
}

/** The problem that a status and a body describe. A body from elsewhere (a proxy's page) is not repeated. */
export function problemOf(status: number, body: unknown): Problem {
  const said = text(body, 'error');
  const hint = text(body, 'hint') ?? HINTS[status] ?? '';
  if (status === 401 || status === 403) {
    return new Problem('token', said ?? 'The server requires a token', hint);
  }
  if (status === 409) return cancelled();
  return new Problem('refused', said ?? `The server answered with status ${status}`, hint);
}

const HINTS: Readonly<Record<number, string>> = {
  404: 'it may have been deleted for its age, or the server is older than the page',
  500: 'see the server’s log',
  502: 'a proxy cannot reach the server',
  503: 'the server is busy or ends; ask again in a moment',
  504: 'a proxy lost its patience; a shorter time range is answered sooner',
};

function text(body: unknown, field: 'error' | 'hint'): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const value = (body as Record<string, unknown>)[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

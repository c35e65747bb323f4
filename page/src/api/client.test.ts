import { beforeEach, describe, expect, it, vi } from 'vitest';

// What a browser has and the module reads as it is loaded.
vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined });
const { askLong, canBeNamed, questionUrl } = await import('./client');

describe('a question', () => {
  it('has an address without what is not said', () => {
    expect(questionUrl('chains', [['root', 'A::b'], ['leaf', undefined], ['limit', 3]])).toBe('/api/v1/chains?root=A%3A%3Ab&limit=3');
    expect(questionUrl('rings', [])).toBe('/api/v1/rings');
  });

  it('has a name where it reads the store, as the API has it', () => {
    expect(['scatter', 'now', 'chains/abc'].map((path) => canBeNamed(path as 'scatter'))).toEqual([true, true, true]);
    expect(['status', 'rings', 'rings/12', 'runs/diff'].map((path) => canBeNamed(path as 'status'))).toEqual([false, false, false, false]);
  });
});

describe('the progress of a question', () => {
  /** Answers each address when the test says so. */
  const waiting = new Map<string, (response: Response) => void>();
  const asked: string[] = [];
  beforeEach(() => {
    waiting.clear();
    asked.length = 0;
    vi.stubGlobal('fetch', (url: string, { signal }: { signal: AbortSignal | null }) => {
      asked.push(url);
      return new Promise<Response>((resolve, reject) => {
        waiting.set(url, resolve);
        signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      });
    });
  });
  const answer = (start: string, body: object) => {
    const url = asked.find((each) => each.startsWith(start));
    waiting.get(url ?? '')?.(new Response(JSON.stringify(body)));
  };

  it('is the server’s while it is being answered, and is not asked for once the answer comes', async () => {
    const question = askLong('scatter', []);
    const told = question.progress();
    answer('/api/v1/questions/', { state: 'running', done: 1, total: 2 });
    expect(await told).toEqual({ state: 'running', done: 1, total: 2 });
    answer('/api/v1/scatter', { total: 7 });
    expect(await question.answer).toEqual({ total: 7 });
    expect(await question.progress()).toBeUndefined();
    expect(asked).toHaveLength(2);
  });

  it('that was asked for as the answer came is not waited for', async () => {
    const question = askLong('scatter', []);
    const told = question.progress();
    answer('/api/v1/scatter', { total: 7 });
    expect(await told).toBeUndefined();
    expect(await question.answer).toEqual({ total: 7 });
  });

  it('is not asked for where a question has no name', async () => {
    const question = askLong('rings', []);
    expect(await question.progress()).toBeUndefined();
    expect(asked).toEqual(['/api/v1/rings']);
  });

  it('ends with the question', async () => {
    const question = askLong('scatter', []);
    const told = question.progress();
    question.cancel();
    await expect(question.answer).rejects.toMatchObject({ kind: 'cancelled' });
    expect(await told).toBeUndefined();
  });
});

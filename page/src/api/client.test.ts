import { beforeEach, describe, expect, it, vi } from 'vitest';

// The module reads this browser object while it is loaded.
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

describe('a list that comes in pieces', () => {
  it.each([
    ['classes', 'classes', 'name'],
    ['paths', 'paths', 'path'],
  ] as const)('is asked for to its end: %s', async (path, field, name) => {
    const all = Array.from({ length: 25_000 }, (_, number) => ({ [name]: `A::${number}` }));
    const asked: string[] = [];
    vi.stubGlobal('fetch', (url: string) => {
      asked.push(url);
      const offset = Number(new URL(url, 'http://server').searchParams.get('offset') ?? 0);
      // The list has grown by one at its front once it was asked for.
      const list = offset === 0 ? all : [{ [name]: 'A::new' }, ...all];
      const body = { [field]: list.slice(offset, offset + 10_000), total: list.length, damage: [] };
      return Promise.resolve(new Response(JSON.stringify(body)));
    });
    const answer = (await askLong(path, [['from_ns', 5]]).answer) as unknown as Record<string, Record<string, string>[]> & { total: number };
    expect(asked.map((url) => new URL(url, 'http://server').searchParams.get('offset'))).toEqual([null, '10000', '20000']);
    expect(asked.every((url) => url.includes('from_ns=5'))).toBe(true);
    expect(new Set(answer[field]?.map((entry) => entry[name])).size).toBe(25_000);
    expect([answer[field]?.length, answer.total]).toEqual([25_000, 25_000]);
  });

  it('ends where a server has no more, whatever it said', async () => {
    let times = 0;
    vi.stubGlobal('fetch', () => {
      times += 1;
      const classes = times === 1 ? [{ name: 'A::b' }] : [];
      return Promise.resolve(new Response(JSON.stringify({ classes, total: 9, damage: [] })));
    });
    const answer = await askLong('classes', []).answer;
    expect([answer.classes.length, times]).toEqual([1, 2]);
  });
});

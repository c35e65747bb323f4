// Which functions of a page and of its workers take the processor's time, from the browser's own trace.

const CATEGORIES = ['__metadata', 'disabled-by-default-v8.cpu_profiler', 'v8'];
/** So many are named of each thread. */
const NAMED = 12;

/** Begins; what it returns ends it and gives lines: of each thread that runs JavaScript the functions that took the most, ms
 * of one of `frames`. */
export async function profile(browser, page) {
  await browser.startTracing(page, { categories: CATEGORIES });
  return async (frames) => linesOf(JSON.parse((await browser.stopTracing()).toString()).traceEvents, Math.max(1, frames));
}

function linesOf(events, frames) {
  const names = new Map(events.filter(({ name }) => name === 'thread_name').map(({ pid, tid, args }) => [`${pid}/${tid}`, args.name]));
  const threads = new Map(); // by profile: where it was begun, its functions, their ms
  for (const { name, pid, tid, id, args } of events) {
    const key = `${pid}/${id}`;
    if (name === 'Profile') threads.set(key, { thread: `${names.get(`${pid}/${tid}`) ?? 'a thread'} ${tid}`, functions: new Map(), ms: new Map() });
    if (name === 'ProfileChunk') take(threads.get(key), args.data);
  }
  return [...threads.values()].map(({ thread, ms }) => {
    const most = [...ms].filter(([name]) => name !== '(idle)').sort(([, a], [, b]) => b - a).slice(0, NAMED);
    return `${thread}: ${most.map(([name, sum]) => `${name} ${(sum / frames).toFixed(2)}`).join(', ')}`;
  });
}

/** Adds a piece of a profile to its thread's sums. */
function take(thread, { cpuProfile, timeDeltas = [] }) {
  if (thread === undefined || cpuProfile === undefined) return;
  for (const { id, callFrame: { functionName, url = '', lineNumber } } of cpuProfile.nodes ?? []) {
    thread.functions.set(id, functionName === '' ? `${url.slice(url.lastIndexOf('/') + 1)}:${lineNumber}` : functionName);
  }
  (cpuProfile.samples ?? []).forEach((sample, index) => {
    const name = thread.functions.get(sample) ?? 'unknown';
    thread.ms.set(name, (thread.ms.get(name) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  });
}

// Processor time of a browser's processes, by what they do for a page whose picture is drawn by a worker (Linux:
// it reads /proc, in ticks of 10 ms).
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** What a frame takes, in the order in which it passes: the page's workers; the page's own thread, with style and
 * layout; the other threads of its process, which hand the picture on; the process that composes pictures, the GPU's or
 * in its place; and the rest. */
export const GROUPS = ['workers', 'page', 'handing on', 'composing', 'other'];

function listed(folder) {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name)).map(Number).sort((a, b) => a - b);
  } catch {
    return []; // it has ended meanwhile
  }
}

/** Name, parent and processor time of a process or a thread; undefined when it has ended. */
function statOf(folder) {
  try {
    const stat = readFileSync(`${folder}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')), parent: Number(fields[1]), ms: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
  } catch {
    return undefined;
  }
}

/** What a process is for: renderer, gpu-process, utility, or nothing for the browser itself. */
function typeOf(pid) {
  try {
    return /--type=([a-z-]+)/.exec(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.[1] ?? '';
  } catch {
    return '';
  }
}

export class BrowserTime {
  /** `pid`: the browser's first process; all others descend from it. */
  constructor(pid) {
    this.pid = pid;
  }

  /** The processes there are. */
  processes() {
    const all = new Map(listed('/proc').map((pid) => [pid, statOf(`/proc/${pid}`)]));
    const isOurs = (pid) => pid === this.pid || (all.get(pid) !== undefined && isOurs(all.get(pid).parent));
    return [...all.keys()].filter(isOurs);
  }

  /** Of each thread so far: its process and number, name, group and ms. */
  threads() {
    return new Map(this.processes().flatMap((pid) => {
      const type = typeOf(pid);
      return listed(`/proc/${pid}/task`).flatMap((task) => {
        const stat = statOf(`/proc/${pid}/task/${task}`);
        if (stat === undefined) return [];
        const isWorker = type === 'renderer' && stat.name.startsWith('DedicatedWorker');
        const group = isWorker ? 'workers' : type === 'gpu-process' ? 'composing' : type !== 'renderer' ? 'other' : task === pid ? 'page' : 'handing on';
        return [[`${pid}/${task}`, { name: isWorker ? `worker ${task}` : task === pid ? `main thread: ${type || 'browser'}` : stat.name.replace(/[\d/]+$/, ''), group, ms: stat.ms }]];
      });
    }));
  }
}

/** Processor time between two looks at the threads by group, and in all, ms. */
export function byGroup(before, after) {
  const sums = Object.fromEntries(GROUPS.map((group) => [group, 0]));
  for (const [key, { group, ms }] of after) sums[group] += ms - (before.get(key)?.ms ?? 0);
  return { ...sums, all: Object.values(sums).reduce((sum, ms) => sum + ms, 0) };
}

/** The busiest threads between two looks, and their share of the time. */
export function busiest(before, after, elapsed) {
  const shares = [...after].map(([key, { name, ms }]) => ({ name, share: (ms - (before.get(key)?.ms ?? 0)) / elapsed }));
  return shares.sort((a, b) => b.share - a.share).slice(0, 4);
}

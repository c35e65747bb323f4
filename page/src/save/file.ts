// Files that the reader keeps: their names say what they show, and of which time.

/** An instant in a file's name, UTC: 20261127T105800Z. */
function instant(ns: number): string {
  const date = new Date(Math.floor(ns / 1e6));
  return Number.isNaN(date.getTime()) ? 'unknown' : `${date.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** The time that a file is about: its bounds, as far as they are known; else when it was saved. UTC ns. */
export interface About {
  readonly from_ns: number | undefined;
  readonly until_ns: number | undefined;
  readonly saved_ns: number;
}

/** Longest part of a name that a title makes. */
const TITLE_MAX = 60;

/** The name of a file: view, title and time, in letters that every file system takes. */
export function fileName(view: string, title: string, { from_ns, until_ns, saved_ns }: About, ending: string): string {
  const slug = title.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, TITLE_MAX).replaceAll(/^-|-$/g, '');
  const time = from_ns === undefined && until_ns === undefined ? instant(saved_ns)
    : `${from_ns === undefined ? '' : instant(from_ns)}-to-${instant(until_ns ?? saved_ns)}`;
  return `${[view, ...(slug === '' || slug === view ? [] : [slug]), time.replace(/^-/, '')].join('-')}.${ending}`;
}

/** Has the browser save a file. */
export function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken it by the next turn.
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

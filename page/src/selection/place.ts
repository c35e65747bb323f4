// Where the reader is: a view, and what it is about. All of it is in the URL, so that a link, the
// back button and a reload lead to the same picture; nothing of it is kept elsewhere.
//
//   /scatter?root=MRTS::decodePlots&leaf=CWP::TargetView_redraw&from_ns=…&scale=log
//   /chain/0123456789abcdef?near_ns=…
//
// Parameters named as the API names them, and `last_ns` and `paused_ns`, are the selection and go along
// from view to view; all others belong to the view that is shown and stay behind when it is left.

import type { Selection } from '../api/types';

/** Every view, in the order of the tabs. */
export const VIEWS = [
  'now', 'scatter', 'histogram', 'groups', 'chain', 'graph', 'compare', 'worst', 'rings', 'hosts', 'runs', 'data',
] as const;
export type View = (typeof VIEWS)[number];

/** The view of an address without one. */
export const FIRST_VIEW: View = 'scatter';

/** A time counted back from now, which the API does not know: it is asked with the starts that this is at the moment. */
export interface Relative {
  /** Length of the range that ends now, in ns; never together with `from_ns` or `until_ns` in an address. */
  readonly last_ns?: number;
  /** The instant used as now while paused: UTC ns since 1970. */
  readonly paused_ns?: number;
}

/** The selection as it stands in the address. */
export type Selected = Selection & Relative;

/** One address of the page. */
export interface Place {
  readonly view: View;
  /** The single thing that the view shows: a chain's id, or a process; otherwise ''. */
  readonly item: string;
  readonly selection: Selected;
  /** Parameters of this view alone: its scale, its brush. */
  readonly own: Readonly<Record<string, string>>;
}

/** The place that an address leads to, and the parts that were not understood (and left out), in words. */
export interface Parsed {
  readonly place: Place;
  readonly refused: readonly string[];
}

/** Nanoseconds, whole and within what the API takes. `least` is 0 for durations and times alike. */
function nanoseconds(text: string): number | undefined {
  if (!/^\d{1,19}$/.test(text)) return undefined;
  const value = Number(text);
  return value < 2 ** 63 ? value : undefined;
}

const oneOf = (...words: readonly string[]) => (text: string) => (words.includes(text) ? text : undefined);
const words = (text: string) => (text === '' ? undefined : text);
const level = (text: string) => (text === 'any' || /^\d{1,5}$/.test(text) ? text : undefined);

/** The field that may be given several times: filters by attributes. */
const FILTERS = 'where';
type Single = Exclude<keyof Selection, typeof FILTERS>;

/** The parser of each other field of the selection; the order is that of the fields in a URL. */
const FIELDS: { readonly [K in Single]: (text: string) => string | number | undefined } = {
  kind: oneOf('acpd', 'apcd', 'sync'),
  root: words,
  leaf: words,
  level,
  path: words,
  hosts: words,
  from_ns: nanoseconds,
  until_ns: nanoseconds,
  min_ns: nanoseconds,
  max_ns: nanoseconds,
  limit_ns: nanoseconds,
  clocks: oneOf('raw', 'corrected'),
};

/** The fields of a relative time, as they are read. */
const RELATIVE: { readonly [K in keyof Required<Relative>]: typeof nanoseconds } = { last_ns: nanoseconds, paused_ns: nanoseconds };

function isRelative(name: string): name is keyof Relative {
  return Object.hasOwn(RELATIVE, name);
}

function isField(name: string): name is Single {
  return Object.hasOwn(FIELDS, name);
}

function isView(name: string): name is View {
  return (VIEWS as readonly string[]).includes(name);
}

/** Reads an address. What cannot be understood is left out and said; nothing throws. */
export function parsePlace(pathname: string, search: string): Parsed {
  const refused: string[] = [];
  const [, name = '', ...rest] = pathname.split('/');
  let view: View = FIRST_VIEW;
  if (isView(name)) view = name;
  else if (name !== '') refused.push(`there is no view called “${name}”`);
  const item = decode(rest.join('/'));
  if (item === undefined) refused.push(`“${rest.join('/')}” is not properly encoded`);

  const selection: Record<string, string | number> = {};
  const filters: string[] = [];
  const own: Record<string, string> = {};
  for (const [key, text] of new URLSearchParams(search)) {
    if (key === FILTERS) {
      if (isFilter(text)) filters.push(text);
      else refused.push(`${key}=${text}`);
      continue;
    }
    if (!isField(key) && !isRelative(key)) {
      own[key] = text;
      continue;
    }
    const value = isField(key) ? FIELDS[key](text) : RELATIVE[key](text);
    if (value === undefined) refused.push(`${key}=${text}`);
    else selection[key] = value;
  }
  refused.push(...contradictions(selection));
  const all = filters.length === 0 ? selection : { ...selection, [FILTERS]: filters };
  return { place: { view, item: item ?? '', selection: all, own }, refused };
}

/** Whether a text is a filter by an attribute: `KEY`, `KEY=VALUE` or `KEY!=VALUE`. */
export function isFilter(text: string): boolean {
  return /^(?:root\.|leaf\.)?[^=!]/.test(text) && !/^(?:root|leaf)\.(?:!?=|$)/.test(text);
}

/** Takes away what contradicts itself: a time counted back from now beside fixed ones, a pause of nothing. */
function contradictions(selection: Record<string, string | number>): string[] {
  const fixed = 'from_ns' in selection || 'until_ns' in selection;
  const taken = (Object.keys(RELATIVE) as (keyof Relative)[]).filter((key) => key in selection && (fixed || !('last_ns' in selection)));
  return taken.map((key) => {
    const said = `${key}=${String(selection[key])}`;
    Reflect.deleteProperty(selection, key);
    return said;
  });
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // a lone % from a link that was cut off
  }
}

/** The fields that are set, as the API and the URL take them. */
export function selectionParams<K extends keyof Selection = keyof Selection>(selection: Pick<Selection, K>): [K, string][] {
  const single = (Object.keys(FIELDS) as K[]).flatMap((key) => {
    const value = selection[key];
    return value === undefined ? [] : [[key, String(value)] satisfies [K, string]];
  });
  const filters = (selection as Selection)[FILTERS] ?? [];
  return [...single, ...filters.map((filter): [K, string] => [FILTERS as K, filter])];
}

/** The address of a place: path and query, to be put behind the origin. */
export function formatPlace(place: Place): string {
  const params = new URLSearchParams(selectionParams(place.selection));
  for (const key of Object.keys(RELATIVE) as (keyof Relative)[]) {
    const value = place.selection[key];
    if (value !== undefined) params.append(key, String(value));
  }
  for (const [key, value] of Object.entries(place.own)) params.append(key, value);
  const item = place.item === '' ? '' : `/${encodeURIComponent(place.item)}`;
  // Colons and commas need no escape in a query, and class names are full of colons.
  const query = params.toString().replaceAll('%3A', ':').replaceAll('%2C', ',');
  return `/${place.view}${item}${query === '' ? '' : `?${query}`}`;
}

/** A change of the selection; setting fixed starts removes the relative time range. */
export type SelectionChange = { readonly [K in keyof Selected]?: Selected[K] | undefined };

/** A change from one place to the next. In `selection` and `own`, `undefined` removes a field. */
export interface Change {
  readonly view?: View;
  readonly item?: string;
  readonly selection?: SelectionChange;
  readonly own?: Readonly<Record<string, string | undefined>>;
}

/** The place after a change. Another view or item starts without parameters of its own. */
export function changed(place: Place, change: Change): Place {
  const view = change.view ?? place.view;
  const item = change.item ?? (view === place.view ? place.item : '');
  const stays = view === place.view && item === place.item;
  return {
    view,
    item,
    selection: merged(place.selection, withRelative(change.selection)),
    own: merged<Record<string, string>>(stays ? place.own : {}, change.own),
  };
}

function withRelative(change: SelectionChange | undefined): SelectionChange | undefined {
  if (change === undefined) return undefined;
  if (change.last_ns !== undefined) return { paused_ns: undefined, ...change, from_ns: undefined, until_ns: undefined };
  return 'from_ns' in change || 'until_ns' in change ? { ...change, last_ns: undefined, paused_ns: undefined } : change;
}

/**
 * The place with the starts that a time counted back from now is at the moment, where the store has
 * rows until `nowNs`: what is asked and drawn. One that is unknown leaves them open.
 */
export function resolved(place: Place, nowNs: number | undefined): Place {
  const { last_ns, paused_ns } = place.selection;
  const until = paused_ns ?? nowNs;
  if (last_ns === undefined || until === undefined) return place;
  const starts = { from_ns: Math.max(0, until - last_ns), ...(paused_ns === undefined ? {} : { until_ns: paused_ns }) };
  return { ...place, selection: { ...place.selection, ...starts } };
}

/** Whether the starts move by themselves. */
export function moving({ selection: { last_ns, paused_ns } }: Place): boolean {
  return last_ns !== undefined && paused_ns === undefined;
}

function merged<T extends object>(base: T, over: object | undefined): T {
  const entries = Object.entries({ ...base, ...over }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as T;
}

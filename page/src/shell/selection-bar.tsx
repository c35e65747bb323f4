import { useEffect, useId, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { status } from '../api/connection';
import { answered, useQuestion } from '../api/question';
import type { PathSummary, Selection } from '../api/types';
import { exactTime, formatDuration, formatRange, formatTime, parseTime } from '../draw/format';
import { classes, firstChoice, leaves, levels, roots } from '../selection/choices';
import { go, moves, place } from '../selection/current';
import { held, pauseOrGoOn } from '../selection/live';
import { isFilter, type Selected } from '../selection/place';
import type { Entry } from '../views/registry';
import { Choice, DurationInput, TextInput } from './inputs';

/** The selection, common to all views. Every field is in the address; nothing is chosen twice. */
export function SelectionBar({ entry }: { entry: Entry }) {
  const chains = entry.fields === 'chains';
  const { selection } = place();
  // Where the address names the selection, the list of choices can wait for the first picture.
  const choiceWaits = useFirst(FIRST_MS) && entry.needsRoot && selection.root !== undefined && !answered.value;
  const [open, setOpen] = useState(false);
  const fields = useId();
  const paths = useQuestion(chains && !choiceWaits ? 'paths' : null);
  const known = paths.answer?.paths ?? NONE;

  useEffect(() => {
    const first = entry.needsRoot && selection.root === undefined ? firstChoice(known) : undefined;
    if (first !== undefined) go({ selection: first }, true);
  }, [known, entry, selection.root]);

  return (
    <form id="selection" class={`selection${open ? ' open' : ''}`} role="search" aria-label="Selection" onSubmit={(event) => event.preventDefault()}>
      <button type="button" class="selection-fold" aria-expanded={open} aria-controls={fields} onClick={() => setOpen(!open)}>
        <span class="words">{inWords(selection, chains)}</span> <span aria-hidden="true">{open ? '▴' : '▾'}</span>
      </button>
      <div class="selection-fields" id={fields}>
      {chains && <Classes paths={known} selection={selection} />}
      <TimeRange selection={selection} />
      {chains && (
        <Field label="Duration">
          <DurationInput label="shortest duration" value={selection.min_ns} empty="any" change={(min_ns) => go({ selection: { min_ns } })} />
          <span aria-hidden="true">–</span>
          <DurationInput label="longest duration" value={selection.max_ns} empty="any" change={(max_ns) => go({ selection: { max_ns } })} />
        </Field>
      )}
      {chains && (
        <Field label="Limit">
          <DurationInput label="longest allowed duration" value={selection.limit_ns} empty="none" change={(limit_ns) => go({ selection: { limit_ns } })} />
        </Field>
      )}
      {entry.fields !== 'time' && (
        <Field label="Hosts">
          <TextInput label="hosts, separated by commas" value={selection.hosts ?? ''} empty="all" width={9}
            read={(text) => ({ value: text.split(',').map((host) => host.trim()).filter(Boolean).join(',') })}
            change={(hosts) => go({ selection: { hosts: hosts === '' ? undefined : hosts } })} />
        </Field>
      )}
      {chains && <Filters filters={selection.where ?? []} />}
      {chains && status.value?.has.clocks === true && <Clocks selection={selection} />}
      {selection.path !== undefined && (
        <button type="button" class="chip" title="Take every path" onClick={() => go({ selection: { path: undefined } })}>
          path: {selection.path} <span aria-label="take away">×</span>
        </button>
      )}
      <button type="button" class="plain" onClick={() => go({ selection: CLEARED })} title="All times, hosts, attributes, paths and durations">Clear</button>
      </div>
    </form>
  );
}

/** Not every view asks something at once: what waits for its first answer waits no longer than this. */
const FIRST_MS = 2000;

/** Whether less than this has passed since it was shown. */
function useFirst(ms: number): boolean {
  const [first, setFirst] = useState(true);
  useEffect(() => {
    const timer = setTimeout(() => setFirst(false), ms);
    return () => clearTimeout(timer);
  }, []);
  return first;
}

const NONE: readonly PathSummary[] = [];
const CLEARED: { readonly [K in keyof Selection]?: undefined } = {
  from_ns: undefined, until_ns: undefined, min_ns: undefined, max_ns: undefined, hosts: undefined,
  path: undefined, level: undefined, where: undefined,
};

/** A label with what it labels beside it. */
function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return <div class="field" role="group" aria-label={label}><span class="label" aria-hidden="true">{label}</span>{children}</div>;
}

function Classes({ paths, selection }: { paths: readonly PathSummary[]; selection: Selection }) {
  const { kind = 'acpd', root, leaf, level = 'any' } = selection;
  const rootChoices = kind === 'sync' ? classes(paths) : roots(paths);
  const another = { path: undefined, level: undefined };
  return (
    <>
      <Field label="Measure">
        <Choice label="which duration" value={kind} choices={['acpd', 'apcd', 'sync']} say={(name) => KINDS[name] ?? name}
          change={(next) => go({ selection: { ...another, kind: next as NonNullable<Selection['kind']>, ...(next === 'acpd' ? {} : { leaf: undefined }) } })} />
      </Field>
      <Field label={kind === 'sync' ? 'Class' : 'From'}>
        <Choice label={kind === 'sync' ? 'class' : 'root'} value={root} choices={rootChoices}
          change={(next) => {
            const below = leaves(paths, next);
            go({ selection: { ...another, root: next, leaf: kind !== 'acpd' ? undefined : leaf !== undefined && below.includes(leaf) ? leaf : below[0] } });
          }} />
      </Field>
      {kind === 'acpd' && (
        <>
          <Field label="to">
            <Choice label="leaf" value={leaf} choices={root === undefined ? [] : leaves(paths, root)}
              change={(next) => go({ selection: { ...another, leaf: next } })} />
          </Field>
          <Field label="Level">
            <Choice label="level" value={level} choices={['any', ...(root === undefined || leaf === undefined ? [] : levels(paths, { root, leaf }).map(String))]}
              change={(next) => go({ selection: { path: undefined, level: next === 'any' ? undefined : next } })} />
          </Field>
        </>
      )}
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  acpd: 'ACPD: root to leaf', apcd: 'APCD: whole chain', sync: 'one class',
};

/** Filters by attributes: those that hold, each to be taken away, and a field for one more. */
function Filters({ filters }: { filters: readonly string[] }) {
  const [draft, setDraft] = useState('');
  // Names and values are read from rows: only where somebody is about to type one.
  const [typing, setTyping] = useState(false);
  const id = useId();
  const key = /^(?:root\.|leaf\.)?([^=!]+)!?=/.exec(draft);
  const names = useQuestion(typing && key === null ? 'attributes' : null);
  const values = useQuestion(typing && key !== null ? 'attributes/values' : null, [['name', key?.[1] ?? '']]);
  const choices = key === null ? (names.answer?.names ?? []).map((name) => name.key)
    : (values.answer?.values ?? []).map(({ value }) => key[0] + value);
  const change = (next: string[]) => go({ selection: { where: next.length === 0 ? undefined : next } });
  const add = (text: string) => {
    if (!isFilter(text)) return;
    setDraft('');
    if (!filters.includes(text)) change([...filters, text]);
  };
  const refused = draft !== '' && !isFilter(draft);
  return (
    <Field label="Attributes">
      {filters.map((filter) => (
        <button key={filter} type="button" class="chip" title="Take this filter away" onClick={() => change(filters.filter((other) => other !== filter))}>
          {filter} <span aria-label="take away">×</span>
        </button>
      ))}
      <span class="input">
        <input type="text" style={{ '--letters': 14 }} spellcheck={false} autocomplete="off" list={id} placeholder={filters.length === 0 ? 'any' : 'and'}
          aria-label="filter by an attribute" title="KEY, KEY=VALUE or KEY!=VALUE, then Enter" value={draft} aria-invalid={refused}
          onFocus={() => setTyping(true)} onBlur={() => setTyping(false)}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') add(event.currentTarget.value);
          }} />
        <datalist id={id}>{choices.map((choice) => <option key={choice} value={choice} />)}</datalist>
        {refused && <span class="refused" role="alert">a key, or a key with a value: tenant=acme</span>}
      </span>
    </Field>
  );
}

function Clocks({ selection }: { selection: Selection }) {
  return (
    <Field label="Clocks">
      <Choice label="clocks" value={selection.clocks ?? 'raw'} choices={['raw', 'corrected']}
        change={(next) => go({ selection: { clocks: next === 'corrected' ? 'corrected' : undefined } })} />
    </Field>
  );
}

/** The selection in one line, shown where the fields are folded away. */
function inWords({ root, leaf, from_ns, until_ns, last_ns }: Selected, chains: boolean): string {
  const what = !chains || root === undefined ? [] : [leaf === undefined ? root : `${root} → ${leaf}`];
  const when = last_ns !== undefined ? `last ${formatDuration(last_ns)}` : from_ns !== undefined && until_ns !== undefined ? formatRange(from_ns, until_ns)
    : from_ns !== undefined ? `from ${formatTime(from_ns, 0)}` : until_ns !== undefined ? `until ${formatTime(until_ns, 0)}` : 'all times';
  return [...what, when].join(' · ');
}

const PRESETS: readonly (readonly [string, number])[] = [
  ['last 10 s', 10e9], ['last minute', 60e9], ['last 10 min', 600e9], ['last hour', 3600e9], ['last day', 86_400e9],
];

/** The range of time, UTC. A preset counts back from the last chain of the store, and goes on with it. */
function TimeRange({ selection }: { selection: Selected }) {
  const { from_ns, until_ns, last_ns } = selection;
  const covered = status.value?.covered ?? undefined;
  const near = from_ns ?? covered?.from_ns ?? 0;
  const read = (text: string) => {
    if (text.trim() === '') return { value: undefined };
    const value = parseTime(text, near);
    return value === undefined ? { error: 'a time, UTC, as 10:00:01.5 or 2026-11-23 10:00' } : { value };
  };
  // A relative time range is not written into the fields: they must not change while the user types.
  const shown = (ns: number | undefined) => (ns === undefined || last_ns !== undefined ? '' : exactTime(ns));
  const empty = (ns: number | undefined, otherwise: string) => (ns === undefined ? otherwise : formatTime(ns, 0));
  const named = PRESETS.find(([, span]) => span === last_ns)?.[0] ?? (last_ns === undefined ? undefined : `last ${formatDuration(last_ns)}`);
  const value = named ?? (from_ns === undefined && until_ns === undefined ? 'all' : 'range');
  const preset = (text: string) => {
    const span = PRESETS.find(([name]) => name === text)?.[1];
    go({ selection: span === undefined ? { from_ns: undefined, until_ns: undefined } : { last_ns: span } });
  };
  return (
    <Field label="Time">
      <select aria-label="time range" value={value} onChange={(event) => preset(event.currentTarget.value)}>
        {!['all', ...PRESETS.map(([name]) => name)].includes(value) && <option value={value} selected disabled>{value}</option>}
        <option value="all" selected={value === 'all'}>all</option>
        {PRESETS.map(([name]) => <option key={name} value={name} selected={name === value}>{name}</option>)}
      </select>
      <TextInput label="first start, UTC" value={shown(from_ns)} empty={empty(last_ns === undefined ? covered?.from_ns : from_ns, 'from')} width={19}
        read={read} change={(from) => go({ selection: { from_ns: from, until_ns } })} />
      <span aria-hidden="true">–</span>
      <TextInput label="end of starts, UTC" value={shown(until_ns)} empty={empty(last_ns === undefined ? covered?.until_ns : until_ns, last_ns === undefined ? 'until' : 'now')} width={19}
        read={read} change={(until) => go({ selection: { from_ns, until_ns: until } })} />
      {last_ns !== undefined && <Pause />}
    </Field>
  );
}

/** Whether a time that is counted back from now goes on. */
function Pause() {
  const goesOn = moves();
  return (
    <>
      <button type="button" onClick={pauseOrGoOn} aria-pressed={!goesOn} title="key P">Pause</button>
      <span class="quiet" role="status">{!goesOn ? 'stands still' : held() ? 'not refreshed while chains are selected' : 'refreshed every 5 s'}</span>
    </>
  );
}

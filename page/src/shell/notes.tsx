// What people noted, in one sheet: named views and marks, and fields for one more of each.

import type { Signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { takeBack, tell } from '../api/client';
import { formatTime, parseTime } from '../draw/format';
import { go, goToAddress, here, place } from '../selection/current';
import { marks, missingMarks, readMarks, type TimeMark } from '../selection/marks';
import { linkTo, namedViews, readNamedViews, type NamedView } from '../selection/named';

/** The sheet of named views and marks. */
export function Notes({ open }: { open: Signal<boolean> }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  /** Does what changes something, and shows what the server made of it, or why it refused. */
  const attempt = (change: Promise<unknown>) => {
    setProblem('');
    change.then(() => Promise.all([readNamedViews(), readMarks()])).catch((error: unknown) => { setProblem(error instanceof Error ? error.message : String(error)); });
  };
  useEffect(() => {
    if (!open.value) return;
    attempt(Promise.resolve());
    dialog.current?.showModal();
  }, [open.value]);
  const close = () => dialog.current?.close();
  return (
    <dialog ref={dialog} class="sheet" aria-labelledby="notes-title" onClose={() => (open.value = false)}>
      <h2 id="notes-title">Named views and marks</h2>
      {problem !== '' && <p class="notice problem" role="alert">{problem}</p>}
      <section aria-label="Named views">
        <h3>Named views</h3>
        {namedViews.value.length === 0 ? <p class="quiet">None yet.</p> : (
          <ul class="notes">{namedViews.value.map((view) => <View key={view.name} view={view} close={close} attempt={attempt} />)}</ul>
        )}
        <NewNote label="Name of this view" button="Name this view" add={(name) => attempt(tell('views', { name, address: here() }))} />
      </section>
      <section aria-label="Marks">
        <h3>Marks</h3>
        {marks.value.length === 0 ? <p class="quiet">None yet.</p> : (
          <ul class="notes">{[...marks.value].reverse().map((mark) => <OneMark key={`${mark.at_ns} ${mark.text}`} mark={mark} close={close} attempt={attempt} />)}</ul>
        )}
        {missingMarks.value !== '' && <p class="quiet">{missingMarks.value}.</p>}
        <NewMark attempt={attempt} />
      </section>
      <form method="dialog"><button type="submit" autofocus>Close</button></form>
    </dialog>
  );
}

interface Attempting {
  readonly attempt: (change: Promise<unknown>) => void;
  readonly close: () => void;
}

function View({ view: { name, address, by }, close, attempt }: Attempting & { view: NamedView }) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    close();
    goToAddress(address);
  };
  return (
    <li>
      <a href={linkTo(name)} title={address} onClick={follow}>{name}</a>
      {by !== '' && <span class="quiet">by {by}</span>}
      <button type="button" aria-label={`Remove the name ${name}`} onClick={() => attempt(takeBack('views', name))}>Remove</button>
    </li>
  );
}

/** Time that is shown on each side of a mark where no range is selected, in ns. */
const AROUND_NS = 600e9;

function OneMark({ mark: { at_ns, text, service, id }, close, attempt }: Attempting & { mark: TimeMark }) {
  const show = () => {
    const { from_ns, until_ns } = place().selection;
    const half = from_ns !== undefined && until_ns !== undefined ? (until_ns - from_ns) / 2 : AROUND_NS;
    close();
    go({ selection: { from_ns: Math.max(0, Math.floor(at_ns - half)), until_ns: Math.ceil(at_ns + half) } });
  };
  return (
    <li>
      <button type="button" class="plain" title="Show the time around it" onClick={show}>{formatTime(at_ns, 0)} {text}</button>
      {id === undefined ? <span class="quiet">found in rows</span> : (
        <>
          {service !== '' && <span class="quiet">{service}</span>}
          <button type="button" aria-label={`Remove the mark ${text}`} onClick={() => attempt(takeBack('marks', id))}>Remove</button>
        </>
      )}
    </li>
  );
}

/** A field for a text, taken with Enter or the button. */
function NewNote({ label, button, add }: { label: string; button: string; add: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    const text = field.current?.value.trim() ?? '';
    if (text === '' || field.current === null) return;
    add(text);
    field.current.value = '';
  };
  return (
    <form class="note" onSubmit={submit}>
      <input ref={field} aria-label={label} placeholder={label} maxLength={200} autocomplete="off" />
      <button type="submit">{button}</button>
    </form>
  );
}

function NewMark({ attempt }: Pick<Attempting, 'attempt'>) {
  const at = useRef<HTMLInputElement>(null);
  const [wrong, setWrong] = useState(false);
  const add = (text: string) => {
    const said = at.current?.value.trim() ?? '';
    const at_ns = said === '' ? undefined : parseTime(said, Date.now() * 1e6);
    setWrong(said !== '' && at_ns === undefined);
    if (said === '' || at_ns !== undefined) attempt(tell('marks', { text, ...(at_ns === undefined ? {} : { at_ns }) }));
  };
  return (
    <div class="note">
      <NewNote label="What happened" button="Mark" add={add} />
      <input ref={at} aria-label="when it happened, UTC" placeholder="now" size={20} autocomplete="off" aria-invalid={wrong} />
      {wrong && <span class="bad" role="alert">a time, UTC, as 10:00:01.5 or 2026-11-23 10:00</span>}
    </div>
  );
}

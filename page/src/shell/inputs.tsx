// Fields to choose from and to type into.

import { useEffect, useId, useState } from 'preact/hooks';
import { exactDuration, parseDuration } from '../draw/format';

interface ChoiceProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly choices: readonly string[];
  readonly say?: (choice: string) => string;
  readonly change: (next: string) => void;
}

/** A list to choose from; what the address says is in it, whether the store knows it or not. */
export function Choice({ label, value, choices, say = (choice) => choice, change }: ChoiceProps) {
  const all = value === undefined || choices.includes(value) ? choices : [value, ...choices];
  return (
    <select aria-label={label} value={value ?? ''} onChange={(event) => change(event.currentTarget.value)}>
      {value === undefined && <option value="" disabled>choose</option>}
      {all.map((choice) => <option key={choice} value={choice} selected={choice === value}>{say(choice)}</option>)}
    </select>
  );
}

interface DurationInputProps {
  readonly label: string;
  readonly value: number | undefined;
  readonly empty: string;
  readonly change: (ns: number | undefined) => void;
}

/** A duration with its unit, or nothing. */
export function DurationInput({ label, value, empty, change }: DurationInputProps) {
  const read = (text: string) => {
    if (text.trim() === '') return { value: undefined };
    const ns = parseDuration(text);
    return ns === undefined ? { error: 'a duration with its unit: 250 µs, 20 ms, 1.5 s' } : { value: ns };
  };
  return <TextInput label={label} value={value === undefined ? '' : exactDuration(value)} empty={empty} width={6} read={read} change={change} />;
}

interface TextInputProps<T> {
  readonly label: string;
  readonly value: string;
  /** Said where nothing is given. */
  readonly empty: string;
  /** In letters; a longer value has the room that it needs. */
  readonly width: number;
  readonly read: (text: string) => { readonly value: T } | { readonly error: string };
  readonly change: (value: T) => void;
}

/** More letters than a field shows at once. */
const WIDEST = 40;

/** A field to type into: taken when it is left or on Enter, refused in words. */
export function TextInput<T>({ label, value, empty, width, read, change }: TextInputProps<T>) {
  const [draft, setDraft] = useState<string>();
  const [error, setError] = useState<string>();
  const id = useId();
  useEffect(() => {
    setDraft(undefined);
    setError(undefined);
  }, [value]);
  const take = (text: string) => {
    if (text === value) return;
    const answer = read(text);
    setDraft(text);
    if ('error' in answer) {
      setError(answer.error);
      return;
    }
    setError(undefined);
    change(answer.value);
  };
  return (
    <span class="input">
      <input type="text" style={{ '--letters': Math.min(WIDEST, Math.max(width, value.length)) }} spellcheck={false} autocomplete="off" aria-label={label} title={label} placeholder={empty}
        value={draft ?? value} aria-invalid={error !== undefined} aria-describedby={error === undefined ? undefined : id}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onChange={(event) => take(event.currentTarget.value)} />
      {error !== undefined && <span id={id} class="refused" role="alert">{error}</span>}
    </span>
  );
}

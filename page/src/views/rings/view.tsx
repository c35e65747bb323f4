// What processes have in their rings this moment: both histograms of each class, the worst cases, and
// the last transactions nested, with those that are open. Read from memory, on other hosts by their
// agents, and not from the store; no process is stopped for it.

import './style.css';
import { useQuestion } from '../../api/question';
import type { Ring as OneRing, Rings as Answered } from '../../api/types';
import { pathColour } from '../../draw/colours';
import { Duration } from '../../draw/exact';
import { formatCount, formatTime, formatTimeOfDay } from '../../draw/format';
import { go, place } from '../../selection/current';
import { Answer, Empty } from '../../shell/answer';
import { useKeys } from '../../shell/keys';
import { Classes } from './classes';
import { groups } from './hosts';
import { Last } from './last';
import { ProcessList } from './list';
import { shortName } from './names';
import { piecesOf } from './pieces';
import { Timeline } from './timeline';
import { Worst } from './worst';

const LIST_EVERY_MS = 2000;
const RING_EVERY_MS = 1000;
const LASTS = ['20', '100', '500', '2000'] as const;

/** The view `/rings`. */
export function RingsView() {
  const { item, own } = place();
  const question = useQuestion('rings', [], LIST_EVERY_MS);
  const answer = question.answer;
  const step = (by: 1 | -1) => {
    const all = answer === undefined ? [] : groups(answer).flatMap(({ rings }) => rings);
    const at = all.findIndex((ring) => ring.id === item && (ring.agent ?? undefined) === own['agent']);
    const next = all[at < 0 ? (by === 1 ? 0 : all.length - 1) : at + by];
    if (next !== undefined) go({ item: next.id, own: { agent: next.agent ?? undefined, last: own['last'] } }, true);
  };
  useKeys('Live rings', [
    { key: 'n', does: 'the next process', run: () => step(1) },
    { key: 'N', does: 'the process before', run: () => step(-1) },
    { key: 'P', does: 'pause or go on', run: pause },
  ]);
  return (
    <Answer to={question} what="Reading the rings">
      {(rings) => (isEmpty(rings) && item === '' ? <Nothing /> : (
        <div class="rings">
          <ProcessList answer={rings} item={item} agent={own['agent']} />
          {item === '' ? <p class="panel quiet">Choose a process (or press <kbd>n</kbd>) to see its histograms, its worst cases, and its last transactions.</p> : <One key={`${own['agent'] ?? ''} ${item}`} id={item} />}
        </div>
      ))}
    </Answer>
  );
}

/** Whether there is neither a ring, nor a reason why one is missing. */
function isEmpty({ rings, failed, hosts }: Answered): boolean {
  return rings.length === 0 && failed.length === 0 && hosts.every((host) => host.agent === null);
}

function pause(): void {
  go({ own: { still: place().own['still'] === 'yes' ? undefined : 'yes' } }, true);
}

function Nothing() {
  return (
    <Empty title="No process of this host is recording">
      <p>A program makes its ring at its first transaction, in the folder that <code>CHRONOSCOPE_DIR</code> names (<code>/dev/shm/chronoscope-UID</code> where it does not); start this server with the same. Programs of other hosts are here as soon as <code>chronoscope agent --to</code> delivers from there.</p>
    </Empty>
  );
}

function One({ id }: { id: string }) {
  const { last = '100', agent, class: chosen, still } = place().own;
  const question = useQuestion(`rings/${encodeURIComponent(id)}`, [['last', last], ['agent', agent]], still === 'yes' ? 0 : RING_EVERY_MS);
  return (
    <div class="of-one">
      <Answer to={question} what="Reading the ring">
        {(answer) => {
          const names = answer.classes.map((each) => each.class);
          const colourOf = (name: string) => pathColour(names.indexOf(name));
          const pieces = piecesOf(answer);
          return (
            <>
              <Head answer={answer} last={last} still={still === 'yes'} />
              <Damaged answer={answer} />
              <Classes answer={answer} colourOf={colourOf} />
              <Worst answer={answer} chosen={chosen} colourOf={colourOf} />
              <Timeline pieces={pieces} colourOf={colourOf} />
              <Open answer={answer} colourOf={colourOf} />
              <Last pieces={pieces} colourOf={colourOf} nameOf={(name) => shortName(name, answer)} />
            </>
          );
        }}
      </Answer>
    </div>
  );
}

function Head({ answer: { ring }, last, still }: { answer: OneRing; last: string; still: boolean }) {
  return (
    <div class="bar">
      <h2>{ring.application} {ring.instance}</h2>
      <span class="quiet">process {ring.process}{ring.alive ? '' : ', ended'}, since {formatTime(ring.started_ns, 0)} UTC, {formatCount(ring.recorded)} recorded{ring.agent === null ? '' : ', by its agent'}</span>
      {ring.lost > 0 && <span class="bad">{formatCount(ring.lost)} lost before anyone collected them</span>}
      <span class="spread" />
      <label>
        Last{' '}
        <select value={last} onChange={(event) => go({ own: { last: event.currentTarget.value } })}>
          {[...new Set([last, ...LASTS])].sort((a, b) => Number(a) - Number(b)).map((each) => <option key={each} value={each} selected={each === last}>{each}</option>)}
        </select>
      </label>
      <button type="button" aria-pressed={still} onClick={pause} title="Refreshed every second while it is watched (key P)">{still ? 'Paused' : 'Pause'}</button>
    </div>
  );
}

function Damaged({ answer: { damaged } }: { answer: OneRing }) {
  if (damaged.length === 0) return null;
  return (
    <div class="notice warn">
      <strong>A part of this ring cannot be read</strong> and is left out: its program, or another one, has written over it.
      <ul>{damaged.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul>
    </div>
  );
}

function Open({ answer, colourOf }: { answer: OneRing; colourOf: (name: string) => string }) {
  const { open } = answer;
  if (open.length === 0) return null;
  const most = Math.max(...open.map((row) => row.age_ns), 1);
  return (
    <section class="panel scroll open-list" aria-label="Open transactions">
      <table>
        <caption>Open, oldest first</caption>
        <thead><tr><th scope="col">Class</th><th scope="col" class="number">Age</th><th scope="col" aria-hidden="true" /><th scope="col">Since, UTC</th></tr></thead>
        <tbody>
          {open.map((row) => (
            <tr key={row.id}>
              <td class="name" title={row.class}><span class="dot" style={{ background: colourOf(row.class) }} /> {shortName(row.class, answer)}</td>
              <td class="number"><Duration ns={row.age_ns} /></td>
              <td aria-hidden="true" class="bar-cell"><span class="age" style={{ width: `${(row.age_ns / most) * 100}%` }} /></td>
              <td>{formatTimeOfDay(row.since_ns)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

// What processes of this host have in their rings this moment: the last transactions, and those that
// are open, with their age. Read from memory, not from the store; no process is stopped for it.

import './style.css';
import { useQuestion } from '../../api/question';
import type { Ring as OneRing, Rings as Answered } from '../../api/types';
import { Duration } from '../../draw/exact';
import { formatCount, formatTime, formatTimeOfDay } from '../../draw/format';
import { SortedTable, type Column } from '../../draw/sorted-table';
import { NO_CPU, NO_CPU_OF_ALL, Unknown } from '../../draw/unknown';
import { go, place } from '../../selection/current';
import { toChain, toClass } from '../../selection/links';
import { Answer, Empty } from '../../shell/answer';
import { Link } from '../../shell/link';

type Summary = Answered['rings'][number];

const LIST_EVERY_MS = 2000;
const RING_EVERY_MS = 1000;
const LASTS = ['20', '100', '500'] as const;

/** The view `/rings`. */
export function RingsView() {
  const { item } = place();
  const question = useQuestion('rings', [], LIST_EVERY_MS);
  return (
    <Answer to={question} what="Reading the rings">
      {({ rings, failed }) => (rings.length === 0 && failed.length === 0 && item === '' ? <Nothing /> : (
        <div class="rings">
          <List rings={rings} failed={failed} item={item} />
          {item === '' ? <p class="panel quiet">Choose a process to see its last transactions and those that are open.</p> : <One key={item} id={item} />}
        </div>
      ))}
    </Answer>
  );
}

function Nothing() {
  return (
    <Empty title="No process of this host is recording">
      <p>A program makes its ring at its first transaction, in the folder that <code>CHRONOSCOPE_DIR</code> names (<code>/dev/shm/chronoscope-UID</code> where it does not); start this server with the same.</p>
    </Empty>
  );
}

function List({ rings, failed, item }: { rings: readonly Summary[]; failed: readonly string[]; item: string }) {
  return (
    <section class="panel scroll list" aria-label="Processes">
      <table>
        <caption>Processes</caption>
        <thead>
          <tr><th scope="col">Application</th><th scope="col" class="number">Process</th><th scope="col" class="number">Recorded</th><th scope="col" class="number">Open</th><th scope="col" class="number">Lost</th></tr>
        </thead>
        <tbody>
          {rings.map((ring) => (
            <tr key={ring.id} class={ring.alive ? undefined : 'dead'} aria-current={ring.id === item ? 'true' : undefined}>
              <td>
                <Link to={{ item: ring.id }} title={`since ${formatTime(ring.started_ns, 0)} UTC`}>{ring.application}{ring.instance !== '' && ` ${ring.instance}`}</Link>
                {!ring.alive && ' (ended)'}
              </td>
              <td class="number">{ring.process}</td>
              <td class="number">{formatCount(ring.recorded)}</td>
              <td class="number">{formatCount(ring.open)}</td>
              <td class={`number${ring.lost > 0 ? ' bad' : ''}`}>{formatCount(ring.lost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {failed.map((sentence) => <p key={sentence} class="bad">Not readable: {sentence}</p>)}
    </section>
  );
}

function One({ id }: { id: string }) {
  const { last = '100' } = place().own;
  const question = useQuestion(`rings/${encodeURIComponent(id)}`, [['last', last]], RING_EVERY_MS);
  return (
    <div class="of-one">
      <Answer to={question} what="Reading the ring">
        {(answer) => (
          <>
            <div class="bar">
              <h2>{answer.ring.application} {answer.ring.instance}</h2>
              <span class="quiet">process {answer.ring.process}{answer.ring.alive ? '' : ', ended'}, since {formatTime(answer.ring.started_ns, 0)} UTC, {formatCount(answer.ring.recorded)} recorded</span>
              {answer.ring.lost > 0 && <span class="bad">{formatCount(answer.ring.lost)} lost before anyone collected them</span>}
              <span class="spread" />
              <label>
                Last{' '}
                <select value={last} onChange={(event) => go({ own: { last: event.currentTarget.value } })}>
                  {[...new Set([last, ...LASTS])].sort((a, b) => Number(a) - Number(b)).map((each) => <option key={each} value={each} selected={each === last}>{each}</option>)}
                </select>
              </label>
            </div>
            <div class="pair">
              <Classes answer={answer} />
              <Open answer={answer} />
            </div>
            <Last answer={answer} />
          </>
        )}
      </Answer>
    </div>
  );
}

function Classes({ answer }: { answer: OneRing }) {
  type Row = OneRing['classes'][number];
  const columns: readonly Column<Row>[] = [
    { key: 'class', title: 'Class', by: (row) => row.class, show: (row) => <Link to={toClass(row.class)}>{row.class}</Link> },
    { key: 'count', title: 'Ended', number: true, hint: 'Since the process started', by: (row) => row.count, show: (row) => formatCount(row.count) },
    { key: 'p50', title: 'p50', number: true, by: (row) => row.p50_ns, show: (row) => <Duration ns={row.p50_ns} /> },
    { key: 'p99', title: 'p99', number: true, by: (row) => row.p99_ns, show: (row) => <Duration ns={row.p99_ns} /> },
    { key: 'max', title: 'Max', number: true, by: (row) => row.max_ns, show: (row) => <Duration ns={row.max_ns} /> },
    { key: 'cpu', title: 'CPU', number: true, hint: 'CPU time of all of them', by: (row) => row.cpu_ns, show: (row) => (row.cpu_ns === null ? <Unknown why={NO_CPU_OF_ALL} /> : <Duration ns={row.cpu_ns} />) },
  ];
  return <section class="panel scroll" aria-label="Classes"><SortedTable caption="Classes" shown columns={columns} rows={answer.classes} id={(row) => row.class} /></section>;
}

function Open({ answer: { open } }: { answer: OneRing }) {
  const most = Math.max(...open.map((row) => row.age_ns), 1);
  return (
    <section class="panel scroll" aria-label="Open transactions">
      <table>
        <caption>Open, oldest first</caption>
        <thead><tr><th scope="col">Class</th><th scope="col" class="number">Age</th><th scope="col" aria-hidden="true" /><th scope="col">Since, UTC</th></tr></thead>
        <tbody>
          {[...open].sort((a, b) => b.age_ns - a.age_ns).map((row) => (
            <tr key={`${row.chain} ${row.class} ${row.since_ns}`}>
              <td>{row.class}</td>
              <td class="number"><Duration ns={row.age_ns} /></td>
              <td aria-hidden="true" style={{ width: '35%' }}><span class="age" style={{ width: `${(row.age_ns / most) * 100}%` }} /></td>
              <td>{formatTimeOfDay(row.since_ns)}</td>
            </tr>
          ))}
          {open.length === 0 && <tr><td colSpan={4} class="quiet">none at present</td></tr>}
        </tbody>
      </table>
    </section>
  );
}

function Last({ answer }: { answer: OneRing }) {
  return (
    <section class="panel scroll" aria-label="Last transactions">
      <table>
        <caption>Last {formatCount(answer.last.length)}</caption>
        <thead>
          <tr><th scope="col">Start, UTC</th><th scope="col">Class</th><th scope="col" class="number">Elapsed</th><th scope="col" class="number">CPU</th><th scope="col">Status</th><th scope="col">Chain</th></tr>
        </thead>
        <tbody>
          {answer.last.map((row) => (
            <tr key={`${row.chain} ${row.class} ${row.start_ns}`}>
              <td>{formatTimeOfDay(row.start_ns, 6)}</td>
              <td>{row.class}</td>
              <td class="number"><Duration ns={row.elapsed_ns} /></td>
              <td class="number">{row.cpu_ns === null ? <Unknown why={NO_CPU} /> : <Duration ns={row.cpu_ns} />}</td>
              <td class={row.status.toLowerCase() === 'good' ? 'quiet' : 'bad'}>{row.status}</td>
              <td class="mono">{row.chain === '' ? '–' : <Link to={toChain(row.chain, row.start_ns)} title="After it is collected">{row.chain.slice(0, 12)}</Link>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

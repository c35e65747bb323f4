// The worst transactions of each class, by elapsed or CPU time, each a link to the waterfall of its chain.

import './style.css';
import { useQuestion } from '../../api/question';
import type { Worst as Answered } from '../../api/types';
import { Duration } from '../../draw/exact';
import { formatDate, formatShare, formatTime, formatTimeOfDay } from '../../draw/format';
import { cpuShare, LengthBar } from '../../draw/length-bar';
import { NO_CPU, Unknown } from '../../draw/unknown';
import { go, place } from '../../selection/current';
import { toChain, toClass } from '../../selection/links';
import { selectionParams } from '../../selection/place';
import { Answer, Empty } from '../../shell/answer';
import { Link } from '../../shell/link';

type Class = Answered['classes'][number];
type Row = Class['rows'][number];

const NUMBERS = ['10', '20', '100'] as const;
const ORDERS = { elapsed: 'elapsed time', cpu: 'CPU time' } as const;

/** The view `/worst`. */
export function WorstView() {
  const { selection, own } = place();
  const { class: name, n = '10', by = 'elapsed' } = own;
  const { from_ns, until_ns, hosts } = selection;
  const range = Object.fromEntries(Object.entries({ from_ns, until_ns, hosts }).filter(([, value]) => value !== undefined));
  const question = useQuestion('worst', [...selectionParams(range), ['class', name], ['n', n], ['by', by]]);
  const classes = useQuestion('classes');
  const names = classes.answer?.classes.map((each) => each.name).sort() ?? [];
  return (
    <>
      <div class="bar">
        <label>
          Class{' '}
          <select value={name ?? ''} onChange={(event) => go({ own: { class: event.currentTarget.value === '' ? undefined : event.currentTarget.value } })}>
            <option value="" selected={name === undefined}>each</option>
            {[...new Set(name === undefined ? names : [name, ...names])].map((each) => <option key={each} value={each} selected={each === name}>{each}</option>)}
          </select>
        </label>
        <label>
          Worst{' '}
          <select value={n} onChange={(event) => go({ own: { n: event.currentTarget.value } })}>
            {[...new Set([n, ...NUMBERS])].sort((a, b) => Number(a) - Number(b)).map((each) => <option key={each} value={each} selected={each === n}>{each}</option>)}
          </select>
        </label>
        <label>
          by{' '}
          <select value={by} onChange={(event) => go({ own: { by: event.currentTarget.value === 'elapsed' ? undefined : event.currentTarget.value } })}>
            {Object.entries(ORDERS).map(([each, words]) => <option key={each} value={each} selected={each === by}>{words}</option>)}
          </select>
        </label>
        {name !== undefined && <Link to={toClass(name)}>Histogram of {name}</Link>}
        <span class="quiet">Bar: elapsed time relative to the longest of its class; the dark part is CPU time.</span>
      </div>
      <Answer to={question} what="Finding the worst transactions">
        {(worst) => (worst.classes.every((each) => each.rows.length === 0) ? <Nothing /> : (
          <div class="worst">
            {worst.classes.filter((each) => each.rows.length > 0).map((each) => <ClassTable key={each.name} of={each} />)}
          </div>
        ))}
      </Answer>
    </>
  );
}

function Nothing() {
  return (
    <Empty title="No transactions in this selection">
      <p>A longer time range, all hosts (<em>Clear</em>) or another class may have transactions.</p>
    </Empty>
  );
}

function ClassTable({ of }: { of: Class }) {
  const most = Math.max(...of.rows.map((row) => row.elapsed_ns), 1);
  const days = [...new Set(of.rows.map((row) => formatDate(row.start_ns)))];
  return (
    <section class="panel scroll" aria-label={of.name}>
      <table>
        <caption><Link to={{ own: { class: of.name } }}>{of.name}</Link>{days.length === 1 && <span class="quiet day">{days[0]}</span>}</caption>
        <thead>
          <tr>
            <th scope="col" class="number">Elapsed</th><th scope="col" aria-hidden="true" /><th scope="col" class="number" title="CPU time, and its share of the elapsed time">CPU</th>
            <th scope="col">Start, UTC</th><th scope="col">Host</th><th scope="col" class="number">Process</th><th scope="col">Status</th>
          </tr>
        </thead>
        <tbody>{of.rows.map((row) => <Case key={`${row.chain} ${row.start_ns}`} row={row} most={most} oneDay={days.length === 1} />)}</tbody>
      </table>
    </section>
  );
}

function Case({ row, most, oneDay }: { row: Row; most: number; oneDay: boolean }) {
  const cpu = cpuShare(row);
  return (
    <tr>
      <td class="number">
        {row.chain === '' ? <Duration ns={row.elapsed_ns} /> : <Link to={toChain(row.chain, row.start_ns)} title="The whole chain"><Duration ns={row.elapsed_ns} /></Link>}
      </td>
      <td class="bar-cell" aria-hidden="true">
        <LengthBar of={row} most={most} />
      </td>
      <td class="number">{row.cpu_ns === null ? <Unknown why={NO_CPU} /> : <><Duration ns={row.cpu_ns} />{cpu !== null && ` (${formatShare(cpu)})`}</>}</td>
      <td><time dateTime={formatTime(row.start_ns, 6)}>{oneDay ? formatTimeOfDay(row.start_ns) : formatTime(row.start_ns)}</time></td>
      <td>{row.host}</td>
      <td class="number">{row.process}</td>
      <td class={row.status.toLowerCase() === 'good' ? 'quiet' : 'bad'}>{row.status}</td>
    </tr>
  );
}

// What happens now: each application and class of the last window, alarms on top. It asks again each
// 2 s; rows stay where they are, so that neither the eye nor the focus loses its place.

import './style.css';
import { useRef, useState } from 'preact/hooks';
import { tell } from '../../api/client';
import { useQuestion } from '../../api/question';
import type { Alarm, LimitReport, LimitState, Now as Answered } from '../../api/types';
import { Duration, Exact } from '../../draw/exact';
import { formatCount, formatDuration, formatNumber, formatShare, formatTime, formatTimeOfDay } from '../../draw/format';
import { NO_CPU_OF_ALL, Unknown } from '../../draw/unknown';
import { go, place } from '../../selection/current';
import { marks } from '../../selection/marks';
import { toClass, toLimited, toWorst } from '../../selection/links';
import { Answer, Empty } from '../../shell/answer';
import { Link } from '../../shell/link';
import { after, markPlaces, trailPoints, type ApplicationRow, type Board, type ClassRow } from './board';

const EVERY_MS = 2000;
const WINDOWS_S = ['10', '60', '300', '3600'] as const;
const WINDOW_NAMES: Readonly<Record<string, string>> = { 10: '10 s', 60: '1 min', 300: '5 min', 3600: '1 h' };

/** The view `/now`. */
export function NowView() {
  const { window_s = '60' } = place().own;
  const question = useQuestion('now', [['window_s', window_s]], EVERY_MS);
  const board = useRef<Board>(undefined);
  return (
    <Answer to={question} what="Reading current activity">
      {(now) => {
        board.current = after(board.current, now);
        return (
          <>
            <Head now={now} windowS={window_s} />
            <Alarms alarms={now.alarms} classes={board.current.applications.flatMap((row) => row.classes.map((each) => each.name))} />
            <Limits limits={now.limits} />
            {board.current.applications.length === 0 ? <Nothing live={now.live} /> : <Applications board={board.current} />}
          </>
        );
      }}
    </Answer>
  );
}

function Head({ now, windowS }: { now: Answered; windowS: string }) {
  const choices = WINDOWS_S.some((choice) => choice === windowS) ? WINDOWS_S : [windowS, ...WINDOWS_S];
  return (
    <div class="bar">
      <label>
        Window{' '}
        <select value={windowS} onChange={(event) => go({ own: { window_s: event.currentTarget.value } })}>
          {choices.map((choice) => <option key={choice} value={choice} selected={choice === windowS}>{WINDOW_NAMES[choice] ?? `${choice} s`}</option>)}
        </select>
      </label>
      <span class="quiet">
        {now.live ? `until ${formatTimeOfDay(now.at_ns, 0)} UTC, refreshed every 2 s`
          : `no current data: the last ${formatDuration(now.window_s * 1e9)}, until ${formatTime(now.at_ns, 0)} UTC`}
      </span>
    </div>
  );
}

const KINDS: Readonly<Record<Alarm['kind'], string>> = {
  limit: 'Above its limit', arrivals: 'Did not arrive', rule: 'Rule broken', slower: 'Slower than usual', lost: 'Records lost', silent: 'Silent',
};
const STATES: Readonly<Record<LimitReport['state'], string>> = {
  holds: '✓ holds', broken: '✗ broken', not_judged: '? not judged', no_traffic: '– no traffic',
};
const LIMIT_KINDS: Readonly<Record<LimitReport['kind'], string>> = {
  class: 'class', chain: 'chain', arrivals: 'arrivals of each root',
};

function Limits({ limits }: { limits: readonly LimitReport[] }) {
  if (limits.length === 0) return null;
  return (
    <section aria-label="Limits">
      <ul class="limits">
        {limits.map((limit, index) => (
          // A file of limits does not change while the server runs, so that the place is a name.
          <li key={index} class={limit.state}>
            <span class="kind">{STATES[limit.state]}</span>
            <span>{limit.what}, {LIMIT_KINDS[limit.kind]}, {formatDuration(limit.limit_ns)}</span>
            <span class="quiet">
              {limit.since_ns !== null && <>since <time dateTime={new Date(limit.since_ns / 1e6).toISOString()}>{formatTime(limit.since_ns, 0)}</time></>}
              {limit.reason !== null && `: ${limit.reason}`}
              {limit.in_flight !== null && limit.in_flight > 0 && ` · at least ${formatCount(limit.in_flight)} in flight`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Alarms({ alarms, classes }: { alarms: readonly Alarm[]; classes: readonly string[] }) {
  // A list that is always there is read out when something comes into it.
  return (
    <section aria-label="Alarms" aria-live="polite">
      {alarms.length === 0 ? <p class="quiet">No alarms.</p> : (
        <ul class="alarms">
          {alarms.map((alarm) => <OneAlarm key={`${alarm.kind} ${alarm.what} ${alarm.host ?? ''} ${alarm.rule?.name ?? ''}`} alarm={alarm} known={classes.includes(alarm.what)} />)}
        </ul>
      )}
    </section>
  );
}

function OneAlarm({ alarm, known }: { alarm: Alarm; known: boolean }) {
  const limited = alarm.kind === 'limit' || alarm.kind === 'arrivals' ? toLimited(alarm.what, alarm.usual_ns) : undefined;
  return (
    <li class={alarm.kind}>
      <span class="kind">{KINDS[alarm.kind]}</span>
      <span>{alarm.sentence}</span>
      <span class="quiet">
        {alarm.host !== null && `on ${alarm.host} `}since <time dateTime={new Date(alarm.since_ns / 1e6).toISOString()}>{formatTime(alarm.since_ns, 0)}</time>
      </span>
      {limited !== undefined && <Link to={limited}>Histogram</Link>}
      {known && <Link to={{ ...toClass(alarm.what) }}>Histogram</Link>}
      {known && <Link to={toWorst(alarm.what)}>Worst cases</Link>}
      {alarm.rule !== null && <Handling rule={alarm.rule} />}
    </li>
  );
}

const SILENCES_S: readonly (readonly [seconds: number, name: string])[] = [[3600, '1 h'], [28800, '8 h'], [86400, '1 day'], [604800, '1 week']];

/** What people have said of an alarm, and may say. The next refresh shows what the server made of it. */
function Handling({ rule }: { rule: NonNullable<Alarm['rule']> }) {
  const [refused, setRefused] = useState('');
  const { name, acknowledged, silenced_until_ns: silencedUntilNs } = rule;
  const say = (seconds?: number) => {
    const told = seconds === undefined ? tell('rules/acknowledge', { rule: name }) : tell('rules/silence', { rule: name, seconds });
    told.then(() => { setRefused(''); }, (problem: unknown) => { setRefused(problem instanceof Error ? problem.message : String(problem)); });
  };
  return (
    <span class="handling">
      {acknowledged === null ? <button type="button" onClick={() => { say(); }}>Acknowledge</button>
        : <span class="quiet">acknowledged{acknowledged.by !== '' && ` by ${acknowledged.by}`} at {formatTimeOfDay(acknowledged.at_ns, 0)}</span>}
      {silencedUntilNs === null ? (
        <select aria-label={`Silence ${name}`} value="" onChange={(event) => { say(Number(event.currentTarget.value)); }}>
          <option value="" disabled selected>Silence for…</option>
          {SILENCES_S.map(([seconds, length]) => <option key={seconds} value={seconds}>{length}</option>)}
        </select>
      ) : (
        <>
          <span class="quiet">silenced until {formatTime(silencedUntilNs, 0)}</span>
          <button type="button" onClick={() => { say(0); }}>End silence</button>
        </>
      )}
      {refused !== '' && <span class="bad" role="alert">{refused}</span>}
    </span>
  );
}

function Nothing({ live }: { live: boolean }) {
  return (
    <Empty title={live ? 'No transactions in this window' : 'The store is empty'}>
      <p>{live ? 'Choose a longer window. ' : ''}Programs that record are collected by this server on its own host, and by <code>chronoscope agent --to URL</code> on others; both must name the rings’ folder as the programs do (<code>CHRONOSCOPE_DIR</code>).</p>
    </Empty>
  );
}

function Applications({ board }: { board: Board }) {
  return (
    <div class="panel scroll">
      <table class="board">
        <caption class="unseen">Applications and their classes in the last {formatDuration(board.windowS * 1e9)}</caption>
        <thead>
          <tr>
            <th scope="col">Application, class</th>
            <th scope="col" class="number" title="Transactions ended, per second">Rate</th>
            <th scope="col" class="number">p50</th>
            <th scope="col" class="number">p99</th>
            <th scope="col" class="number">Max</th>
            <th scope="col" title="p99 at each refresh since this view was opened, from 0 to its maximum">p99 so far</th>
            <th scope="col" class="number" title="CPU time per second of the window">CPU, cores</th>
            <th scope="col" class="number" title="Started and not ended">Open</th>
            <th scope="col" class="number" title="Ended with a status other than GOOD">Not good</th>
            <th scope="col">Limit</th>
          </tr>
        </thead>
        {board.applications.map((row) => <Application key={row.application} row={row} atNs={board.atNs} />)}
      </table>
    </div>
  );
}

function Application({ row, atNs }: { row: ApplicationRow; atNs: number }) {
  const { last, gone } = row;
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={10}>
          {row.application}
          <span class="of-application">
            {gone ? 'gone' : `${formatCount(last.processes)} ${last.processes === 1 ? 'process' : 'processes'} on ${last.hosts.join(', ')}`}
            {last.open > 0 && ` · ${formatCount(last.open)} open`}
          </span>
          {last.lost_rows > 0 && <span class="of-application bad">{formatCount(last.lost_rows)} records lost</span>}
          {last.damaged_rings > 0 && <span class="of-application bad">{formatCount(last.damaged_rings)} {last.damaged_rings === 1 ? 'ring' : 'rings'} damaged: an unknown number of records lost</span>}
        </th>
      </tr>
      {row.classes.map((each) => <Class key={each.name} row={each} atNs={atNs} />)}
    </tbody>
  );
}

function Class({ row, atNs }: { row: ClassRow; atNs: number }) {
  const { last, silentSinceNs } = row;
  const silent = silentSinceNs !== undefined || last.count === 0;
  return (
    <tr class={silent ? 'silent' : undefined}>
      <th scope="row"><Link to={toClass(row.name)}>{last.class}</Link></th>
      <td class="number">{silentSinceNs !== undefined ? `silent since ${formatTimeOfDay(silentSinceNs, 0)}` : <Exact value={last.rate_per_s} unit="/s">{formatNumber(last.rate_per_s)} /s</Exact>}</td>
      <td class="number">{silent ? '–' : <Duration ns={last.p50_ns} />}</td>
      <td class="number">{silent ? '–' : <Duration ns={last.p99_ns} />}</td>
      <td class="number">{silent ? '–' : <Link to={toWorst(row.name)} title="Worst cases"><Duration ns={last.max_ns} /></Link>}</td>
      <td><Trail row={row} atNs={atNs} /></td>
      <td class="number">{silent ? '–' : last.cpu_share === null ? <Unknown why={NO_CPU_OF_ALL} /> : formatNumber(last.cpu_share)}</td>
      <td class="number">{formatCount(last.open)}</td>
      <td class={`number${last.not_good > 0 ? ' bad' : ''}`}>{formatCount(last.not_good)}</td>
      <td><Limit limit={last.limit} /></td>
    </tr>
  );
}

const TRAIL_WIDTH = 120;
const TRAIL_HEIGHT = 16;

function Trail({ row, atNs }: { row: ClassRow; atNs: number }) {
  const lines = trailPoints(row.trail, TRAIL_WIDTH - 2, TRAIL_HEIGHT - 3);
  const end = row.trail.at(-1) === null ? undefined : lines.at(-1)?.split(' ').at(-1)?.split(',');
  return (
    <svg class="trail" viewBox={`-1 -2 ${TRAIL_WIDTH} ${TRAIL_HEIGHT + 1}`} aria-hidden="true">
      {markPlaces(marks.value, atNs, EVERY_MS * 1e6, TRAIL_WIDTH - 2).map((x) => <path key={x} class="trail-mark" d={`M${x} -1V${TRAIL_HEIGHT - 2}`} />)}
      {lines.map((points) => <polyline key={points} points={points} />)}
      {end !== undefined && <circle cx={end[0]} cy={end[1]} r={1.8} />}
    </svg>
  );
}

function Limit({ limit }: { limit: LimitState | null }) {
  if (limit === null) return <span class="quiet">–</span>;
  const words = limit.above === 0 ? `all within ${formatDuration(limit.limit_ns)}`
    : `${formatShare(limit.share_above)} above ${formatDuration(limit.limit_ns)}`;
  return <span class={limit.holds ? 'good' : 'bad'}>{limit.holds ? '✓ ' : '✗ '}{words}</span>;
}

// What versions of a program cost, as `chronoscope track` keeps it: each counter over the runs with
// its change points, and what moved between two of them, down to functions and their callers; and the
// profile of one run.

import './style.css';
import { useMemo } from 'preact/hooks';
import { useQuestion } from '../../api/question';
import type { RunHistory, Runs as Answered } from '../../api/types';
import { formatCount, formatNumber, formatTime, NARROW } from '../../draw/format';
import { SeriesPlot, type Line, type Mark } from '../../draw/series-plot';
import { go, place } from '../../selection/current';
import { Answer, Empty } from '../../shell/answer';
import { Link } from '../../shell/link';
import { Diff } from './diff';
import { RunProfile } from './profile';
import { byChange, changeIndices, formatCounter, formatTick, lastTwo, shortCommit } from './series';

type Run = Answered['runs'][number];
type Series = RunHistory['series'][number];

/** The view `/runs`. */
export function RunsView() {
  const question = useQuestion('runs');
  const { item } = place();
  return (
    <Answer to={question} what="Reading runs">
      {({ runs }) => (runs.length === 0 ? <Nothing /> : item !== '' ? <RunProfile run={runs.find(({ id }) => id === item)} runs={runs} /> : <Tracked runs={runs} />)}
    </Answer>
  );
}

function Nothing() {
  return (
    <Empty title="No runs">
      <p><code>chronoscope track run --bin FOLDER</code> measures the cost of a version and stores it; a second run, of another version, shows the changes. Runs elsewhere: <code>chronoscope serve --runs DIR</code>.</p>
    </Empty>
  );
}

function Tracked({ runs }: { runs: readonly Run[] }) {
  const { own } = place();
  const { process, counter } = own;
  const last = lastTwo(runs);
  const [a, b] = [own['a'] ?? last?.a, own['b'] ?? last?.b];
  const history = useQuestion('runs/history', [['process', process], ['counter', counter]]);
  const diff = useQuestion(a !== undefined && b !== undefined ? 'runs/diff' : null, [['a', a], ['b', b]]);
  return (
    <>
      <List runs={runs} a={a} b={b} />
      <Answer to={history} what="Reading the history">
        {({ series, left_out }) => (
          <>
            <Choices series={series} leftOut={left_out} process={process} counter={counter} />
            <Histories series={byChange(series)} runs={runs} />
          </>
        )}
      </Answer>
      {a === undefined || b === undefined ? <p class="panel quiet">A comparison needs a second run: <code>chronoscope track run</code> with another version.</p> : (
        <Answer to={diff} what="Comparing the two runs">{(answer) => <Diff diff={answer} runs={runs} />}</Answer>
      )}
    </>
  );
}

/** All runs, the newest first, and which two are compared. */
function List({ runs, a, b }: { runs: readonly Run[]; a: string | undefined; b: string | undefined }) {
  const newest = [...runs].sort((one, other) => other.at_ns - one.at_ns);
  const radio = (side: 'a' | 'b', run: Run, chosen: string | undefined) => (
    <input type="radio" name={`run-${side}`} checked={run.id === chosen} aria-label={`${run.id} as ${side.toUpperCase()}`} onChange={() => go({ own: { [side]: run.id } })} />
  );
  return (
    <section class="panel scroll runs-list" aria-label="Runs">
      <table>
        <caption class="unseen">Runs, the newest first; two of them are compared</caption>
        <thead>
          <tr><th scope="col" title="Compared: from">A</th><th scope="col" title="Compared: to">B</th><th scope="col">Measured, UTC</th><th scope="col">Commit</th><th scope="col">Subject</th><th scope="col">Machine</th><th scope="col" class="number" title="Load average during the measurement">Load</th><th scope="col">Profile</th></tr>
        </thead>
        <tbody>
          {newest.map((run) => (
            <tr key={run.id}>
              <td>{radio('a', run, a)}</td><td>{radio('b', run, b)}</td>
              <td>{formatTime(run.at_ns, 0)}</td><td class="mono" title={run.commit}>{shortCommit(run.commit)}</td><td>{run.subject}{!run.complete && <span class="bad"> interrupted</span>}</td><td>{run.machine}</td>
              <td class="number">{formatNumber(run.load)}</td>
              <td>{run.profiles.length > 0 ? <Link to={{ item: run.id }}>flame graph</Link> : <span class="quiet">none</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Choices({ series, leftOut, process, counter }: { series: readonly Series[]; leftOut: number; process: string | undefined; counter: string | undefined }) {
  const choice = (label: string, key: 'process' | 'counter', now: string | undefined, all: readonly string[]) => (
    <label>
      {label}{' '}
      <select value={now ?? ''} onChange={(event) => go({ own: { [key]: event.currentTarget.value === '' ? undefined : event.currentTarget.value } })}>
        <option value="" selected={now === undefined}>all</option>
        {[...new Set(now === undefined ? all : [now, ...all])].map((each) => <option key={each} value={each} selected={each === now}>{each}</option>)}
      </select>
    </label>
  );
  const changed = series.filter((each) => each.changes.length > 0).length;
  return (
    <div class="bar">
      <h2>History</h2>
      {choice('Process', 'process', process, series.map((each) => each.process))}
      {choice('Counter', 'counter', counter, series.map((each) => each.counter))}
      <span class="quiet">{formatCount(series.length)} counters, {changed === 0 ? 'none of them changed' : `${formatCount(changed)} with a step`}. A click takes a run and the one before it to be compared.{leftOut > 0 && ` ${formatCount(leftOut)} runs of another machine or method are not shown.`}</span>
    </div>
  );
}

/** Number of counters shown at first: a few runs of a few processes already have dozens. */
const FIRST = 4;

/** The counters that a reader is likely to look for; the others below, folded. */
function Histories({ series, runs }: { series: readonly Series[]; runs: readonly Run[] }) {
  const history = (each: Series) => <History key={`${each.process} ${each.counter}`} of={each} runs={runs} />;
  const others = series.slice(FIRST);
  return (
    <>
      <div class="runs-history">{series.slice(0, FIRST).map(history)}</div>
      {others.length > 0 && (
        <details class="runs-others" open={place().own['all'] !== undefined}
          onToggle={(event) => go({ own: { all: event.currentTarget.open ? 'yes' : undefined } }, true)}>
          <summary>{formatCount(others.length)} other counters</summary>
          <div class="runs-history">{others.map(history)}</div>
        </details>
      )}
    </>
  );
}

const COUNTED = new Set(['', 'count', '1']);

function History({ of, runs }: { of: Series; runs: readonly Run[] }) {
  const drawn = useMemo(() => ({
    at: of.points.map((_, index) => index),
    names: of.points.map((point) => shortCommit(point.commit)),
    lines: [{ label: of.counter, values: of.points.map((point) => point.value), colour: '--path-0' }] satisfies Line[],
    marks: changeIndices(of).map(({ at, relative }): Mark => ({ at: at - 0.5, colour: relative > 0 ? '--bad' : '--good' })),
  }), [of]);
  const unit = COUNTED.has(of.unit) ? '' : `${NARROW}${of.unit}`;
  const say = (value: number, step?: number) => (step === undefined ? formatCounter(value) : formatTick(value, step)) + unit;
  const last = of.points.at(-1);
  const pick = (index: number) => {
    const [a, b] = [of.points[index - 1]?.run, of.points[index]?.run];
    if (a !== undefined && b !== undefined) go({ own: { a, b } });
  };
  return (
    <figure class="panel">
      <figcaption>
        <strong>{of.process}</strong> {of.counter} {last !== undefined && <span class="quiet">now {say(last.value)}</span>}
        {of.changes.map((change) => (
          <span key={change.run} class={`change ${change.relative > 0 ? 'bad' : 'good'}`} title={runs.find((run) => run.id === change.run)?.subject}>{change.sentence}</span>
        ))}
      </figcaption>
      <SeriesPlot label={`${of.counter} of ${of.process} over ${of.points.length} runs${of.changes.map((change) => `; ${change.sentence}`).join('')}`}
        at={drawn.at} names={drawn.names} lines={drawn.lines} marks={drawn.marks} say={say} unit={of.unit} axis="smallest" height={150} onPick={pick} />
    </figure>
  );
}

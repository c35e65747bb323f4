// What versions of a program cost, as `chronoscope track` keeps it: each counter over the runs with
// its change points, and what moved between two of them, down to functions and their callers.

import './style.css';
import { useMemo } from 'preact/hooks';
import { useQuestion } from '../../api/question';
import type { RunDiff, RunHistory, Runs as Answered } from '../../api/types';
import { formatCount, formatNumber, formatTime } from '../../draw/format';
import { SeriesPlot, type Line, type Mark } from '../../draw/series-plot';
import { go, place } from '../../selection/current';
import { Answer, Empty } from '../../shell/answer';
import { Diff } from './diff';
import { byChange, changeIndices, formatCounter, formatTick, lastTwo, shortCommit } from './series';

type Run = Answered['runs'][number];
type Series = RunHistory['series'][number];

/** The view. */
export function RunsView() {
  const question = useQuestion<Answered>('runs');
  return (
    <Answer to={question} what="Reading runs">
      {({ runs }) => (runs.length === 0 ? <Nothing /> : <Tracked runs={runs} />)}
    </Answer>
  );
}

function Nothing() {
  return (
    <Empty title="No runs">
      <p><code>chronoscope track run --bin FOLDER</code> measures what a version costs and keeps it; a second run, of another version, says what moved. Runs elsewhere: <code>chronoscope serve --runs DIR</code>.</p>
    </Empty>
  );
}

function Tracked({ runs }: { runs: readonly Run[] }) {
  const { own } = place();
  const { process, counter } = own;
  const last = lastTwo(runs);
  const [a, b] = [own['a'] ?? last?.a, own['b'] ?? last?.b];
  const history = useQuestion<RunHistory>('runs/history', [['process', process], ['counter', counter]]);
  const diff = useQuestion<RunDiff>(a !== undefined && b !== undefined ? 'runs/diff' : null, [['a', a], ['b', b]]);
  return (
    <>
      <List runs={runs} a={a} b={b} />
      <Answer to={history} what="Reading the history">
        {({ series }) => (
          <>
            <Choices series={series} process={process} counter={counter} />
            <div class="runs-history">
              {byChange(series).map((each) => <History key={`${each.process} ${each.counter}`} of={each} runs={runs} />)}
            </div>
          </>
        )}
      </Answer>
      {a === undefined || b === undefined ? <p class="panel quiet">A second run is needed to say what moved: <code>chronoscope track run</code> with another version.</p> : (
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
          <tr><th scope="col" title="Compared: from">A</th><th scope="col" title="Compared: to">B</th><th scope="col">Measured, UTC</th><th scope="col">Commit</th><th scope="col">Subject</th><th scope="col">Machine</th><th scope="col" class="number" title="Load average when it was measured">Load</th></tr>
        </thead>
        <tbody>
          {newest.map((run) => (
            <tr key={run.id}>
              <td>{radio('a', run, a)}</td><td>{radio('b', run, b)}</td>
              <td>{formatTime(run.at_ns, 0)}</td><td class="mono" title={run.commit}>{shortCommit(run.commit)}</td><td>{run.subject}</td><td>{run.machine}</td>
              <td class="number">{formatNumber(run.load)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Choices({ series, process, counter }: { series: readonly Series[]; process: string | undefined; counter: string | undefined }) {
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
      <span class="quiet">{formatCount(series.length)} counters, {changed === 0 ? 'none of them changed' : `${formatCount(changed)} with a step`}. A click takes a run and the one before it to be compared.</span>
    </div>
  );
}

const COUNTED = new Set(['', 'count', '1']);

function History({ of, runs }: { of: Series; runs: readonly Run[] }) {
  const drawn = useMemo(() => ({
    at: of.points.map((_, index) => index),
    names: of.points.map((point) => shortCommit(point.commit)),
    lines: [{ label: of.counter, values: of.points.map((point) => point.value), colour: '--path-0' }] satisfies Line[],
    marks: changeIndices(of).map((at): Mark => ({ at: at - 0.5, colour: '--bad' })),
  }), [of]);
  const unit = COUNTED.has(of.unit) ? '' : `\u202f${of.unit}`;
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
        at={drawn.at} names={drawn.names} lines={drawn.lines} marks={drawn.marks} say={say} fromZero={false} height={150} onPick={pick} />
    </figure>
  );
}

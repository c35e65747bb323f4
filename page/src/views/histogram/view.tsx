import { useRef } from 'preact/hooks';
import { useQuestion } from '../../api/question';
import type { HistogramAnswer } from '../../api/types';
import { pathColour } from '../../draw/colours';
import { Duration } from '../../draw/exact';
import { formatCount, formatDuration, formatShare } from '../../draw/format';
import { go, place } from '../../selection/current';
import { selectionParams } from '../../selection/place';
import { Answer, Empty } from '../../shell/answer';
import { useKeys } from '../../shell/keys';
import { scaleOf } from '../../draw/scale';
import { STEP, useGesture, zoomed, type Range } from '../../draw/zoom';
import { binsFor, formatShown, inside, parseShown } from './bins';
import { Counts } from './plot';
import { Requirement } from './requirement';
import './style.css';

/** Closer than this there is nothing to tell apart. */
const LEAST_NS = 10;

/** The distribution of durations: its picture, its parameters, and whether the limit holds. */
export function HistogramView() {
  const { selection, own } = place();
  const scale = own['scale'] === 'linear' ? 'linear' : 'log';
  const counts = own['counts'] === 'log' ? 'log' : 'linear';
  // The range of durations is known after the first answer; a zoom within it needs finer bins.
  const whole = useRef<Range>(undefined);
  const shown = parseShown(own['x']);
  const question = useQuestion(selection.root === undefined ? null : 'histogram', [
    ...selectionParams(selection), ['bins', binsFor(whole.current, shown, scale)], ['scale', scale],
  ]);
  const bins = question.answer?.bins;
  whole.current = bins === undefined ? undefined : [bins[0]?.from_ns ?? 1, bins.at(-1)?.until_ns ?? 2];
  const goesOn = useGesture();
  const show = (range: Range, held: boolean) => {
    if (whole.current !== undefined && range[1] - range[0] >= LEAST_NS) go({ own: { x: formatShown(inside(range, whole.current, scale), whole.current) } }, held);
  };
  // Turns of a wheel come faster than pictures: each goes on from where the one before has led.
  const closer = (at: number, factor: number, event: Event) => {
    if (whole.current === undefined) return;
    const [from, until] = parseShown(place().own['x']) ?? whole.current;
    show(zoomed(scaleOf(scale, from, until, 1), at, factor), goesOn(event));
  };
  const otherScale = () => go({ own: { scale: scale === 'log' ? 'linear' : undefined } });
  const otherCounts = () => go({ own: { counts: counts === 'log' ? undefined : 'log' } });
  useKeys('Histogram', [
    { key: 'l', does: 'durations logarithmic or linear', run: otherScale },
    { key: 'c', does: 'scale of counts: logarithmic or linear', run: otherCounts },
    { key: 'p', does: 'to the bars; arrows go from one to the next, Enter shows its chains', run: () => document.querySelector<HTMLElement>('.histogram-area')?.focus() },
    { key: '+', does: 'closer (wheel); everything is still counted', run: (event) => closer(0.5, STEP, event) },
    { key: '-', does: 'further', run: (event) => closer(0.5, 1 / STEP, event) },
  ]);

  return (
    <Answer to={question} what="Counting">
      {(answer) => answer.distribution === null ? <Nothing answer={answer} /> : (
        <div class="histogram">
          <Requirement answer={answer} selection={selection} />
          <section class="panel histogram-main" aria-label="Histogram">
            <div class="bar">
              <button type="button" aria-pressed={scale === 'log'} onClick={otherScale} title="key l">log durations</button>
              <button type="button" aria-pressed={counts === 'log'} onClick={otherCounts} title="key c">log counts</button>
              {shown !== undefined && <button type="button" onClick={() => go({ own: { x: undefined } })}>All durations</button>}
              <span class="spread" />
              <span class="quiet"><strong>{formatCount(answer.distribution.count)}</strong> durations · {formatDuration(answer.elapsed_ms * 1e6)}</span>
            </div>
            <Counts answer={answer} counts={counts} limitNs={selection.limit_ns} distribution={answer.distribution}
              range={shown} onRange={show} onCloser={closer} />
          </section>
          <Parameters answer={answer} />
          {answer.paths.length > 1 && <Paths answer={answer} />}
        </div>
      )}
    </Answer>
  );
}

function Nothing({ answer }: { answer: HistogramAnswer }) {
  return (
    <Empty title="No duration is within this selection">
      <p>{answer.counts.incomplete > 0 ? `${formatCount(answer.counts.incomplete)} chains began in it, but have no such leaf (yet).` : 'Choose a longer time range, any level, or another leaf.'}</p>
    </Empty>
  );
}

function Parameters({ answer }: { answer: HistogramAnswer }) {
  const { distribution: d, counts, losses, clocks } = answer;
  if (d === null) return null;
  const durations: readonly (readonly [string, number, string])[] = [
    ['shortest', d.min_ns, ''], ['median', d.median_ns, 'median'], ['mean', d.mean_ns, 'mean'], ['standard deviation', d.sd_ns, ''],
    ['p90', d.p90_ns, ''], ['p99', d.p99_ns, 'p99'], ['p99.73', d.p99_73_ns, ''], ['p99.9', d.p99_9_ns, ''],
    ['3 sigma', d.three_sigma_ns, 'sigma'], ['longest', d.max_ns, ''],
  ];
  const left: readonly (readonly [string, number])[] = [
    ['incomplete chains', counts.incomplete], ['negative durations', counts.negative], ['rows lost by recorders', losses.lost_rows],
    ['losses of unknown size', losses.uncounted_losses],
    ['damaged rows', losses.damaged_rows], ['expired rows', losses.expired_rows],
    ['rows deleted on request', losses.deleted_rows],
  ];
  return (
    <section class="panel parameters-panel" aria-label="Parameters of the distribution" tabIndex={0}>
      <h2>Parameters</h2>
      <dl class="parameters">
        <dt>count</dt><dd>{formatCount(d.count)}</dd>
        {durations.map(([name, ns, mark]) => (
          <>
            <dt key={`${name} t`}>{mark !== '' && <span class={`key ${mark}`} />}{name}</dt>
            <dd key={`${name} d`} title={`${formatCount(ns)} ns`}><Duration ns={ns} /></dd>
          </>
        ))}
        <dt title="above the median plus three standard deviations">above 3 sigma</dt><dd>{formatCount(d.above_3_sigma)} ({formatShare(d.above_3_sigma / d.count)})</dd>
      </dl>
      <h2>Left out</h2>
      <dl class="parameters">
        {left.map(([name, count]) => <><dt key={`${name} t`}>{name}</dt><dd key={`${name} d`} class={count > 0 ? 'bad' : ''}>{formatCount(count)}</dd></>)}
      </dl>
      {clocks !== null && clocks.crossing > 0 && (
        <>
          <h2>Clocks</h2>
          <dl class="parameters">
            <dt>stamps</dt><dd>{clocks.corrected ? 'corrected' : 'raw'}</dd>
            <dt>between hosts</dt><dd>{formatCount(clocks.crossing)} of {formatCount(clocks.durations)}</dd>
            <dt>may be off by at most</dt><dd>{clocks.error_ns_max === null ? 'unknown' : formatDuration(clocks.error_ns_max)}</dd>
            <dt>on average</dt><dd>{clocks.error_ns_mean === null ? 'unknown' : formatDuration(clocks.error_ns_mean)}</dd>
            {clocks.unknown > 0 && <><dt>clocks unknown</dt><dd class="bad">{formatCount(clocks.unknown)}</dd></>}
          </dl>
        </>
      )}
    </section>
  );
}

/** Each path by itself: modes of a system that a common histogram would mix. */
function Paths({ answer }: { answer: HistogramAnswer }) {
  return (
    <section class="panel scroll paths-panel" aria-label="Paths" tabIndex={0}>
      <table>
        <caption>By path</caption>
        <thead>
          <tr>
            <th scope="col">Path</th><th scope="col" class="number">level</th><th scope="col" class="number">count</th><th scope="col" class="number">median</th>
            <th scope="col" class="number">mean</th><th scope="col" class="number">sd</th><th scope="col" class="number">p99</th><th scope="col" class="number">p99.73</th><th scope="col" class="number">longest</th>
          </tr>
        </thead>
        <tbody>
          {answer.paths.map(({ path, level, distribution: d }, index) => (
            <tr key={path}>
              <td><button type="button" class="plain path" title={`Only this path: ${path}`} onClick={() => go({ selection: { path } })}><span class="dot" style={{ background: pathColour(index) }} /> {path}</button></td>
              <td class="number">{level}</td><td class="number">{formatCount(d.count)}</td><td class="number"><Duration ns={d.median_ns} /></td>
              <td class="number"><Duration ns={d.mean_ns} /></td><td class="number"><Duration ns={d.sd_ns} /></td><td class="number"><Duration ns={d.p99_ns} /></td>
              <td class="number"><Duration ns={d.p99_73_ns} /></td><td class="number"><Duration ns={d.max_ns} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

import { useRef, useState } from 'preact/hooks';
import { ask } from '../../api/client';
import { useArrivals } from '../../api/arrivals';
import { status } from '../../api/connection';
import { useQuestion } from '../../api/question';
import type { Arrivals, Scatter, Selection } from '../../api/types';
import { pathColour } from '../../draw/colours';
import { formatCount, formatDuration } from '../../draw/format';
import { linear, scaleOf } from '../../draw/scale';
import { useSize } from '../../draw/size';
import { panned, STEP, useGesture, zoomed, type Range } from '../../draw/zoom';
import { go, place } from '../../selection/current';
import { useHold } from '../../selection/live';
import { selectionParams } from '../../selection/place';
import { Answer, Empty } from '../../shell/answer';
import { useKeys } from '../../shell/keys';
import { Link } from '../../shell/link';
import { formatBrush, parseBrush, zoomedOut, type Axes, type Brush } from './brush';
import { Cause } from './cause';
import { ChainList } from './list';
import { brushWords, Plot } from './plot';
import { durationsOf, shownRange, timesOf, within } from './range';
import './style.css';

/** The server's bins are so many pixels wide: as fine as is told apart, and few enough to send. */
const BIN_PX = 2;
const MOST_BINS = { width: 800, height: 420 };

/** Every chain by its start and its duration. A rectangle marked in it is compared with the rest. */
export function ScatterView() {
  const { selection, own } = place();
  const scale = own['scale'] === 'linear' ? 'linear' : 'log';
  const brush = parseBrush(own['brush']);
  // A marked rectangle must not move away while it is being read.
  useHold(brush !== undefined);
  const { ref, width, height } = useSize<HTMLDivElement>();
  const across = useBins(width - 76, MOST_BINS.width, brush !== undefined);
  const up = useBins(height - 90, MOST_BINS.height, brush !== undefined);
  const ready = selection.root !== undefined && width > 0;
  const question = useQuestion(ready ? 'scatter' : null, [
    ...selectionParams(selection),
    ['width', across], ['height', up], ['scale', scale],
  ]);
  const { answer } = question;
  // After the picture: roots without a leaf are looked for among all rows.
  const arrivals = useArrivals(answer === undefined ? {} : selection, undefined).answer?.arrivals;
  const missing = (arrivals?.named ?? []).filter((root) => root.state === 'missing' || root.state === 'failed');
  const [problem, setProblem] = useState<string>();
  const zoom = () => {
    if (brush !== undefined) go({ selection: { ...brush }, own: { brush: undefined } });
  };
  const out = () => {
    if (answer !== undefined) go({ selection: { ...zoomedOut(answer.from_ns, answer.until_ns), min_ns: undefined, max_ns: undefined }, own: { brush: undefined } });
  };
  const all = () => go({ selection: { from_ns: undefined, until_ns: undefined, min_ns: undefined, max_ns: undefined }, own: { brush: undefined } });
  const other = () => go({ own: { scale: scale === 'log' ? 'linear' : undefined } });
  const goesOn = useGesture();
  const covered = status.value?.covered ?? undefined;
  const rangeOf = (about: Scatter) => shownRange(selection, about, question.stale ? covered : undefined);
  // Turns of a wheel come faster than pictures: each goes on from where the one before has led.
  const axesNow = (): Axes | undefined => {
    if (answer === undefined) return undefined;
    const now = place().selection;
    const { from_ns, until_ns, min_ns, max_ns } = now === selection ? rangeOf(answer) : shownRange(now, answer, covered);
    return { time: linear(from_ns, until_ns, 1), duration: scaleOf(scale, min_ns, max_ns, 1) };
  };
  const closer = (axis: keyof Axes, at: number, factor: number, event: Event) => {
    const axes = axesNow();
    if (axes === undefined) return;
    // Before the first chain and after the last one of all there is nothing to see, though the store's minutes begin earlier and end later.
    const { from_ns, until_ns } = place().selection;
    if (axis === 'time' && factor > 1 && from_ns === undefined && until_ns === undefined) return;
    const range = zoomed(axes[axis], at, factor);
    const next = axis === 'time' ? timesOf(range, covered) : durationsOf(range);
    if (next !== undefined) go({ selection: next }, goesOn(event));
  };
  const pan = (times: Range, durations: Range, held: boolean) => {
    const next = timesOf(within(times, covered), undefined);
    // Durations are all shown until the reader has said which.
    const { min_ns, max_ns } = place().selection;
    const bounded = min_ns !== undefined || max_ns !== undefined;
    if (next !== undefined) go({ selection: { ...next, ...(bounded ? durationsOf(durations) : {}) } }, held);
  };
  const step = (later: number, longer: number, event: Event) => {
    const axes = axesNow();
    if (axes !== undefined) pan(panned(axes.time, -later), panned(axes.duration, -longer), goesOn(event));
  };
  useKeys('Scattergram', [
    { key: 'p', does: 'to the plot', run: () => document.querySelector<HTMLElement>('.plot-area')?.focus() },
    { key: 'b', does: 'begin a brush (in the plot); arrows move it, shift and arrows change its size, Esc takes it away; without one, arrows move along', run: () => document.querySelector<HTMLElement>('.plot-area')?.focus() },
    { key: 'z', does: 'zoom into the brush (Enter in the plot)', run: zoom },
    { key: 'o', does: 'zoom out', run: out },
    { key: '+', does: 'closer in time (wheel)', run: (event) => closer('time', 0.5, STEP, event) },
    { key: '-', does: 'further in time', run: (event) => closer('time', 0.5, 1 / STEP, event) },
    { key: 'd', does: 'closer in durations (shift and wheel)', run: (event) => closer('duration', 0.5, STEP, event) },
    { key: 'D', does: 'further in durations', run: (event) => closer('duration', 0.5, 1 / STEP, event) },
    { key: '0', does: 'everything', run: all },
    { key: 'l', does: 'logarithmic or linear', run: other },
  ]);

  return (
    <div class="scatter">
      <section class="panel scatter-main" aria-label="Scattergram">
        <div class="bar">
          <button type="button" disabled={brush === undefined} onClick={zoom} title="key z">Zoom in</button>
          <button type="button" disabled={answer === undefined} onClick={out} title="key o">Zoom out</button>
          <button type="button" onClick={all} title="key 0">All</button>
          <button type="button" aria-pressed={scale === 'log'} onClick={other} title="key l">log</button>
          <span class="spread" />
          {answer !== undefined && <Summary answer={answer} />}
        </div>
        {problem !== undefined && <p class="notice problem" role="alert">{problem}</p>}
        <div ref={ref} class="scatter-room">
          <Answer to={question} what="Reading chains">
            {(shown) => shown.total === 0 && shown.incomplete.x.length === 0 ? <Nothing /> : (
              <Plot answer={shown} missing={missing.map((root) => root.start_ns)} range={rangeOf(shown)} brush={brush} limitNs={selection.limit_ns} onZoom={zoom} onPan={pan}
                onCloser={closer} onStep={step}
                onBrush={(next, held) => go({ own: { brush: next === undefined ? undefined : formatBrush(next) } }, held)}
                onOpen={(chain, startNs, durationNs) => { openChain(selection, chain, startNs, durationNs).then(setProblem, (error: unknown) => setProblem(String(error))); }} />
            )}
          </Answer>
        </div>
        {answer !== undefined && <Legend answer={answer} arrivals={arrivals} />}
      </section>
      {/* The picture comes first; the list of the slowest reads the same columns again. */}
      {ready && (answer !== undefined || question.problem !== undefined) && <Side selection={selection} brush={brush} answer={answer} zoom={zoom} />}
    </div>
  );
}

/** Bins over so many pixels: as before while about as many fit or somebody holds the picture, so that a legend's further line asks for no other. */
function useBins(px: number, most: number, held: boolean): number {
  const before = useRef(0);
  const now = Math.max(50, Math.min(most, Math.floor(px / BIN_PX)));
  if (before.current === 0 || (!held && Math.abs(now - before.current) * 8 > before.current)) before.current = now;
  return before.current;
}

/** Goes to a chain, which is looked for by its start and duration where its id is not known. */
async function openChain(selection: Selection, known: string, startNs: number, durationNs: number): Promise<string | undefined> {
  let chain = known;
  if (chain === '') {
    // A browser's times are 256 ns apart.
    const around: Selection = { ...selection, from_ns: startNs - 512, until_ns: startNs + 512, min_ns: durationNs, max_ns: durationNs };
    const { chains } = await ask('chains', [...selectionParams(around), ['limit', 1]]);
    chain = chains[0]?.chain ?? '';
  }
  if (chain === '') return 'This chain is no longer in the store.';
  go({ view: 'chain', item: chain, own: { near_ns: String(startNs) } });
  return undefined;
}

function Nothing() {
  return (
    <Empty title="No chain is within this selection">
      <p>Choose a longer time range, any level, or another leaf. <Link to={{ selection: { from_ns: undefined, until_ns: undefined, min_ns: undefined, max_ns: undefined, level: undefined, path: undefined, hosts: undefined } }}>Show all chains of this root and leaf</Link></p>
      <p>Nothing recorded yet? <code>chronoscope serve --data DIR</code> collects the transactions of the programs on this host.</p>
    </Empty>
  );
}

function Summary({ answer }: { answer: Scatter }) {
  return (
    <span class="quiet">
      <strong>{formatCount(answer.total)}</strong> durations, {formatDuration(answer.min_ns)} – {formatDuration(answer.max_ns)}
      <span title={`${formatCount(answer.read_rows)} rows read`}> · {formatDuration(answer.elapsed_ms * 1e6)}</span>
    </span>
  );
}

/** The legend: the path of each colour and the meaning of the other marks, as far as they occur. */
function Legend({ answer, arrivals }: { answer: Scatter; arrivals: Arrivals['arrivals'] | undefined }) {
  const without = arrivals === undefined ? 0 : arrivals.missing + arrivals.failed;
  const incomplete = answer.incomplete.count.reduce((a, b) => a + b, 0);
  const lost = answer.gaps.reduce((sum, gap) => sum + gap.lost_rows, 0);
  return (
    <ul class="legend">
      {answer.paths.map((path, index) => (
        <li key={path.path}>
          <button type="button" class="plain" disabled={path.path === ''} title={path.path === '' ? '' : `Only this path: ${path.path}`} onClick={() => go({ selection: { path: path.path } })}>
            <span class="swatch" style={{ background: pathColour(index) }} />
            {path.path === '' ? 'other paths' : `level ${path.level}`}: {formatCount(path.count)} <span class="quiet path">{path.path}</span>
          </button>
        </li>
      ))}
      <li><span class="mark extreme" /> slowest and fastest of each column</li>
      {incomplete > 0 && <li><span class="mark incomplete" /> {formatCount(incomplete)} incomplete, where they started</li>}
      {without > 0 && <li><span class="mark incomplete" /> {formatCount(without)} roots without their leaf, where they started{without > 1000 && ' (the first 1,000)'}</li>}
      {answer.gaps.length > 0 && (
        <li title={answer.gaps.map((gap) => gap.what).join('\n')}><span class="mark gap" /> recorder gaps: {formatCount(lost)} rows lost</li>
      )}
      <Clocks answer={answer} />
    </ul>
  );
}

function Clocks({ answer: { clocks } }: { answer: Scatter }) {
  if (clocks === null || clocks.crossing === 0) return null;
  return (
    <li title={clocks.corrected ? 'corrected by the clock offsets, as far as known' : 'raw stamps'}>
      <span class="mark clock" />{' '}
      {clocks.error_ns_max === null ? 'clocks between hosts: error unknown' : `within the clocks’ error of ${formatDuration(clocks.error_ns_max)}`}
      {clocks.unknown > 0 && <span class="quiet"> · unknown for {formatCount(clocks.unknown)}</span>}
      {clocks.negative > 0 && <span class="bad"> · {formatCount(clocks.negative)} negative</span>}
    </li>
  );
}

/** Beside the plot: what is in the brush and why, or the slowest of all that is shown. */
function Side({ selection, brush, answer, zoom }: { selection: Selection; brush: Brush | undefined; answer: Scatter | undefined; zoom: () => void }) {
  const inside: Selection = brush === undefined ? selection : { ...selection, ...brush };
  const paths = answer?.paths.map((path) => path.path) ?? [];
  return (
    <aside class="panel scatter-side scroll" aria-label={brush === undefined ? 'Slowest chains' : 'Inside the brush'} tabIndex={0}>
      {brush !== undefined && answer !== undefined && (
        <>
          <div class="bar">
            <h2>Marked</h2>
            <span class="spread" />
            <button type="button" onClick={zoom}>Zoom in</button>
            <button type="button" class="plain" onClick={() => go({ own: { brush: undefined } })} aria-label="Remove the brush">×</button>
          </div>
          <p class="quiet brush-words">{brushWords(brush).map((part) => <span key={part}>{part}</span>)}</p>
          <Cause inside={inside} context={{ from_ns: selection.from_ns ?? answer.from_ns, until_ns: selection.until_ns ?? answer.until_ns }} />
        </>
      )}
      <ChainList of={inside} paths={paths} />
    </aside>
  );
}

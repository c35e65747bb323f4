// The profile of one run: its flame graph, all functions, one function with its callers and callees;
// and the difference from another run's.

import { useState } from 'preact/hooks';
import { download } from '../../api/client';
import { Problem } from '../../api/problem';
import { useQuestion } from '../../api/question';
import type { Flame, Runs } from '../../api/types';
import { Exact } from '../../draw/exact';
import { formatCount, formatShare, formatTime } from '../../draw/format';
import { SortedTable, type Column } from '../../draw/sorted-table';
import { saveAs } from '../../save/file';
import { go, place } from '../../selection/current';
import { Answer, Empty } from '../../shell/answer';
import { Link } from '../../shell/link';
import { Calls } from './calls';
import { found, type FlameFunction } from './flame';
import { FlamePicture, zoomOf } from './picture';
import { shortCommit } from './series';
import { difference, functionParams } from './words';

type Run = Runs['runs'][number];

/** The view `/runs/RUN`. */
export function RunProfile({ run, runs }: { run: Run | undefined; runs: readonly Run[] }) {
  const { item, own } = place();
  const kept = run?.profiles.find(({ process }) => process === own['process']) ?? run?.profiles[0];
  const of = own['of'] === 'stacks' || own['of'] === 'calls' ? own['of'] : kept?.of[0];
  const which = [['run', run?.id], ['process', kept?.process], ['of', of], ['event', own['event']]] as const;
  const flame = useQuestion(kept === undefined ? null : 'profiles/flame', [...which, ['before', own['before']]]);
  const name = own['function'];
  const calls = useQuestion(kept === undefined || name === undefined ? null : 'profiles/function', [...which, ['function', name], ['file', own['file']], ['object', own['object']]]);
  if (run === undefined) return <Empty title={`No run ${item}`}><p><Link to={{ item: '' }}>All runs</Link></p></Empty>;
  if (kept === undefined) {
    return (
      <Empty title="This run kept no profile">
        <p><code>chronoscope track run --method callgrind</code> keeps one, and <code>--stacks</code> keeps sampled stacks. <Link to={{ item: '' }}>All runs</Link></p>
      </Empty>
    );
  }
  return (
    <>
      <Head run={run} runs={runs} process={kept.process} kinds={kept.of} of={of} events={flame.answer?.events ?? []} />
      <Answer to={flame} what="Reading the profile">
        {(answer) => (
          <>
            <Tools flame={answer} />
            <FlamePicture flame={answer} />
          </>
        )}
      </Answer>
      {name !== undefined && <Answer to={calls} what="Reading the function">{(answer) => <Calls of={answer} />}</Answer>}
      {flame.answer !== undefined && <Functions flame={flame.answer} />}
    </>
  );
}

interface HeadProps {
  readonly run: Run;
  readonly runs: readonly Run[];
  readonly process: string;
  readonly kinds: readonly ('calls' | 'stacks')[];
  readonly of: 'calls' | 'stacks' | undefined;
  readonly events: readonly string[];
}

/** Which profile is shown, and the ways to others. */
function Head({ run, runs, process, kinds, of, events }: HeadProps) {
  const { own } = place();
  const [problem, setProblem] = useState<string>();
  const others = runs.filter((other) => other.id !== run.id && other.profiles.some((kept) => kept.process === process && (of === undefined || kept.of.includes(of))));
  const choose = (key: string) => (event: { currentTarget: HTMLSelectElement }) => {
    // Frames have other numbers in another profile.
    go({ own: { [key]: event.currentTarget.value === '' ? undefined : event.currentTarget.value, zoom: undefined } });
  };
  const save = () => {
    setProblem(undefined);
    download('profiles/firefox', [['run', run.id], ['process', process], ['of', of], ['event', own['event']]]).then(
      (blob) => saveAs(blob, `profile-${run.id}.json`),
      (error: unknown) => setProblem(error instanceof Problem ? `${error.message}. ${error.hint}` : String(error)),
    );
  };
  return (
    <>
      <div class="bar">
        <Link to={{ item: '' }}>Runs</Link>
        <h2>{shortCommit(run.commit) || run.id} <span class="quiet">{run.subject} {formatTime(run.at_ns, 0)}</span></h2>
        {run.profiles.length > 1 && (
          <label>Process <select value={process} onChange={choose('process')}>{run.profiles.map((kept) => <option key={kept.process} value={kept.process} selected={kept.process === process}>{kept.process}</option>)}</select></label>
        )}
        {kinds.length > 1 && (
          <label>Of <select value={of} onChange={choose('of')}>{kinds.map((kind) => <option key={kind} value={kind} selected={kind === of}>{kind === 'calls' ? 'counted calls' : 'sampled stacks'}</option>)}</select></label>
        )}
        {events.length > 1 && (
          <label>Event <select value={own['event'] ?? events[0]} onChange={choose('event')}>{events.map((event) => <option key={event} value={event} selected={event === (own['event'] ?? events[0])}>{event}</option>)}</select></label>
        )}
        {others.length > 0 && (
          <label>Beside <select value={own['before'] ?? ''} onChange={choose('before')}>
            <option value="" selected={own['before'] === undefined}>no other run</option>
            {others.map((other) => <option key={other.id} value={other.id} selected={other.id === own['before']}>{shortCommit(other.commit) || other.id} {other.subject}</option>)}
          </select></label>
        )}
        <span class="spread" />
        <button type="button" onClick={save} title="The profile as a file for profiler.firefox.com">Firefox Profiler file</button>
      </div>
      {problem !== undefined && <div class="notice problem" role="alert">{problem}</div>}
    </>
  );
}

/** The search, the way back from a zoom, and what the picture is made of. */
function Tools({ flame }: { flame: Flame }) {
  const { own } = place();
  const text = own['find'] ?? '';
  const { frames, share } = found(flame, text);
  return (
    <div class="bar">
      <label>Find <input type="search" value={text} placeholder="function, file, library" onInput={(event) => go({ own: { find: event.currentTarget.value === '' ? undefined : event.currentTarget.value } }, true)} /></label>
      {text !== '' && <span role="status">{frames.size === 0 ? 'nothing found' : `${formatCount(frames.size)} frames, ${formatShare(share)} of all`}</span>}
      {zoomOf(flame, own['zoom']) !== 0 && <button type="button" onClick={() => go({ own: { zoom: undefined } })}>Show all</button>}
      <span class="quiet">{flame.stacks
        ? 'Stacks sampled by perf: the width of a frame is the cost of the samples with that path.'
        : 'Callgrind counts calls and not stacks: the cost of a function is divided among its callers as the costs of their calls are. Costs of functions, callers and callees are exact.'}</span>
    </div>
  );
}

/** Functions in the table at first; a search finds the others. */
const FUNCTIONS = 40;

function Functions({ flame }: { flame: Flame }) {
  const { own } = place();
  const wanted = (own['find'] ?? '').trim().toLowerCase();
  const all = [...flame.functions].sort((one, other) => other.inclusive - one.inclusive || other.own - one.own);
  const rows = all.filter((each) => [each.name, each.file, each.object].some((text) => text.toLowerCase().includes(wanted)));
  const share = (cost: number) => formatShare(flame.total > 0 ? cost / flame.total : 0);
  const cost = (value: number) => <Exact value={value} unit="">{formatCount(value)}</Exact>;
  const columns: Column<FlameFunction>[] = [
    { key: 'function', title: 'Function', by: (row) => row.name, show: (row) => <Link to={{ own: functionParams(row) }}><code>{row.name}</code></Link> },
    { key: 'where', title: 'File, object', by: (row) => `${row.object} ${row.file}`, show: (row) => <span class="quiet">{[row.file, row.object].filter((part) => part !== '' && part !== '???').join(', ')}</span> },
    { key: 'own', title: 'Own', hint: 'in the function itself', number: true, by: (row) => row.own, show: (row) => cost(row.own) },
    { key: 'own_share', title: 'of all', number: true, show: (row) => share(row.own) },
    { key: 'inclusive', title: 'Inclusive', hint: 'with all that it calls; of a function in a cycle, at least', number: true, by: (row) => row.inclusive, show: (row) => <>{row.in_cycle ? '≥ ' : ''}{cost(row.inclusive)}</> },
    { key: 'inclusive_share', title: 'of all', number: true, show: (row) => share(row.inclusive) },
    ...(flame.total_before === null ? [] : [
      { key: 'own_change', title: 'Own, change', number: true, by: (row: FlameFunction) => Math.abs(row.own - (row.own_before ?? 0)), show: (row: FlameFunction) => difference(row.own - (row.own_before ?? 0)) },
      { key: 'inclusive_change', title: 'Inclusive, change', number: true, by: (row: FlameFunction) => Math.abs(row.inclusive - (row.inclusive_before ?? 0)), show: (row: FlameFunction) => difference(row.inclusive - (row.inclusive_before ?? 0)) },
    ]),
  ];
  return (
    <section class="panel scroll profile-functions" aria-label="Functions">
      <SortedTable caption="Functions of the profile" columns={columns} rows={rows.slice(0, FUNCTIONS)} id={(row) => `${row.name} ${row.file} ${row.object}`} param="functions" />
      <p class="quiet">{formatCount(Math.min(rows.length, FUNCTIONS))} of {formatCount(rows.length)} functions that the picture has, the most expensive; the profile has {formatCount(flame.function_count)}.</p>
    </section>
  );
}

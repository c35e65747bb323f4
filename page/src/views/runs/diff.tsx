import type { RunDiff, Runs } from '../../api/types';
import { formatNumber, formatShort, NARROW } from '../../draw/format';
import { sortedRows } from '../../draw/table';
import { Link } from '../../shell/link';
import { OTHERS, pieces } from './cost';
import { shortCommit } from './series';
import { difference } from './words';

type Moved = RunDiff['functions'][number];

/** The difference between two runs: verdicts, changes of cost, functions with their callers. */
export function Diff({ diff, runs }: { diff: RunDiff; runs: readonly Runs['runs'][number][] }) {
  const named = (id: string) => {
    const run = runs.find((each) => each.id === id);
    return run === undefined ? id : shortCommit(run.commit);
  };
  const moved = diff.verdicts.filter((verdict) => verdict.moved).length;
  return (
    <>
      <div class="bar">
        <h2>From {named(diff.a)} to {named(diff.b)}</h2>
        <span class={moved === 0 ? 'good' : undefined}>{moved === 0 ? 'no counter moved beyond its threshold' : `${moved} of ${diff.verdicts.length} counters moved`}</span>
        {diff.note !== null && <span class="quiet">{diff.note}</span>}
        {[diff.a, diff.b].every((id) => runs.find((run) => run.id === id)?.profiles.length) && <Link to={{ item: diff.b, own: { before: diff.a } }}>flame graph of the difference</Link>}
      </div>
      <Verdicts diff={diff} />
      {diff.functions.length > 0 && (
        <section class="panel" aria-label="Where the cost went">
          <h2>Where the cost went</h2>
          <Cost diff={diff} named={named} />
        </section>
      )}
      {diff.functions.length > 0 && <Functions functions={diff.functions} />}
    </>
  );
}

function signed(relative: number): string {
  const percent = relative * 100;
  const digits = Math.abs(percent) < 0.1 ? 3 : Math.abs(percent) < 10 ? 2 : 1;
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(digits)}${NARROW}%`;
}

function Verdicts({ diff }: { diff: RunDiff }) {
  const rows = sortedRows(diff.verdicts, (verdict) => (verdict.moved ? 1e6 : 0) + Math.abs(verdict.relative), true);
  return (
    <section class="panel scroll" aria-label="Verdicts">
      <table>
        <caption class="unseen">Each process and counter, those that moved first</caption>
        <thead>
          <tr>
            <th scope="col">Process</th><th scope="col">Counter</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th>
            <th scope="col" class="number">B beside A</th><th scope="col" class="number" title="Smaller differences are not reported as changes">Threshold</th><th scope="col">Verdict</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((verdict) => (
            <tr key={`${verdict.process} ${verdict.counter}`} class={verdict.moved ? 'moved' : undefined}>
              <th scope="row">{verdict.process}</th>
              <td>{verdict.counter}</td>
              <td class="number">{formatShort(verdict.a)}</td><td class="number">{formatShort(verdict.b)}</td>
              <td class={`number${!verdict.moved ? '' : verdict.relative > 0 ? ' bad' : ' good'}`}>{signed(verdict.relative)}</td>
              <td class="number quiet">{signed(verdict.threshold).replace('+', '±')}</td>
              <td>{verdict.sentence}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Below this share a piece has no room for its name. */
const NAMED = 0.05;

/** Two bars, one over the other; redder where a function costs more in B, greener where less. */
function Cost({ diff, named }: { diff: RunDiff; named: (id: string) => string }) {
  const found = pieces(diff.functions);
  const bar = (side: 'a' | 'b') => (
    <div class="bar-of" role="img" aria-label={`Functions of ${side === 'a' ? named(diff.a) : named(diff.b)}: ${found.slice(0, 5).map((piece) => `${piece.function} ${formatNumber(piece[side] * 100)} %`).join(', ')}`}>
      {found.filter((piece) => piece[side] > 0).map((piece) => (
        <span key={piece.function} class={piece[side] < NAMED ? 'narrow' : undefined} title={`${piece.function}: ${formatNumber(piece.a * 100)} % → ${formatNumber(piece.b * 100)} % of the longer`}
          style={{ width: `${piece[side] * 100}%`, '--of': piece.change > 0 ? 'var(--bad)' : 'var(--good)', '--much': `${Math.round(Math.min(1, Math.abs(piece.change) * 2) * 45)}%` }}>
          {piece[side] >= NAMED ? piece.function : ''}
        </span>
      ))}
    </div>
  );
  return (
    <div class="cost">
      <span class="mono">A {named(diff.a)}</span>{bar('a')}
      <span class="mono">B {named(diff.b)}</span>{bar('b')}
      <span /><span class="quiet">Width: what each function costs by itself. Red: more than in A, green: less. {found.some((piece) => piece.function === OTHERS) && `The smallest are combined as “${OTHERS}”.`}</span>
    </div>
  );
}

function Functions({ functions }: { functions: readonly Moved[] }) {
  const moving = functions.filter((moved) => moved.difference !== 0 || moved.inclusive_difference !== 0);
  const rows = sortedRows(moving, (moved) => Math.abs(moved.difference), true);
  const most = Math.max(...rows.map((moved) => Math.abs(moved.difference)), 1);
  return (
    <section class="panel scroll functions" aria-label="Functions">
      <table>
        <caption>Functions, what moved most first {moving.length < functions.length && <span class="quiet">– {functions.length - moving.length} others cost as before</span>}</caption>
        <thead>
          <tr>
            <th scope="col">Function</th><th scope="col">Process</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th>
            <th scope="col" class="number" title="Function itself">B − A</th><th scope="col" aria-hidden="true" /><th scope="col" class="number" title="Including callees">With callees</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((moved) => (
            <tr key={`${moved.process} ${moved.function} ${moved.source}`}>
              <td class="name">
                {moved.callers.length === 0 ? <code>{moved.function}</code> : (
                  <details>
                    <summary><code>{moved.function}</code></summary>
                    <ul>{moved.callers.map((caller) => <li key={caller.function}>called by <code>{caller.function}</code> {difference(caller.difference)}</li>)}</ul>
                  </details>
                )}
                {moved.source !== '' && <span class="quiet"> {moved.source}</span>}
              </td>
              <td>{moved.process}</td>
              <td class="number">{formatShort(moved.a)}</td><td class="number">{formatShort(moved.b)}</td>
              <td class={`number${moved.difference > 0 ? ' bad' : moved.difference < 0 ? ' good' : ''}`}>{difference(moved.difference)}</td>
              <td class="difference" aria-hidden="true"><Swing share={moved.difference / most} /></td>
              <td class="number">{difference(moved.inclusive_difference)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** A bar from the middle: to the right for more, to the left for less. */
function Swing({ share }: { share: number }) {
  if (share === 0) return null;
  const width = Math.abs(share) * 50;
  return <div class="swing"><i class={share > 0 ? 'more' : 'less'} style={{ left: `${share > 0 ? 50 : 50 - width}%`, width: `${width}%` }} /></div>;
}

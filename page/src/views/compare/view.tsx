// Two stretches of time side by side, of one store or of two: A is the selection's, B is chosen here.

import './style.css';
import { status } from '../../api/connection';
import { useQuestion } from '../../api/question';
import type { Compare as Answered } from '../../api/types';
import { exactTime, formatCount, formatDifference, formatDuration, formatProbability, formatRange, parseTime } from '../../draw/format';
import { Contrast, filled } from '../../draw/contrast';
import { go, place } from '../../selection/current';
import { marks } from '../../selection/marks';
import { selectionParams } from '../../selection/place';
import { Answer, Empty } from '../../shell/answer';
import { Link } from '../../shell/link';
import { Choice, TextInput } from '../../shell/inputs';
import { Attributes } from './attribute-table';
import { Picture } from './picture';
import { aroundMarks, byState, certain, onlyIn, parameters, proposals, relative, shareOf, SIGNIFICANT, storedPart, tone, type Parameter, type Proposal } from './sides';

const A = 'var(--rest)';
const B = 'var(--selected)';

/** The view `/compare`. */
export function CompareView() {
  const { selection, own } = place();
  const { b_store, b_from_ns, b_until_ns } = own;
  // All of another store is a choice; of this one B has to be a part.
  const chosen = b_store !== undefined || (b_from_ns !== undefined && b_until_ns !== undefined);
  const question = useQuestion(chosen && selection.root !== undefined ? 'compare' : null, [
    ...selectionParams(selection), ['b_store', b_store], ['b_from_ns', b_from_ns], ['b_until_ns', b_until_ns],
  ]);
  return (
    <>
      <Chooser />
      {!chosen ? <Unchosen /> : <Answer to={question} what="Comparing">{(answer) => <Compared answer={answer} />}</Answer>}
    </>
  );
}

/** The name that no store can have (`serve --compare NAME=DIR`), for the one that the page is of. */
const THIS_STORE = '';

/** The store and the range of B; A is what the selection bar says. */
function Chooser() {
  const { selection, own } = place();
  const stores = status.value?.compare ?? [];
  const near = Number(own['b_from_ns'] ?? selection.from_ns ?? status.value?.covered?.from_ns ?? 0);
  const read = (text: string) => {
    if (text.trim() === '') return { value: undefined };
    const value = parseTime(text, near);
    return value === undefined ? { error: 'a time, UTC, as 10:00:01.5 or 2026-11-23 10:00' } : { value };
  };
  const time = (key: 'b_from_ns' | 'b_until_ns', label: string, empty: string) => {
    const ns = Number(own[key]);
    return (
      <TextInput label={label} empty={empty} width={19} value={own[key] === undefined || Number.isNaN(ns) ? '' : exactTime(ns)}
        read={read} change={(value) => go({ own: { [key]: value === undefined ? undefined : String(value) } })} />
    );
  };
  return (
    <div class="bar" role="group" aria-label="Compared selections">
      <span class="side-a">A</span> <span class="quiet">the selection above</span>
      <span class="side-b">B</span>
      {(stores.length > 0 || own['b_store'] !== undefined) && (
        <Choice label="store of B" value={own['b_store'] ?? THIS_STORE} choices={[THIS_STORE, ...stores]}
          say={(name) => (name === THIS_STORE ? 'this store' : name)}
          change={(name) => go({ own: { b_store: name === THIS_STORE ? undefined : name, b_from_ns: undefined, b_until_ns: undefined } })} />
      )}
      {time('b_from_ns', 'first start of B, UTC', 'from')}
      <span aria-hidden="true">–</span>
      {time('b_until_ns', 'end of starts of B, UTC', 'until')}
      <span class="spread" />
      {own['b_store'] === undefined && offers().map((proposal) => <Link key={proposal.title} to={toProposal(proposal)}>{proposal.title}</Link>)}
    </div>
  );
}

function offers(): Proposal[] {
  const [{ selection }, covered] = [place(), status.value?.covered ?? undefined];
  return [...proposals(selection, covered), ...aroundMarks(marks.value, selection, covered)];
}

function toProposal({ a, b }: Proposal) {
  return { selection: { from_ns: a.from_ns, until_ns: a.until_ns }, own: { b_from_ns: String(b.from_ns), b_until_ns: String(b.until_ns) } };
}

function Unchosen() {
  return (
    <Empty title="Choose what to compare with.">
      <p>A is the selection above. Enter a time range for B, or choose one of these:</p>
      <div class="proposals">
        {offers().map((proposal) => (
          <button key={proposal.title} type="button" onClick={() => go(toProposal(proposal))}>{proposal.title}</button>
        ))}
      </div>
    </Empty>
  );
}

function rangeOf(side: Answered['a']): string {
  if (side.store !== null) return `${side.store}, ${formatRange(side.from_ns, side.until_ns)}`;
  const { from_ns, until_ns } = storedPart(side, status.value?.covered ?? undefined);
  return formatRange(from_ns, until_ns);
}

function Compared({ answer }: { answer: Answered }) {
  const { a, b, difference } = answer;
  const { selection, own: { b_store, b_from_ns, b_until_ns } } = place();
  if (a.distribution === null || b.distribution === null) {
    return (
      <Empty title={`${a.distribution === null ? 'A' : 'B'} has no such chain`}>
        <p>{rangeOf(a)} is A, {rangeOf(b)} is B. Another range, or <em>level: any</em>, may have chains.</p>
      </Empty>
    );
  }
  return (
    <>
      {difference !== null && <p class="sentence" role="status">{difference.sentence}</p>}
      <div class="compare-pair">
        <section class="panel" aria-label="Durations of A and B">
          <div class="bar">
            <h2>Durations</h2>
            <span><span class="swatch rest" /> A {rangeOf(a)}</span>
            <span><span class="swatch selected" /> B {rangeOf(b)}</span>
          </div>
          <Picture edges={answer.edges_ns} a={a.counts} b={b.counts}
            label={`Histograms of A, ${formatCount(a.distribution.count)} chains, and B, ${formatCount(b.distribution.count)} chains, each as shares of its own count`} />
        </section>
        <section class="panel" aria-label="Parameters">
          <Parameters rows={parameters(a.distribution, b.distribution)} />
          {difference !== null && (
            <p class="quiet">
              Mean: B − A is within {formatDifference(difference.low_ns)} … {formatDifference(difference.high_ns)} (95 %), p {formatProbability(difference.p_value)}
            </p>
          )}
        </section>
      </div>
      <HopTable answer={answer} />
      <Attributes names={{ other: 'B', usual: 'A' }} params={[
        ...selectionParams(selection), ['of', 'times'], ['b_store', b_store], ['b_from_ns', b_from_ns], ['b_until_ns', b_until_ns],
      ]} />
      <PathTable paths={byState(answer.paths)} />
    </>
  );
}

function Parameters({ rows }: { rows: readonly Parameter[] }) {
  const say = (row: Parameter, value: number) => (row.unit === 'ns' ? formatDuration(value) : formatCount(value));
  return (
    <table>
      <caption class="unseen">Parameters of both distributions</caption>
      <thead>
        <tr><th scope="col"><span class="unseen">Parameter</span></th><th scope="col" class="number side-a">A</th><th scope="col" class="number side-b">B</th><th scope="col" class="number">B − A</th><th scope="col" class="number"><span class="unseen">B beside A</span></th></tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.title}>
            <th scope="row">{row.title}</th>
            <td class="number">{say(row, row.a)}</td>
            <td class="number">{say(row, row.b)}</td>
            <td class="number">{row.unit === 'ns' ? formatDifference(row.b - row.a) : ''}</td>
            <td class="number quiet">{relative(row.a, row.b)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Hop by hop, in the server's order: what moved the mean and the tail most first. */
function HopTable({ answer }: { answer: Answered }) {
  if (answer.hops.length === 0) return null;
  const [first, last] = filled(answer.hop_edges_ns, answer.hops.flatMap((hop) => [hop.a.counts, hop.b.counts]));
  const edges = answer.hop_edges_ns.slice(first, last + 1);
  return (
    <section class="panel scroll" aria-label="Differences of hops">
      <table class="compare-hops">
        <caption>
          Where they differ <span class="quiet">– by their share of the change of the mean and of the slowest 1 %; bold where chance is an unlikely reason (p &lt; {SIGNIFICANT})</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">Hop</th><th scope="col">Part</th>
            <th scope="col" class="number" title="Its share of the difference of the mean durations, B minus A">Mean, B − A</th><th scope="col" class="number" title="Of the difference of the mean durations; all add up to 100 %">share</th>
            <th scope="col" class="number" title="Its share of the difference of the mean durations of the slowest 1 % of chains, B minus A">Slowest 1 %, B − A</th><th scope="col" class="number" title="Of the difference of the slowest 1 %; all add up to 100 %">share</th>
            <th scope="col" class="number">Median A</th><th scope="col" class="number">B</th><th scope="col" class="number">99 % A</th><th scope="col" class="number">B</th>
            <th scope="col" class="number" title="Probability of such a difference by chance: in the whole distribution (Kolmogorov-Smirnov), and in the number above the common p99 (Fisher)">p</th><th scope="col">Histograms</th>
          </tr>
        </thead>
        <tbody>{answer.hops.map((hop, index) => <HopRow key={index} hop={hop} edges={edges} from={first} to={last} />)}</tbody>
      </table>
    </section>
  );
}

function HopRow({ hop, edges, from, to }: { hop: Answered['hops'][number]; edges: readonly number[]; from: number; to: number }) {
  const sure = certain(hop);
  const only = onlyIn(hop);
  const of = (side: typeof hop.a, ns: number) => (side.count === 0 ? '–' : formatDuration(ns));
  const change = (ns: number, certainly: boolean) => `number${certainly ? ' sure' : ''} ${tone(ns, certainly) ?? ''}`;
  return (
    <tr class={sure.anywhere || sure.tail ? 'certain' : undefined}>
      <th scope="row">{hop.hop}{only !== undefined && <span class="quiet"> only in {only}</span>}</th>
      <td>{hop.part === 'wait' ? 'wait before' : 'work'}</td>
      <td class={change(hop.mean_change_ns, sure.anywhere)}>{formatDifference(Math.round(hop.mean_change_ns))}</td>
      <td class="number">{shareOf(hop.share_of_mean)}</td>
      <td class={change(hop.tail_change_ns, sure.tail)}>{formatDifference(Math.round(hop.tail_change_ns))}</td>
      <td class="number">{shareOf(hop.share_of_tail)}</td>
      <td class="number">{of(hop.a, hop.a.median_ns)}</td>
      <td class="number">{of(hop.b, hop.b.median_ns)}</td>
      <td class="number">{of(hop.a, hop.a.p99_ns)}</td>
      <td class="number">{of(hop.b, hop.b.p99_ns)}</td>
      <td class="number" title={only === undefined ? `anywhere ${formatProbability(hop.p_value)}, slowest 1 % ${formatProbability(hop.tail_p_value)}` : undefined}>
        {only === undefined ? formatProbability(Math.min(hop.p_value, hop.tail_p_value)) : ''}
      </td>
      <td class="picture">
        <Contrast edges={edges} front={hop.b.counts.slice(from, to)} back={hop.a.counts.slice(from, to)} width={240} height={24} frontColour={B} backColour={A} />
      </td>
    </tr>
  );
}

const STATES: Readonly<Record<Answered['paths'][number]['state'], string>> = { new: 'new in B', vanished: 'only in A', both: '' };

function PathTable({ paths }: { paths: Answered['paths'] }) {
  return (
    <section class="panel scroll" aria-label="Paths">
      <table class="compare-paths">
        <caption>Paths</caption>
        <thead>
          <tr><th scope="col">Path</th><th scope="col"><span class="unseen">New or gone</span></th><th scope="col" class="number">Chains in A</th><th scope="col" class="number">Chains in B</th><th scope="col" class="number"><span class="unseen">B beside A</span></th></tr>
        </thead>
        <tbody>
          {paths.map((path) => (
            <tr key={path.path}>
              <td><Link to={{ selection: { path: path.path } }}>{path.path}</Link></td>
              <td class={`state-${path.state}`}>{STATES[path.state]}</td>
              <td class="number">{formatCount(path.a)}</td>
              <td class="number">{formatCount(path.b)}</td>
              <td class="number quiet">{path.state === 'both' ? relative(path.a, path.b) : ''}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

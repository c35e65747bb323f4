import { useQuestion } from '../../api/question';
import type { Hops } from '../../api/types';
import { filled, Contrast } from '../../draw/contrast';
import { formatCount, formatDifference, formatDuration, formatProbability, formatShare } from '../../draw/format';
import { selectionParams } from '../../selection/place';
import type { Selection } from '../../api/types';
import { Answer } from '../../shell/answer';
import { Attributes } from '../compare/attribute-table';

interface CauseProps {
  /** The brush as a selection. */
  readonly inside: Selection;
  /** The range of time that the rest is taken from. */
  readonly context: { readonly from_ns: number; readonly until_ns: number };
}

/** The difference between the marked chains and the rest: a sentence that names the cause, then a table by hop. */
export function Cause({ inside, context }: CauseProps) {
  const question = useQuestion('hops', [
    ...selectionParams(inside), ['context_from_ns', context.from_ns], ['context_until_ns', context.until_ns],
  ]);
  return (
    <Answer to={question} what="Comparing hop by hop">
      {(hops) => (
        <section class="cause" aria-label="Difference from the other chains">
          {hops.sentence !== '' && <p class="sentence">{hops.sentence}</p>}
          <p class="quiet">
            <span class="side"><span class="swatch selected" /> {formatCount(hops.selected)} marked{sampled(hops.sampled_selected, hops.selected)}</span>{' '}
            <span class="side"><span class="swatch rest" /> {formatCount(hops.rest)} others{sampled(hops.sampled_rest, hops.rest)}</span>
          </p>
          <Parts hops={hops} />
          <Where hops={hops} />
          <Attributes names={{ other: 'marked', usual: 'others of the same time' }} params={[
            ...selectionParams(inside), ['of', 'selected'], ['context_from_ns', context.from_ns], ['context_until_ns', context.until_ns],
          ]} />
        </section>
      )}
    </Answer>
  );
}

function sampled(sample: number, all: number): string {
  return sample < all ? ` (${formatCount(sample)} drawn at random)` : '';
}

/** Below this share of the difference a hop has no part in it. */
const PART = 0.005;

/** The hops that make the difference; the others are folded away. */
function Parts({ hops }: { hops: Hops }) {
  const [first, last] = filled(hops.edges_ns, hops.hops.flatMap((hop) => [hop.selected.counts, hop.rest.counts]));
  const edges = hops.edges_ns.slice(first, last + 1);
  const most = Math.max(...hops.hops.map((hop) => hop.share_of_difference));
  const named = new Map<string, number>();
  for (const hop of hops.hops) named.set(`${hop.part} ${hop.hop}`, (named.get(`${hop.part} ${hop.hop}`) ?? 0) + 1);
  const part = (hop: Hops['hops'][number]) => (
    <li key={`${hop.level} ${hop.hop} ${hop.part}`} class={hop.share_of_difference === most && most > 0.2 ? 'cause-most' : ''}
      title={`median ${formatDuration(hop.rest.median_ns)} → ${formatDuration(hop.selected.median_ns)}; Kolmogorov-Smirnov ${hop.ks.toFixed(2)}, p ${formatProbability(hop.p_value)}`}>
      <span class="hop">
        <span class="quiet">{hop.part === 'wait' ? 'wait before' : 'in'}</span> {hop.hop}
        {named.get(`${hop.part} ${hop.hop}`) !== 1 && <span class="quiet"> at level {hop.level}</span>}
      </span>
      <span class="share">{hop.share_of_difference >= PART ? formatShare(hop.share_of_difference) : ''}</span>
      <Contrast edges={edges} front={hop.selected.counts.slice(first, last)} back={hop.rest.counts.slice(first, last)} width={200} height={22}
        frontColour="var(--selected)" backColour="var(--rest)" />
      <span class="shift">{formatDifference(hop.shift_ns)}</span>
      <Inside of={hop} />
    </li>
  );
  const making = hops.hops.filter((hop) => hop.share_of_difference >= PART);
  const others = hops.hops.filter((hop) => hop.share_of_difference < PART);
  const scale = <li class="scale quiet" aria-hidden="true"><span>{formatDuration(edges[0] ?? 0)}</span><span>{formatDuration(edges.at(-1) ?? 0)}</span></li>;
  return (
    <>
      {making.length > 0 && <ol class="parts">{making.map(part)}{scale}</ol>}
      {others.length > 0 && (
        <details class="parts-others" open={making.length === 0}>
          <summary class="quiet">{formatCount(others.length)} {making.length === 0 ? 'parts' : 'others'} that make no difference</summary>
          <ol class="parts">{others.map(part)}{scale}</ol>
        </details>
      )}
    </>
  );
}

/** A class inside a hop is named where it makes at least this share of the hop's change. */
const INSIDE = 0.1;

/** The calls inside a hop, beside the path, that make a part of its change. */
function Inside({ of: { inside, selected, rest } }: { of: Hops['hops'][number] }) {
  const change = Math.abs(selected.mean_ns - rest.mean_ns);
  const told = inside.filter((each) => change > 0 && Math.abs(each.selected_mean_ns - each.rest_mean_ns) >= INSIDE * change);
  if (told.length === 0) return null;
  return (
    <ul class="inside quiet">
      {told.map((each) => (
        <li key={each.class}>inside: {each.class} {formatDuration(each.selected_mean_ns)} of {formatDuration(selected.mean_ns)}; others {formatDuration(each.rest_mean_ns)} of {formatDuration(rest.mean_ns)}</li>
      ))}
    </ul>
  );
}

/** Hosts, where the marked chains ran elsewhere than the rest; of one host alone nothing is to be said. */
function Where({ hops }: { hops: Hops }) {
  if (new Set(hops.hosts.map((host) => host.host)).size < 2) return null;
  const share = (count: number, all: number) => (all === 0 ? '–' : formatShare(count / all));
  return (
    <table>
      <thead><tr><th scope="col">Host</th><th scope="col">Hop</th><th scope="col" class="number">marked</th><th scope="col" class="number">others</th></tr></thead>
      <tbody>
        {hops.hosts.map((host) => (
          <tr key={`${host.host} ${host.hop}`}>
            <td>{host.host}</td><td class="quiet">{host.hop}</td>
            <td class="number">{share(host.selected, hops.sampled_selected)}</td>
            <td class="number">{share(host.rest, hops.sampled_rest)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

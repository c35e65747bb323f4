import type { Rings } from '../../api/types';
import { formatCount, formatTime } from '../../draw/format';
import { go, place } from '../../selection/current';
import { Link } from '../../shell/link';
import { groups, nameOf, trouble, type Group, type Summary } from './hosts';

/** Ended processes of a host from which on they are folded, while others run. */
const FOLDED_FROM = 4;

interface ListProps {
  readonly answer: Rings;
  readonly item: string;
  readonly agent: string | undefined;
}

/** The processes of all hosts; hosts whose rings are not known say why. */
export function ProcessList({ answer, item, agent }: ListProps) {
  const found = groups(answer);
  return (
    <section class="panel scroll list" aria-label="Processes">
      <table data-group="Host">
        <caption>Processes</caption>
        <thead>
          <tr><th scope="col">Application</th><th scope="col" class="number">Process</th><th scope="col" class="number">Recorded</th><th scope="col" class="number">Open</th><th scope="col" class="number">Lost</th></tr>
        </thead>
        {found.map((group) => <HostRows key={group.host.agent ?? ''} group={group} named={found.length > 1} item={item} agent={agent} />)}
      </table>
      {found.flatMap(({ host }) => host.failed.map((sentence) => (
        <p key={`${nameOf(host)} ${sentence}`} class="bad">Not readable{host.agent === null ? '' : ` on ${host.host}`}: {sentence}</p>
      )))}
    </section>
  );
}

interface HostRowsProps {
  readonly group: Group;
  /** Whether the host's name stands above its processes. */
  readonly named: boolean;
  readonly item: string;
  readonly agent: string | undefined;
}

function HostRows({ group: { host, rings }, named, item, agent }: HostRowsProps) {
  const why = trouble(host);
  const ended = rings.filter((ring) => !ring.alive);
  const chosen = (ring: Summary) => ring.id === item && (ring.agent ?? undefined) === agent;
  const folds = ended.length >= FOLDED_FROM && ended.length < rings.length && place().own['ended'] !== 'yes';
  const shown = folds ? rings.filter((ring) => ring.alive || chosen(ring)) : rings;
  return (
    <tbody>
      {named && (
        <tr class="host">
          <th scope="rowgroup" colSpan={5} title={host.program === null ? undefined : `by its agent, ${host.program}`}>
            {nameOf(host)}
            {why !== undefined && <span class={host.state === 'away' ? 'quiet' : 'bad'}> {why}</span>}
            {why === undefined && rings.length === 0 && <span class="quiet"> no process is recording</span>}
          </th>
        </tr>
      )}
      {shown.map((ring) => <Process key={ring.id} ring={ring} current={chosen(ring)} />)}
      {folds && (
        <tr><td colSpan={5}><button type="button" class="plain inline" onClick={() => go({ own: { ended: 'yes' } }, true)}>{formatCount(ended.length)} ended: show</button></td></tr>
      )}
      {host.left_out > 0 && <tr><td colSpan={5} class="quiet">{formatCount(host.left_out)} further rings are not listed</td></tr>}
    </tbody>
  );
}

function Process({ ring, current }: { ring: Summary; current: boolean }) {
  return (
    <tr class={ring.alive ? undefined : 'dead'} aria-current={current ? 'true' : undefined}>
      <td>
        <Link to={{ item: ring.id, own: { agent: ring.agent ?? undefined } }} title={`since ${formatTime(ring.started_ns, 0)} UTC`}>{ring.application}{ring.instance !== '' && ` ${ring.instance}`}</Link>
        {!ring.alive && ' (ended)'}
      </td>
      <td class="number">{ring.process}</td>
      <td class="number">{formatCount(ring.recorded)}</td>
      <td class="number">{formatCount(ring.open)}</td>
      <td class={`number${ring.lost > 0 ? ' bad' : ''}`}>{formatCount(ring.lost)}</td>
    </tr>
  );
}

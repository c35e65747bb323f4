import type { Ring } from '../../api/types';
import { Duration } from '../../draw/exact';
import { formatShare, formatTime, formatTimeOfDay } from '../../draw/format';
import { cpuShare, LengthBar } from '../../draw/length-bar';
import { NO_CPU, Unknown } from '../../draw/unknown';
import { toChain } from '../../selection/links';
import { Link } from '../../shell/link';
import { shortName } from './names';
import { worstOf, type WorstRow } from './worst-of';

const ORDERS = [
  ['elapsed', 'Worst by elapsed time'],
  ['cpu', 'Worst by thread CPU time'],
] as const;

interface WorstProps {
  readonly answer: Ring;
  /** Only this class; else those of all classes together. */
  readonly chosen: string | undefined;
  readonly colourOf: (name: string) => string;
}

/** The worst cases that the ring keeps, by either order, side by side. */
export function Worst({ answer, chosen, colourOf }: WorstProps) {
  return (
    <div class="worst-pair">
      {ORDERS.map(([by, title]) => (
        <Table key={by} title={title} of={chosen} rows={worstOf(answer.classes, by, chosen)} colourOf={colourOf} nameOf={(name) => shortName(name, answer)}
          none={by === 'cpu' && !answer.measures_cpu ? 'this program does not measure CPU time' : 'nothing has ended yet, or the program’s recorder keeps none'} />
      ))}
    </div>
  );
}

interface TableProps {
  readonly title: string;
  readonly of: string | undefined;
  readonly rows: readonly WorstRow[];
  readonly none: string;
  readonly colourOf: (name: string) => string;
  readonly nameOf: (name: string) => string;
}

function Table({ title, of, rows, none, colourOf, nameOf }: TableProps) {
  const most = Math.max(...rows.map((row) => row.elapsed_ns), 1);
  return (
    <section class="panel scroll worst-cases" aria-label={title}>
      <table>
        <caption>{title}{of !== undefined && <span class="quiet"> of {of}</span>}</caption>
        <thead>
          <tr>
            {of === undefined && <th scope="col">Class</th>}
            <th scope="col" class="number">Elapsed</th><th scope="col" aria-hidden="true" /><th scope="col" class="number" title="Thread CPU time">CPU</th>
            <th scope="col">Start, UTC</th><th scope="col">Context</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              {of === undefined && <td class="name" title={row.class}><span class="dot" style={{ background: colourOf(row.class) }} /> {nameOf(row.class)}</td>}
              <td class="number"><Link to={toChain(row.chain, row.start_ns)} title="Its chain, after it is collected"><Duration ns={row.elapsed_ns} /></Link></td>
              <td class="bar-cell" aria-hidden="true"><LengthBar of={row} most={most} /></td>
              <td class="number"><Cpu row={row} /></td>
              <td><time dateTime={formatTime(row.start_ns, 6)} title={formatTime(row.start_ns, 6)}>{formatTimeOfDay(row.start_ns)}</time></td>
              <td class={`context${row.status.toLowerCase() === 'good' ? '' : ' bad'}`} title={row.context}>{row.status.toLowerCase() === 'good' ? '' : `${row.status} `}{row.context}</td>
            </tr>
          ))}
          {rows.length === 0 && <tr><td colSpan={of === undefined ? 6 : 5} class="quiet">{none}</td></tr>}
        </tbody>
      </table>
    </section>
  );
}

function Cpu({ row }: { row: WorstRow }) {
  const share = cpuShare(row);
  return row.cpu_ns === null ? <Unknown why={NO_CPU} /> : <span title={share === null ? undefined : `${formatShare(share)} of the elapsed time`}><Duration ns={row.cpu_ns} /></span>;
}

import { Duration } from '../../draw/exact';
import { formatCount, formatTime, formatTimeOfDay } from '../../draw/format';
import { LengthBar } from '../../draw/length-bar';
import type { Nested } from '../../draw/nest';
import { NO_CPU, Unknown } from '../../draw/unknown';
import { toChain } from '../../selection/links';
import { Link } from '../../shell/link';
import { newestFirst, type Piece } from './pieces';

/** Lines of the list: a browser lays out no more than these each second. */
const LISTED_MAX = 1000;
/** Steps of indentation that a line may have. */
const INDENT_MAX = 12;

interface LastProps {
  readonly pieces: readonly Piece[];
  readonly colourOf: (name: string) => string;
  readonly nameOf: (name: string) => string;
}

/** The last transactions, each indented below its caller. */
export function Last({ pieces, colourOf, nameOf }: LastProps) {
  const nodes = newestFirst(pieces);
  const shown = nodes.slice(0, LISTED_MAX);
  const most = Math.max(...shown.filter(({ row }) => !row.open).map(({ row }) => row.elapsed_ns), 1);
  return (
    <section class="panel scroll last" aria-label="Last transactions">
      <table>
        <caption>
          Last {formatCount(pieces.filter((piece) => !piece.open).length)}, nested
          {' '}<span class="quiet">the newest call first; below it what it called{nodes.length > shown.length && `; ${formatCount(shown.length)} lines of ${formatCount(nodes.length)}`}</span>
        </caption>
        <thead>
          <tr>
            <th scope="col">Class</th><th scope="col" class="number depth" title="Steps below the outermost that is listed">Depth</th><th scope="col" class="number">Elapsed</th><th scope="col" aria-hidden="true" />
            <th scope="col" class="number">CPU</th><th scope="col">Start, UTC</th><th scope="col" class="number">Thread</th><th scope="col">Status</th><th scope="col">Context</th><th scope="col">Chain</th>
          </tr>
        </thead>
        <tbody>{shown.map((node) => <Line key={node.row.id} node={node} most={most} colour={colourOf(node.row.class)} name={nameOf(node.row.class)} />)}</tbody>
      </table>
      {nodes.length === 0 && <p class="quiet">Nothing has ended yet.</p>}
    </section>
  );
}

function Line({ node: { row, depth, orphan }, most, colour, name }: { node: Nested<Piece>; most: number; colour: string; name: string }) {
  return (
    <tr class={row.open ? 'open-line' : undefined}>
      <td class="name" style={{ paddingLeft: `${Math.min(depth, INDENT_MAX) * 1.1}rem` }} title={orphan ? `${row.class}: its parent is of another process, or no longer in the ring` : row.class}>
        <span class="dot" style={{ background: colour }} /> {name}
      </td>
      <td class="number quiet depth">{depth}</td>
      <td class="number"><Duration ns={row.elapsed_ns} /></td>
      <td class="bar-cell" aria-hidden="true">{!row.open && <LengthBar of={row} most={most} />}</td>
      <td class="number">{row.cpu_ns === null ? <Unknown why={row.open ? 'CPU time is measured at the end' : NO_CPU} /> : <Duration ns={row.cpu_ns} />}</td>
      <td><time dateTime={formatTime(row.at_ns, 6)}>{formatTimeOfDay(row.at_ns, 6)}</time></td>
      <td class="number">{row.thread}</td>
      <td class={row.open || row.status.toLowerCase() === 'good' ? 'quiet' : 'bad'}>{row.open ? 'open' : row.status}</td>
      <td class="context" title={row.context}>{row.context}</td>
      <td class="mono">{row.chain === '' ? '–' : <Link to={toChain(row.chain, row.at_ns)} title="After it is collected">{row.chain.slice(0, 8)}</Link>}</td>
    </tr>
  );
}

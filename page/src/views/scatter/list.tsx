import { useQuestion } from '../../api/question';
import type { Selection } from '../../api/types';
import { pathColour } from '../../draw/colours';
import { Duration } from '../../draw/exact';
import { formatCount, formatTime, formatTimeOfDay } from '../../draw/format';
import { selectionParams } from '../../selection/place';
import { Answer } from '../../shell/answer';
import { Link } from '../../shell/link';

const LIMIT = 100;

/** The slowest chains of a selection, each a link to its waterfall. */
export function ChainList({ of, paths }: { of: Selection; paths: readonly string[] }) {
  const question = useQuestion('chains', [...selectionParams(of), ['order', 'longest'], ['limit', LIMIT]]);
  return (
    <Answer to={question} what="Looking for the slowest chains">
      {({ total, chains }) => (
        <table class="chains">
          <caption>{total > chains.length ? `The ${formatCount(chains.length)} slowest of ${formatCount(total)}` : `All ${formatCount(total)}, slowest first`}</caption>
          <thead><tr><th scope="col" class="number">Duration</th><th scope="col">Started</th><th scope="col">Level</th><th scope="col">Ended on</th></tr></thead>
          <tbody>
            {chains.map((chain) => (
              <tr key={`${chain.chain} ${chain.start_ns} ${chain.duration_ns}`}>
                <td class="number">
                  <Link to={{ view: 'chain', item: chain.chain, own: { near_ns: String(chain.start_ns) } }} title={`chain ${chain.chain}`}>
                    <Duration ns={chain.duration_ns} />
                  </Link>
                </td>
                <td><time dateTime={formatTime(chain.start_ns, 6)}>{formatTimeOfDay(chain.start_ns, 3)}</time></td>
                <td title={chain.path}>
                  <span class="dot" style={{ background: pathColour(paths.indexOf(chain.path)) }} /> {chain.level}
                </td>
                <td>{chain.leaf_host}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Answer>
  );
}

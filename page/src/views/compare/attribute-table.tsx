// The attribute values by which two sets of chains differ: two times, or what is marked and the rest.

import './attribute-table.css';
import { useQuestion } from '../../api/question';
import type { AttributeContrast, Params } from '../../api/types';
import { formatCount, formatDifference, formatProbability, formatShare } from '../../draw/format';
import { place } from '../../selection/current';
import { Answer } from '../../shell/answer';
import { Link } from '../../shell/link';
import { gap, shownFirst, withFilter } from './differences';

interface AttributesProps {
  /** The parameters of the question: the selection, and the two sets. */
  readonly params: Params<'contrast'>;
  /** How the other set and the usual one are called. */
  readonly names: { readonly other: string; readonly usual: string };
}

/** Asks for the attributes that differ, and shows them. */
export function Attributes({ params, names }: AttributesProps) {
  const question = useQuestion('contrast', params);
  return (
    <Answer to={question} what="Comparing attributes">
      {(answer) => <AttributeTable answer={answer} names={names} />}
    </Answer>
  );
}

function AttributeTable({ answer, names }: { answer: AttributeContrast; names: AttributesProps['names'] }) {
  const [shown, folded] = shownFirst(answer.differences);
  return (
    <section class="panel scroll" aria-label="Attributes that differ">
      <h3>Attributes that differ</h3>
      <p class="sentence">{answer.sentence}</p>
      {shown.length > 0 && <Rows rows={shown} names={names} />}
      {folded.length > 0 && (
        <details>
          <summary class="quiet">{formatCount(folded.length)} more</summary>
          <Rows rows={folded} names={names} />
        </details>
      )}
      <p class="quiet">
        {formatCount(answer.other.sampled)} of {formatCount(answer.other.total)} {names.other}, {formatCount(answer.usual.sampled)} of {formatCount(answer.usual.total)} {names.usual};{' '}
        {formatCount(answer.looked_at)} values looked at{answer.rare > 0 && `, ${formatCount(answer.rare)} too rare`}
      </p>
    </section>
  );
}

function Rows({ rows, names }: { rows: AttributeContrast['differences']; names: AttributesProps['names'] }) {
  const { selection } = place();
  const shift = (ns: number | null) => (ns === null ? '–' : formatDifference(Math.round(ns)));
  return (
    <table class="contrast">
      <thead>
        <tr>
          <th scope="col">Attribute</th>
          <th scope="col" class="number">{names.other}</th>
          <th scope="col" class="number">{names.usual}</th>
          <th scope="col" class="number" title="Difference of the shares, in points of per cent">difference</th>
          <th scope="col" class="number" title="Median of the chains with it less that of the others">median with it</th>
          <th scope="col" class="number" title="Chance of such a difference with any of the values looked at, corrected for their number and for the dependence of chains in time">p</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.filter}>
            <th scope="row">
              <Link to={{ selection: { where: withFilter(selection.where, row.filter) } }} title="Select the chains that have it">{row.filter}</Link>
              {row.same.length > 0 && <span class="quiet" title={row.same.join('\n')}> and {row.same.slice(0, 2).join(', ')}{row.same.length > 2 && '…'}</span>}
            </th>
            <td class="number">{formatShare(row.other_share)}</td>
            <td class="number">{formatShare(row.usual_share)}</td>
            <td class="number">{gap(row.difference)}</td>
            <td class="number">{shift(row.median_shift_ns)}</td>
            <td class="number">{formatProbability(row.p_corrected)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

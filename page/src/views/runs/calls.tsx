import type { RunFunction } from '../../api/types';
import { Exact } from '../../draw/exact';
import { formatCount, formatShare } from '../../draw/format';
import { SortedTable, type Column } from '../../draw/sorted-table';
import { go } from '../../selection/current';
import { Link } from '../../shell/link';
import { functionParams } from './words';

type Call = RunFunction['callers'][number];

/** A function between its callers and its callees; a click on one of them walks on. */
export function Calls({ of }: { of: RunFunction }) {
  const share = (cost: number) => formatShare(of.total > 0 ? cost / of.total : 0);
  const called = of.callers.filter((call) => !call.recursive).reduce((sum, call) => sum + call.inclusive, 0);
  return (
    <section class="panel" aria-label="Callers and callees">
      <div class="bar">
        <h2><code>{of.name}</code></h2>
        <span class="quiet">{[of.file, of.object].filter((part) => part !== '' && part !== '???').join(', ')}</span>
        <span class="spread" />
        <button type="button" onClick={() => go({ own: { function: undefined, file: undefined, object: undefined } })}>Close</button>
      </div>
      <div class="calls">
        <CallTable title="Callers" empty="Nobody calls it: a program or a thread begins here." calls={of.callers} whole={called} param="callers" hint="part of what all callers' calls cost" />
        <div>
          <h3>Itself</h3>
          <dl class="parameters">
            <dt>Inclusive</dt><dd title={of.cycle.length > 0 ? 'at least: it is in a cycle' : undefined}><Exact value={of.inclusive} unit="">{of.cycle.length > 0 ? '≥ ' : ''}{formatCount(of.inclusive)}</Exact> ({share(of.inclusive)})</dd>
            <dt>Own</dt><dd><Exact value={of.own} unit="">{formatCount(of.own)}</Exact> ({share(of.own)})</dd>
            <dt>Called</dt><dd>{formatCount(of.calls)}</dd>
          </dl>
          {of.cycle.length > 0 && <p class="quiet">In a cycle of {formatCount(of.cycle.length)} functions: {of.cycle.slice(0, 8).join(', ')}{of.cycle.length > 8 ? ', …' : ''}.</p>}
          {of.lines.some((line) => line.line > 0) && (
            <table>
              <caption>Source lines</caption>
              <thead><tr><th scope="col">Line</th><th scope="col" class="number">Own</th></tr></thead>
              <tbody>{of.lines.map((line) => <tr key={`${line.file}:${line.line}`}><td class="mono">{line.file}:{line.line}</td><td class="number">{formatCount(line.own)}</td></tr>)}</tbody>
            </table>
          )}
        </div>
        <CallTable title="Callees" empty="It calls nobody." calls={of.callees} whole={of.inclusive} param="callees" hint="part of this function's inclusive cost" />
      </div>
    </section>
  );
}

interface CallTableProps {
  readonly title: string;
  readonly empty: string;
  readonly calls: readonly Call[];
  readonly whole: number;
  readonly param: string;
  readonly hint: string;
}

function CallTable({ title, empty, calls, whole, param, hint }: CallTableProps) {
  const columns: readonly Column<Call>[] = [
    { key: 'function', title: 'Function', by: (call) => call.name, show: (call) => <><Link to={{ own: functionParams(call) }}><code>{call.name}</code></Link> <span class="quiet">{call.object}</span></> },
    { key: 'calls', title: 'Calls', number: true, by: (call) => call.calls, show: (call) => formatCount(call.calls) },
    { key: 'inclusive', title: 'Inclusive', number: true, by: (call) => call.inclusive, show: (call) => <Exact value={call.inclusive} unit="">{formatCount(call.inclusive)}</Exact> },
    { key: 'share', title: 'Share', hint, number: true, show: (call) => (call.recursive ? <span class="quiet" title="within a cycle: the same cost once per level">recursive</span> : formatShare(whole > 0 ? call.inclusive / whole : 0)) },
  ];
  return (
    <div class="scroll">
      {calls.length === 0 ? <><h3>{title}</h3><p class="quiet">{empty}</p></> : (
        <SortedTable caption={title} shown columns={columns} rows={calls} id={(call) => `${call.name} ${call.file} ${call.object}`} param={param} />
      )}
    </div>
  );
}

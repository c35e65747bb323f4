import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Chain } from '../../api/types';
import { formatCount, formatDuration, formatTime } from '../../draw/format';
import { NO_CPU, Unknown } from '../../draw/unknown';
import { Link } from '../../shell/link';
import { contextOf, shownFirst, VALUE_SHOWN, type Fact as ContextFact } from './context';
import type { Inside, Node } from './tree';
import { LinkedName } from './waterfall';

/** Everything that is known of one transaction. */
export function Details({ node: { row, orphan }, within, chain, onClose }: { node: Node; within: readonly Inside[]; chain: Chain; onClose: () => void }) {
  const name = `${row.application}::${row.class}`;
  const root = chain.rows.find((other) => other.parent === null);
  return (
    <aside class="panel chain-details scroll" aria-label={`Transaction ${name}`} tabIndex={0}>
      <div class="bar"><h2>{row.class}</h2><span class="spread" /><button type="button" class="plain" onClick={onClose} aria-label="Close">×</button></div>
      <dl class="parameters">
        <Fact name="application">{row.application}</Fact>
        <Fact name="host">{row.host}</Fact>
        <Fact name="process, thread">{row.process}, {row.thread}</Fact>
        <Fact name="start, UTC">{formatTime(chain.root_start_ns + row.start_ns, 6)}</Fact>
        <Fact name="after the root">{formatDuration(row.start_ns)}</Fact>
        {row.clock_error_ns !== null && row.clock_error_ns > 0 && <Fact name="clock error at most">±{formatDuration(row.clock_error_ns)}</Fact>}
        {row.wait_ns !== null && <Fact name="wait before">{formatDuration(row.wait_ns)}</Fact>}
        <Fact name="elapsed">{row.open ? 'open: had not ended when it was read' : formatDuration(row.elapsed_ns)}</Fact>
        <Fact name="thread CPU">{row.cpu_ns === null ? <Unknown why={NO_CPU} /> : formatDuration(row.cpu_ns)}</Fact>
        {row.percentile !== null && <Fact name="rank in its class">longer than {row.percentile.toFixed(2)} %</Fact>}
        <Fact name="status"><span class={row.status === 'GOOD' ? 'good' : 'bad'}>{row.status}</span>{!row.counts_for_chain && ' (independent: it does not count for the chain)'}</Fact>
        <Fact name="called">{row.parent === null ? 'root' : row.asynchronous ? 'asynchronously' : 'and waited for'}{orphan && ', by a transaction that is missing'}</Fact>
        {row.links.map((link) => <Fact key={`${link.chain} ${link.id}`} name="also takes"><LinkedName link={link} chain={chain.chain} /></Fact>)}
        {row.links_unknown && <Fact name="also takes">others that its row had no room for</Fact>}
        <Fact name="level">{row.level}</Fact>
        <Fact name="id"><span class="mono">{row.id}</span></Fact>
      </dl>
      <Within of={within} elapsedNs={row.elapsed_ns} />
      <Context key={row.id} facts={contextOf(row)} />
      <p class="bar">
        <Link to={{ view: 'histogram', selection: { kind: 'sync', root: name, leaf: undefined, level: undefined, path: undefined, min_ns: undefined, max_ns: undefined } }}>Histogram of {row.class}</Link>
        {root !== undefined && root.id !== row.id && (
          <Link to={{ view: 'scatter', selection: { kind: 'acpd', root: `${root.application}::${root.class}`, leaf: name, level: undefined, path: undefined, min_ns: undefined, max_ns: undefined } }}>Chains to here</Link>
        )}
      </p>
    </aside>
  );
}

/** Classes that are told. */
const WITHIN_MAX = 5;

/** The calls inside a transaction that it waited for, beside the path. */
function Within({ of, elapsedNs }: { of: readonly Inside[]; elapsedNs: number }) {
  if (of.length === 0) return null;
  return (
    <section class="context" aria-label="Inside it, beside the path">
      <h3>Inside it, beside the path</h3>
      <dl class="parameters">
        {of.slice(0, WITHIN_MAX).map(({ name, ns, count }) => (
          <Fact key={name} name={name}>{formatDuration(ns)} of {formatDuration(elapsedNs)}{count > 1 && `, ${formatCount(count)} calls`}</Fact>
        ))}
      </dl>
    </section>
  );
}

/** Properties and metrics: name above value, so that neither leaves the other a column one letter wide. */
function Context({ facts }: { facts: readonly ContextFact[] }) {
  const [all, setAll] = useState(false);
  if (facts.length === 0) return null;
  const first = shownFirst(facts);
  const shown = all ? facts : first;
  return (
    <section class="context" aria-label="Context">
      <h3>Context</h3>
      <dl>{shown.map(({ key, value }) => <div key={key}><dt>{key}</dt><dd><Value value={value} /></dd></div>)}</dl>
      {first.length < facts.length && (
        <button type="button" aria-expanded={all} onClick={() => setAll(!all)}>{all ? 'Show the important ones' : `Show all ${formatCount(facts.length)}`}</button>
      )}
    </section>
  );
}

/** A value; of a long one its beginning, until all of it is asked for. */
function Value({ value }: { value: string }) {
  if (value.length <= VALUE_SHOWN) return <>{value}</>;
  return (
    <details>
      <summary>{value.slice(0, VALUE_SHOWN)}… <span class="quiet">({formatCount(value.length)} letters)</span></summary>
      {value}
    </details>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return <><dt>{name}</dt><dd>{children}</dd></>;
}

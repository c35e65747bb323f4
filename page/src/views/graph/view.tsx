// Processes and classes as they call each other: layers from left to right, rates and waits at the
// calls; a class that is chosen becomes root or leaf of the selection.

import './style.css';
import { useMemo } from 'preact/hooks';
import { useQuestion } from '../../api/question';
import type { Graph as Answered } from '../../api/types';
import { Duration, Exact } from '../../draw/exact';
import { formatCount, formatNumber } from '../../draw/format';
import { SortedTable, type Column } from '../../draw/sorted-table';
import { go, place } from '../../selection/current';
import { className, toClass, toPair, toWorst } from '../../selection/links';
import { Answer, Empty } from '../../shell/answer';
import { useKeys } from '../../shell/keys';
import { Link } from '../../shell/link';
import { Picture } from './picture';

type Node = Answered['nodes'][number];
type Edge = Answered['edges'][number];

/** The view `/graph`. */
export function GraphView() {
  const { from_ns, until_ns } = place().selection;
  const question = useQuestion('graph', [['from_ns', from_ns], ['until_ns', until_ns]]);
  return (
    <Answer to={question} what="Following calls">
      {(graph) => (graph.nodes.length === 0 ? <Nothing /> : <Calls graph={graph} />)}
    </Answer>
  );
}

function Nothing() {
  return (
    <Empty title="No transactions in this selection">
      <p>A longer time range may have transactions. An empty store is filled by <code>chronoscope serve</code>, which collects the transactions of the programs on its host.</p>
    </Empty>
  );
}

/** The name by which the selection knows a node. */
function nameOf(node: Node): string {
  return className(node.application, node.class);
}

function Calls({ graph }: { graph: Answered }) {
  const { selection, own } = place();
  const at = graph.nodes.find((node) => node.id === own['at']);
  const names = useMemo(() => new Map(graph.nodes.map((node) => [node.id, nameOf(node)])), [graph]);
  const act = (change: (name: string) => Parameters<typeof go>[0]) => {
    if (at !== undefined) go(change(nameOf(at)));
  };
  useKeys('Graph', [
    { key: 'r', does: 'the chosen class becomes the root', run: () => act(asRoot) },
    { key: 'l', does: 'the chosen class becomes the leaf', run: () => act(asLeaf) },
    { key: 'Escape', does: 'choose none', run: () => go({ own: { at: undefined } }, true) },
  ]);
  return (
    <>
      <div class="bar">
        {selection.root !== undefined && <span>Root <strong>{selection.root}</strong>{selection.leaf !== undefined && <>, leaf <strong>{selection.leaf}</strong></>}</span>}
        {selection.root !== undefined && selection.leaf !== undefined && <Link to={toPair(selection.root, selection.leaf)}>Scattergram</Link>}
        <span class="quiet">{formatCount(graph.nodes.length)} classes, {formatCount(graph.edges.filter((edge) => !edge.link).length)} calls</span>
        <span class="calls-legend quiet"><svg aria-hidden="true"><line x1="0" x2="40" y1="4" y2="4" /></svg>synchronous</span>
        <span class="calls-legend quiet"><svg aria-hidden="true"><line x1="0" x2="40" y1="4" y2="4" stroke-dasharray="6 4" /></svg>asynchronous</span>
        {graph.edges.some((edge) => edge.link) && <span class="calls-legend quiet"><svg aria-hidden="true"><line class="link" x1="0" x2="40" y1="4" y2="4" /></svg>link: a further parent</span>}
        <span class="quiet">At a call: calls per second, p50 and p99 of the wait, of a sample of chains</span>
      </div>
      <Picture graph={graph} at={at?.id} root={selection.root} leaf={selection.leaf} nameOf={nameOf} choose={(id) => go({ own: { at: id } }, true)} />
      <div class="calls-detail">
        <Detail node={at} />
        <section class="panel scroll" aria-label="Calls">
          <Table edges={at === undefined ? graph.edges : graph.edges.filter((edge) => edge.from === at.id || edge.to === at.id)} names={names} of={at} />
        </section>
      </div>
    </>
  );
}

const asRoot = (name: string) => ({ selection: { root: name, path: undefined, level: undefined, kind: 'acpd' as const } });
const asLeaf = (name: string) => ({ selection: { leaf: name, path: undefined, level: undefined, kind: 'acpd' as const } });

function Detail({ node }: { node: Node | undefined }) {
  if (node === undefined) {
    return <section class="panel quiet" aria-label="Chosen class">Choose a class (arrow keys move along the calls, Enter chooses) to measure chains from or to it, and to see only its calls.</section>;
  }
  const name = nameOf(node);
  return (
    <section class="panel" aria-label="Chosen class">
      <h2>{name}</h2>
      <dl class="parameters">
        <dt>Count</dt><dd>{formatCount(node.count)}</dd>
        <dt>Rate</dt><dd>{formatNumber(node.rate_per_s)} /s</dd>
        <dt>p50</dt><dd><Duration ns={node.p50_ns} /></dd>
        <dt>p99</dt><dd><Duration ns={node.p99_ns} /></dd>
        <dt>Hosts</dt><dd>{node.hosts.join(', ')}</dd>
      </dl>
      <div class="actions">
        <button type="button" onClick={() => go(asRoot(name))}>Root</button>
        <button type="button" onClick={() => go(asLeaf(name))}>Leaf</button>
        <Link to={toClass(name)}>Histogram</Link>
        <Link to={toWorst(name)}>Worst cases</Link>
      </div>
    </section>
  );
}

function Table({ edges, names, of }: { edges: readonly Edge[]; names: ReadonlyMap<string, string>; of: Node | undefined }) {
  const name = (id: string) => names.get(id) ?? id;
  const columns: readonly Column<Edge>[] = [
    { key: 'from', title: 'Caller', by: (edge) => name(edge.from), show: (edge) => name(edge.from) },
    { key: 'to', title: 'Called', by: (edge) => name(edge.to), show: (edge) => <>{name(edge.to)}{edge.link ? <span class="quiet"> link</span> : edge.asynchronous && <span class="quiet"> async</span>}</> },
    { key: 'rate', title: 'Rate', number: true, hint: 'Calls per second', by: (edge) => edge.rate_per_s, show: (edge) => (edge.sampled ? '–' : <Exact value={edge.rate_per_s} unit="/s">{formatNumber(edge.rate_per_s)} /s</Exact>) },
    { key: 'count', title: 'Calls', number: true, by: (edge) => edge.count, show: (edge) => <>{formatCount(edge.count)}{edge.sampled && <span class="quiet"> in the sample</span>}</> },
    { key: 'p50', title: 'Wait p50', number: true, hint: 'From the caller’s end until the called begins, in a sample; none where it always began before', by: (edge) => edge.wait_p50_ns, show: (edge) => known(edge.wait_p50_ns) },
    { key: 'p99', title: 'Wait p99', number: true, by: (edge) => edge.wait_p99_ns, show: (edge) => known(edge.wait_p99_ns) },
    { key: 'to-scatter', title: <span class="unseen">Their durations</span>, show: (edge) => <Link to={toPair(name(edge.from), name(edge.to))}>Scattergram</Link> },
  ];
  return <SortedTable caption={of === undefined ? 'All calls' : `Calls from and to ${nameOf(of)}`} shown columns={columns} rows={edges} id={(edge) => `${edge.from} ${edge.to} ${edge.asynchronous} ${edge.link}`} />;
}

function known(ns: number | null) {
  return ns === null ? '–' : <Duration ns={ns} />;
}

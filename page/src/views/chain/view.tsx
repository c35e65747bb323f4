import { useMemo, useRef, useState } from 'preact/hooks';
import { download } from '../../api/client';
import { Problem } from '../../api/problem';
import { useQuestion } from '../../api/question';
import type { Chain } from '../../api/types';
import { formatCount, formatDuration, formatTime } from '../../draw/format';
import { saveAs } from '../../save/file';
import { go, place } from '../../selection/current';
import { Answer, Empty } from '../../shell/answer';
import { useKeys } from '../../shell/keys';
import { Link } from '../../shell/link';
import { Details } from './details';
import { axisOf, foldable } from '../../draw/fold';
import { extent, inside, ordered, visible } from './tree';
import { Waterfall } from './waterfall';
import './style.css';

/** One chain as a waterfall. */
export function ChainView() {
  const { item, own, selection } = place();
  const question = useQuestion(item === '' ? null : `chains/${encodeURIComponent(item)}`, [
    ['near_ns', own['near_ns']], ['clocks', selection.clocks],
  ]);
  if (item === '') return <Which />;
  return <Answer to={question} what="Reading the chain">{(chain) => <One chain={chain} key={chain.chain} />}</Answer>;
}

/** Shown while the address names no chain. */
function Which() {
  const field = useRef<HTMLInputElement>(null);
  const open = (event: Event) => {
    event.preventDefault();
    const id = field.current?.value.trim() ?? '';
    if (id !== '') go({ view: 'chain', item: id });
  };
  return (
    <Empty title="Which chain?">
      <p>The slowest chains are listed beside the <Link to={{ view: 'scatter' }}>scattergram</Link>: each duration there is a link to its chain.</p>
      <form onSubmit={open}><label>Or by its id: <input ref={field} size={34} class="mono" spellcheck={false} autocomplete="off" /></label> <button type="submit">Open</button></form>
    </Empty>
  );
}

function One({ chain }: { chain: Chain }) {
  const { own } = place();
  const folded = own['fold'] !== 'no';
  const closed = useMemo(() => new Set((own['closed'] ?? '').split(',').filter(Boolean)), [own['closed']]);
  const nodes = useMemo(() => ordered(chain.rows), [chain]);
  const shown = useMemo(() => visible(nodes, closed), [nodes, closed]);
  const whole = useMemo(() => extent(chain.rows), [chain]);
  const folds = useMemo(() => (folded ? foldable(whole, chain.idle) : []), [whole, chain, folded]);
  const applications = useMemo(() => [...new Set(nodes.map((node) => node.row.application))], [nodes]);
  const chosen = nodes.find((node) => node.row.id === own['row']);
  const [problem, setProblem] = useState<string>();

  const choose = (id: string | undefined) => go({ own: { row: id } }, true);
  const close = (id: string, shut: boolean) => {
    const next = new Set(closed);
    if (shut) next.add(id);
    else next.delete(id);
    go({ own: { closed: next.size === 0 ? undefined : [...next].join(',') } }, true);
  };
  const fold = () => go({ own: { fold: folded ? 'no' : undefined } }, true);
  const save = () => {
    setProblem(undefined);
    download(`chains/${encodeURIComponent(chain.chain)}/perfetto`, [['near_ns', own['near_ns']]]).then(
      (blob) => saveAs(blob, `chain-${chain.chain}.json`),
      (error: unknown) => setProblem(error instanceof Problem ? `${error.message}. ${error.hint}` : String(error)),
    );
  };
  const longest = () => choose(mostTime(nodes));
  useKeys('Chain', [
    { key: 'w', does: 'to the rows; arrows go up and down, close and open', run: () => document.querySelector<HTMLElement>('.waterfall-rows')?.focus() },
    { key: 's', does: 'to the row with the longest time or wait on the path to the last row', run: longest },
    { key: 'f', does: 'fold idle time, or draw it to scale', run: fold },
    { key: 'e', does: 'save for Perfetto', run: save },
  ]);

  return (
    <div class="chain">
      <section class="panel chain-head" aria-label="Chain">
        <div class="bar">
          <h2>{formatDuration(chain.duration_ns)}</h2>
          <span class="quiet">from {formatTime(chain.root_start_ns, 6)} UTC</span>
          {chain.apcd_ns !== chain.duration_ns && <span class="quiet">APCD {formatDuration(chain.apcd_ns)}</span>}
          <span class="quiet">{formatCount(chain.rows.length)} transactions</span>
          {chain.status !== 'GOOD' && <strong class="bad" title={`${formatCount(chain.not_good)} of its transactions are not GOOD`}>{chain.status}</strong>}
          {chain.independent_not_good > 0 && <span class="quiet" title="A transaction whose status has no effect on its parent's, and those below it (ARM 4.1)">{formatCount(chain.independent_not_good)} independent not GOOD</span>}
          {(!chain.complete || chain.missing > 0) && <strong class="bad">incomplete: {chain.missing > 0 ? `${formatCount(chain.missing)} transactions missing` : 'its end is missing'}</strong>}
          <span class="quiet mono" title="The chain's id">{chain.chain}</span>
          <span class="spread" />
          <button type="button" onClick={longest} title="key s">Longest</button>
          <button type="button" aria-pressed={folded} onClick={fold} title="key f">Fold idle</button>
          <button type="button" onClick={save} title="A Chrome trace, which Perfetto opens (key e)">Save for Perfetto</button>
        </div>
        {problem !== undefined && <p class="notice problem" role="alert">{problem}</p>}
        <Slowest nodes={nodes} choose={choose} />
        <Meaning folds={folds.length} links={chain.rows.some((row) => row.links.length > 0)} asynchronous={chain.rows.some((row) => row.asynchronous)} unsure={chain.rows.some((row) => (row.clock_error_ns ?? 0) > 0)} />
      </section>
      <div class="chain-body">
        <section class="panel chain-waterfall" aria-label="Waterfall">
          <Waterfall chain={chain.chain} nodes={nodes} shown={shown} closed={closed} applications={applications} chosen={own['row']}
            axis={(width) => axisOf(whole, folds, width)} onChoose={choose} onClose={close} />
        </section>
        {chosen !== undefined && <Details node={chosen} within={inside(nodes, nodes.indexOf(chosen))} chain={chain} onClose={() => choose(undefined)} />}
      </div>
    </div>
  );
}

/** The row on the way to the last one, whose own time or the wait before it is longest. */
function mostTime(nodes: ReturnType<typeof ordered>): string | undefined {
  const way = nodes.filter((node) => node.last);
  const took = (node: (typeof way)[number]) => Math.max(node.row.elapsed_ns, node.row.wait_ns ?? 0);
  return way.reduce<(typeof way)[number] | undefined>((most, node) => (most === undefined || took(node) > took(most) ? node : most), undefined)?.row.id;
}

/** A call takes most of a row's time from this share on. */
const MOST = 0.5;

/** The longest row on the path, and the call inside it that takes most of its time. */
function Slowest({ nodes, choose }: { nodes: ReturnType<typeof ordered>; choose: (id: string) => void }) {
  const at = nodes.findIndex((node) => node.row.id === mostTime(nodes));
  const row = nodes[at]?.row;
  const [most] = inside(nodes, at);
  if (row === undefined || most === undefined || most.ns < MOST * row.elapsed_ns) return null;
  return (
    <p>
      <strong>{most.name}</strong>: {formatDuration(most.ns)} of the {formatDuration(row.elapsed_ns)} of{' '}
      <button type="button" class="plain inline" onClick={() => choose(row.id)}>{row.application}::{row.class}</button>
    </p>
  );
}

function Meaning({ folds, links, asynchronous, unsure }: { folds: number; links: boolean; asynchronous: boolean; unsure: boolean }) {
  return (
    <ul class="legend">
      <li><span class="key-line" /> called and waited for</li>
      {asynchronous && <li><span class="key-line dashed" /> asynchronous: the horizontal part is the wait</li>}
      {links && <li><span class="key-line link" /> ⇠ link: it takes this transaction besides its parent</li>}
      {unsure && <li><span class="key-whisker" /> possible start, by the clock error</li>}
      {folds > 0 && <li><span class="mark gap" /> {formatCount(folds)} folded, with how long they are</li>}
      <li><span class="key-inner" /> light within a bar: calls that it waited for, beside the path</li>
      <li class="quiet"><strong>Bold</strong>: on the path to the transaction that starts last. Rank: percentile of its elapsed time in its class.</li>
    </ul>
  );
}

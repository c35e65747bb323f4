// The selected durations by the values of one or two attributes.

import './style.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useQuestion } from '../../api/question';
import type { Groups as Answered } from '../../api/types';
import { Duration, Exact } from '../../draw/exact';
import { formatCount, formatDuration, formatShare } from '../../draw/format';
import { SortedTable, type Column } from '../../draw/sorted-table';
import { go, place } from '../../selection/current';
import { selectionParams } from '../../selection/place';
import { Answer, Empty } from '../../shell/answer';
import { Link } from '../../shell/link';
import { Spread } from './spread';
import { filterOf, spreadScale, valueText } from './values';

type Group = Answered['groups'][number];

/** The view `/groups`. */
export function GroupsView() {
  const { selection, own } = place();
  const by = keys(own);
  const question = useQuestion(by.length === 0 || selection.root === undefined ? null : 'groups', [
    ...selectionParams(selection), ...by.map((key): ['by', string] => ['by', key]),
  ]);
  return (
    <>
      <Keys by={by} />
      {by.length === 0 ? <Names /> : (
        <Answer to={question} what="Grouping">
          {(answer) => (answer.distribution === null ? <Nothing /> : <Table answer={answer} />)}
        </Answer>
      )}
    </>
  );
}

/** The keys of the address, at most two. */
function keys({ by, and }: Readonly<Record<string, string>>): string[] {
  return [by, and].filter((key) => key !== undefined && key !== '') as string[];
}

function choose(by: readonly string[]): void {
  go({ own: { by: by[0], and: by[1], sort: undefined } });
}

function Nothing() {
  return (
    <Empty title="No duration is within this selection">
      <p>Choose a longer time range, another attribute filter, or another leaf.</p>
    </Empty>
  );
}

/** The chosen keys, each to be taken away, and a field for one more. */
function Keys({ by }: { by: readonly string[] }) {
  const [typing, setTyping] = useState(false);
  const names = useQuestion(typing ? 'attributes' : null);
  const add = (key: string) => {
    if (key !== '' && !by.includes(key)) choose([...by, key]);
  };
  return (
    <div class="bar" role="group" aria-label="Grouped by">
      <span class="quiet">By</span>
      {by.map((key) => (
        <button key={key} type="button" class="chip" title="Do not group by it" onClick={() => choose(by.filter((other) => other !== key))}>
          {key} <span aria-label="take away">×</span>
        </button>
      ))}
      {by.length < 2 && (
        <span class="input">
          <input type="text" list="group-keys" style={{ '--letters': 18 }} spellcheck={false} autocomplete="off" aria-label="attribute to group by" placeholder={by.length === 0 ? 'an attribute' : 'and another'}
            onFocus={() => setTyping(true)} onBlur={() => setTyping(false)}
            onChange={(event) => {
              add(event.currentTarget.value.trim());
              event.currentTarget.value = '';
            }} />
          <datalist id="group-keys">{(names.answer?.names ?? []).map(({ key }) => <option key={key} value={key} />)}</datalist>
        </span>
      )}
      {by.length > 0 && <Key>line: shortest to longest</Key>}
      {by.length > 0 && <Key>box: median to 99 %</Key>}
    </div>
  );
}

function Key({ children }: { children: ComponentChildren }) {
  return <span class="quiet">{children}</span>;
}

/** The attributes that rows have, to choose from. */
function Names() {
  const question = useQuestion('attributes');
  type Name = { key: string; rows: number; values: number; values_cut: boolean };
  const columns: readonly Column<Name>[] = [
    { key: 'key', title: 'Attribute', by: (name) => name.key, show: (name) => <Link to={{ own: { by: name.key } }}>{name.key}</Link> },
    { key: 'rows', title: 'Rows', number: true, by: (name) => name.rows, show: (name) => formatCount(name.rows) },
    { key: 'values', title: 'Values', number: true, by: (name) => name.values, show: (name) => `${formatCount(name.values)}${name.values_cut ? ' or more' : ''}` },
  ];
  return (
    <Answer to={question} what="Reading the names of attributes">
      {(answer) => (answer.names.length === 0 ? <Empty title="No row has an attribute"><p>Properties and metrics of ARM, and attributes of OpenTelemetry, are what durations are grouped by.</p></Empty> : (
        <section class="panel scroll" aria-label="Attributes">
          <SortedTable caption="Choose an attribute to group by" shown columns={columns} rows={answer.names} id={(name) => name.key} param="names" />
          {answer.newest_only && <p class="quiet">Names of the newest {formatCount(answer.rows)} rows.</p>}
        </section>
      ))}
    </Answer>
  );
}

function Table({ answer }: { answer: Answered }) {
  const { selection } = place();
  const all = answer.distribution?.count ?? 0;
  const scale = spreadScale(answer.groups.map((group) => group.distribution));
  const where = (group: Group) => [...(selection.where ?? []), ...answer.by.flatMap((key, index) => filterOf(key, group.group, index) ?? [])];
  const columns: readonly Column<Group>[] = [
    ...answer.by.map((key, index): Column<Group> => ({
      key, title: key, by: ({ group }) => group.values[index] ?? null,
      show: ({ group }) => {
        const filter = filterOf(key, group, index);
        const text = valueText(group, index);
        return filter === undefined ? <span class="quiet">{text}</span> : <Link to={{ selection: { where: [...new Set([...(selection.where ?? []), filter])] } }} title={`Only ${filter}`}>{text}</Link>;
      },
    })),
    number('count', 'Count', ({ distribution }) => distribution.count, formatCount),
    { key: 'share', title: 'Share', number: true, by: ({ distribution }) => distribution.count, show: ({ distribution }) => <Exact value={distribution.count / all} unit="">{formatShare(distribution.count / all)}</Exact> },
    duration('median', 'Median', ({ distribution }) => distribution.median_ns),
    duration('p90', '90 %', ({ distribution }) => distribution.p90_ns),
    duration('p99', '99 %', ({ distribution }) => distribution.p99_ns),
    duration('max', 'Longest', ({ distribution }) => distribution.max_ns),
    ...(selection.limit_ns === undefined ? [] : [number('above', `Above ${formatDuration(selection.limit_ns)}`, ({ above }) => above ?? 0, formatCount)]),
    { key: 'spread', title: 'Distribution', show: ({ distribution }) => <Spread of={distribution} scale={scale} /> },
    { key: 'to', title: <span class="unseen">Their chains</span>, show: (group) => (group.group.others ? '' : <Link to={{ view: 'scatter', selection: { where: where(group) } }}>Scattergram</Link>) },
  ];
  return (
    <section class="panel scroll" aria-label="Groups">
      <SortedTable caption={`${formatCount(all)} durations by ${answer.by.join(' and ')}`} shown columns={columns} rows={answer.groups} id={(group) => JSON.stringify(group.group)} />
      {answer.merged > 0 && <p class="quiet">{formatCount(answer.merged)} smaller groups are brought together as (others).</p>}
      {answer.cut.some(Boolean) && <p class="quiet">There are more values than are told apart.</p>}
    </section>
  );
}

function number(key: string, title: string, of: (group: Group) => number, say: (value: number) => string): Column<Group> {
  return { key, title, number: true, by: of, show: (group) => say(of(group)) };
}

function duration(key: string, title: string, of: (group: Group) => number): Column<Group> {
  return { key, title, number: true, by: of, show: (group) => <Duration ns={of(group)} /> };
}

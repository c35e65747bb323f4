// The views, in the order of their tabs.

import type { FunctionComponent } from 'preact';
import type { View } from '../selection/place';
import { ChainView } from './chain/view';
import { CompareView } from './compare/view';
import { DataView } from './data/view';
import { GraphView } from './graph/view';
import { GroupsView } from './groups/view';
import { HistogramView } from './histogram/view';
import { HostsView } from './hosts/view';
import { NowView } from './now/view';
import { RingsView } from './rings/view';
import { RunsView } from './runs/view';
import { ScatterView } from './scatter/view';
import { WorstView } from './worst/view';

/** Fields of the selection bar that a view uses; the others are hidden while it is shown. */
export type Fields = 'none' | 'time' | 'range' | 'chains';

/** A view as the shell knows it. */
export interface Entry {
  readonly view: View;
  readonly title: string;
  /** Short description of the view, for the tab's tooltip and the help sheet. */
  readonly shows: string;
  /** The key that goes there. */
  readonly key: string;
  /** `time` alone; `range`: hosts and time; `chains`: root, leaf, level, path and durations too. */
  readonly fields: Fields;
  /** Whether it is about one pair of root and leaf, so that one is chosen where none is. */
  readonly needsRoot: boolean;
  readonly body: FunctionComponent;
}

/** All views. */
export const REGISTRY: readonly Entry[] = [
  {
    view: 'now', title: 'Now', key: '1', fields: 'none', needsRoot: false, body: NowView,
    shows: 'each application and class this minute; alarms',
  },
  {
    view: 'scatter', title: 'Scattergram', key: '2', fields: 'chains', needsRoot: true, body: ScatterView,
    shows: 'every chain by its start and its duration; brush to find the cause',
  },
  {
    view: 'histogram', title: 'Histogram', key: '3', fields: 'chains', needsRoot: true, body: HistogramView,
    shows: 'the distribution of durations, its parameters and the verdict',
  },
  {
    view: 'groups', title: 'Groups', key: 'g', fields: 'chains', needsRoot: true, body: GroupsView,
    shows: 'durations by the values of attributes',
  },
  {
    view: 'chain', title: 'Chain', key: '4', fields: 'none', needsRoot: false, body: ChainView,
    shows: 'one chain as a waterfall',
  },
  {
    view: 'graph', title: 'Graph', key: '5', fields: 'time', needsRoot: false, body: GraphView,
    shows: 'classes as they call each other; rates and waits',
  },
  {
    view: 'compare', title: 'Compare', key: '6', fields: 'chains', needsRoot: true, body: CompareView,
    shows: 'two times side by side',
  },
  {
    view: 'worst', title: 'Worst cases', key: '7', fields: 'range', needsRoot: false, body: WorstView,
    shows: 'the longest transactions of each class',
  },
  {
    view: 'rings', title: 'Live rings', key: '8', fields: 'none', needsRoot: false, body: RingsView,
    shows: 'what processes do this moment, on every host: histograms, worst cases, the last transactions nested',
  },
  {
    view: 'hosts', title: 'Hosts', key: '9', fields: 'range', needsRoot: false, body: HostsView,
    shows: 'load and response times of hosts and networks',
  },
  {
    view: 'runs', title: 'Runs', key: '0', fields: 'none', needsRoot: false, body: RunsView,
    shows: 'cost of versions, and changes between two of them',
  },
  {
    view: 'data', title: 'Data', key: 'm', fields: 'time', needsRoot: false, body: DataView,
    shows: 'delete a time, import a file',
  },
];

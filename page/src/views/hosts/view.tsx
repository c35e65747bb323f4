// Load and response times of hosts and networks, as `chronoscope net` stored them: time pictures,
// tables, and paths as they were predicted beside what was measured.

import './style.css';
import { useQuestion } from '../../api/question';
import type { Cell, Hosts as Answered } from '../../api/types';
import { Duration, Exact } from '../../draw/exact';
import { formatCount, formatDuration, formatNumber } from '../../draw/format';
import { SeriesPlot, type Line, type Mark } from '../../draw/series-plot';
import { SortedTable, type Column } from '../../draw/sorted-table';
import { go, place } from '../../selection/current';
import { Answer, Empty } from '../../shell/answer';
import { formatBitRate, longest, numericColumns, ofHosts, sortable, type Grid } from './words';

const PLOT_HEIGHT = 190;

/** The view `/hosts`. */
export function HostsView() {
  const { from_ns, until_ns, hosts } = place().selection;
  const question = useQuestion('hosts', [['from_ns', from_ns], ['until_ns', until_ns]]);
  const chosen = hosts?.split(',') ?? [];
  const wanted = (host: string) => chosen.length === 0 || chosen.includes(host);
  return (
    <Answer to={question} what="Reading host counters">
      {(answer) => {
        const loads = answer.loads.filter((load) => wanted(load.host));
        const trips = answer.round_trips.filter((trip) => wanted(trip.host));
        const tables = answer.tables.map((table) => ofHosts(table, chosen)).filter((table) => table.rows.length > 0);
        if (loads.length + trips.length + tables.length + answer.paths.length === 0) return <Nothing />;
        return (
          <>
            <Paths paths={answer.paths} />
            {(loads.length > 0 || trips.length > 0) && (
              <div class="hosts-plots">
                {trips.map((trip) => <RoundTrips key={`${trip.host} ${trip.probe}`} of={trip} />)}
                {loads.map((load) => <Load key={`${load.host} ${load.interface}`} of={load} />)}
              </div>
            )}
            <div class="hosts-tables">{tables.map((table, index) => <Table key={table.title} grid={table} param={`sort${index}`} />)}</div>
          </>
        );
      }}
    </Answer>
  );
}

function Nothing() {
  return (
    <Empty title="No host data for this time range">
      <p><code>chronoscope serve --interfaces 1s</code> counts what this host’s interfaces carry; <code>chronoscope net scan</code> reads the counters of other hosts, and <code>chronoscope net rtt</code> measures their response times.</p>
    </Empty>
  );
}

/** A stretch of a plot that was dragged over is the time that is selected. */
function select(from: number, until: number): void {
  go({ selection: { from_ns: Math.round(from), until_ns: Math.round(until) } });
}

function Load({ of }: { of: Answered['loads'][number] }) {
  const most = (values: readonly number[]) => formatBitRate(Math.max(0, ...values));
  if (Math.max(0, ...of.rx_bits_per_s, ...of.tx_bits_per_s) === 0) {
    return (
      <figure class="panel">
        <figcaption><strong>{of.host} {of.interface}</strong> <span class="quiet">load; nothing came or went in {formatCount(of.times_ns.length)} intervals</span></figcaption>
      </figure>
    );
  }
  const lines: Line[] = [
    { label: 'received', values: of.rx_bits_per_s, colour: '--path-0' },
    { label: 'sent', values: of.tx_bits_per_s, colour: '--path-1' },
  ];
  return (
    <figure class="panel">
      <figcaption><strong>{of.host} {of.interface}</strong> <span class="quiet">load; at most {most(of.rx_bits_per_s)} received, {most(of.tx_bits_per_s)} sent</span></figcaption>
      <SeriesPlot label={`Load of ${of.interface} on ${of.host} over time: at most ${most(of.rx_bits_per_s)} received, ${most(of.tx_bits_per_s)} sent`}
        at={of.times_ns} lines={lines} say={formatBitRate} unit="bit/s" height={PLOT_HEIGHT} onRange={select} group="hosts" />
    </figure>
  );
}

/** A duration without an answer becomes null. */
function answered(durations: readonly number[]): (number | null)[] {
  return durations.map((ns) => (ns === 0 ? null : ns));
}

function RoundTrips({ of }: { of: Answered['round_trips'][number] }) {
  const lost = of.lost.reduce((sum, count) => sum + count, 0);
  const lines: Line[] = [
    { label: 'median', values: answered(of.p50_ns), colour: '--path-0' },
    { label: 'longest', values: answered(of.max_ns), colour: '--path-3', points: true },
  ];
  const marks: Mark[] = of.times_ns.filter((_, index) => (of.lost[index] ?? 0) > 0).map((at) => ({ at, colour: '--bad' }));
  const longestOf = formatDuration(Math.max(0, ...of.max_ns));
  return (
    <figure class="panel">
      <figcaption>
        <strong>{of.host}</strong> <span class="quiet">round trips from {of.probe}; longest {longestOf}</span>
        {lost > 0 && <span class="bad"> · {formatCount(lost)} lost</span>}
      </figcaption>
      <SeriesPlot label={`Round trips to ${of.host} by ${of.probe} over time: longest ${longestOf}, ${lost} lost`} marks={marks}
        at={of.times_ns} lines={lines} say={formatDuration} unit="ns" axis="log" height={PLOT_HEIGHT} onRange={select} group="hosts" />
    </figure>
  );
}

function Paths({ paths }: { paths: Answered['paths'] }) {
  if (paths.length === 0) return null;
  const most = longest(paths);
  const predicted = paths.some((path) => path.predicted_p50_ns !== null);
  // A verdict that all paths share is shown once.
  const verdict = paths.every((path) => path.verdict === paths[0]?.verdict) ? paths[0]?.verdict : undefined;
  const known = (ns: number | null) => (ns === null ? '–' : <Duration ns={ns} />);
  return (
    <section class="panel scroll" aria-label="Paths, predicted and measured">
      <table class="hosts-paths">
        <caption>
          Paths, median to 90 % {predicted && <span class="quiet times-key" style={{ '--key': 'var(--rest)' }}>predicted</span>} <span class="quiet times-key" style={{ '--key': 'var(--path-0)' }}>measured</span>
          {verdict !== undefined && <span class="quiet verdict-of-all"> {verdict}</span>}
        </caption>
        <thead>
          <tr>
            <th scope="col">Path</th>
            {predicted && <><th scope="col" class="number">Predicted p50</th><th scope="col" class="number">p90</th></>}
            <th scope="col" class="number">Measured p50</th><th scope="col" class="number">p90</th><th scope="col" aria-hidden="true" />
            {verdict === undefined && <th scope="col">Verdict</th>}
          </tr>
        </thead>
        <tbody>
          {paths.map((path) => (
            <tr key={path.path}>
              <th scope="row">{path.path}</th>
              {predicted && <><td class="number">{known(path.predicted_p50_ns)}</td><td class="number">{known(path.predicted_p90_ns)}</td></>}
              <td class="number">{known(path.measured_p50_ns)}</td><td class="number">{known(path.measured_p90_ns)}</td>
              <td class="picture" aria-hidden="true">
                <div class="times">
                  <Stretch name="predicted" from={path.predicted_p50_ns} until={path.predicted_p90_ns} most={most} />
                  <Stretch name="measured" from={path.measured_p50_ns} until={path.measured_p90_ns} most={most} />
                </div>
              </td>
              {verdict === undefined && <td>{path.verdict}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Stretch({ name, from, until, most }: { name: string; from: number | null; until: number | null; most: number }) {
  if (from === null) return null;
  return <span class={name} style={{ left: `${(from / most) * 100}%`, width: `${(Math.max(0, (until ?? from) - from) / most) * 100}%` }} />;
}

/** With more columns than this a table has the whole width. */
const WIDE = 6;

function Table({ grid, param }: { grid: Grid; param: string }) {
  type Row = readonly Cell[];
  const numeric = numericColumns(grid);
  const columns: Column<Row>[] = grid.columns.map((title, index) => ({
    key: String(index), title, number: numeric[index] === true, by: (row) => sortable(row[index] ?? null),
    show: (row) => {
      const cell = row[index] ?? null;
      return cell === null ? '–' : typeof cell === 'number' ? <Exact value={cell} unit="">{formatNumber(cell)}</Exact> : cell;
    },
  }));
  return (
    <section class={`panel scroll${grid.columns.length > WIDE ? ' wide' : ''}`} aria-label={grid.title}>
      <SortedTable caption={grid.title} shown columns={columns} rows={grid.rows} id={(row) => row.join('\u0000')} param={param} />
    </section>
  );
}

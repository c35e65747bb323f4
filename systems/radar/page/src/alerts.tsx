// What is alerted: conflicts that are there, conflicts to come, aircraft in areas; the most urgent first.

import { ALERT_COLOURS } from './colours';
import type { Position } from './position';
import { nameOf } from './target';
import type { Conflict } from './wire';

/** Lines that are listed of each kind. */
const LINES_MAX = 12;

function heading(violations: number, predicted: number): string {
  if (violations + predicted === 0) return 'No conflict';
  const parts = [violations > 0 ? `${violations} now` : '', predicted > 0 ? `${predicted} to come` : ''];
  return `STCA: ${parts.filter((part) => part !== '').join(', ')}`;
}

/** Whether two aircraft are too close now. */
export function isViolation(one: Conflict): boolean {
  return one.in_s <= 0;
}

/** The list. */
export function Alerts({ position }: { readonly position: Position }) {
  const status = position.status.value;
  const all = status?.conflicts ?? [];
  const count = status?.conflict_count ?? 0;
  // Violations come first: what is not listed is to come, unless all that is listed is a violation.
  const violations = all.filter(isViolation).length;
  const name = (number: number) => {
    const target = position.targets.get(number);
    return target === undefined ? `#${number}` : nameOf(target.track);
  };
  const show = (number: number) => {
    const target = position.targets.get(number);
    if (target !== undefined) position.choose({ track: number, centre: target.track.at });
  };
  return (
    <>
      <section class="conflicts" aria-labelledby="conflicts">
        <h2 id="conflicts" aria-live="assertive">{heading(violations, count - violations)}</h2>
        {all.length > 0 && (
          <table>
            <thead><tr><th scope="col">pair</th><th scope="col">in</th><th scope="col">NM</th><th scope="col">ft</th><th scope="col">least</th></tr></thead>
            <tbody>
              {all.slice(0, LINES_MAX).map((one) => (
                <tr key={`${one.a} ${one.b}`} class={isViolation(one) ? 'violation' : 'predicted'}>
                  <td><button type="button" onClick={() => show(one.a)}>{name(one.a)} {name(one.b)}</button></td>
                  <td>{isViolation(one) ? <b>NOW</b> : `${one.in_s.toFixed(0)} s`}</td>
                  <td>{one.now_nm.toFixed(1)}</td>
                  <td>{(Math.round(one.now_ft / 100) * 100).toFixed(0)}</td>
                  <td>{one.least_nm.toFixed(1)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {count > LINES_MAX && <p class="quiet">and {count - LINES_MAX} more, marked in their labels</p>}
      </section>
      {status !== undefined && status.area_count > 0 && (
        <section class="areas" aria-labelledby="areas">
          <h2 id="areas" style={{ color: ALERT_COLOURS.area }}>Areas: {status.area_count}</h2>
          <table>
            <tbody>
              {status.areas.slice(0, LINES_MAX).map(({ track, area, kind, in_s: seconds }) => (
                <tr key={`${track} ${area}`}>
                  <td><button type="button" onClick={() => show(track)}>{name(track)}</button></td>
                  <td>{kind === 'minimum' ? 'MSAW' : 'APW'} {area}</td>
                  <td>{seconds <= 0 ? <b>NOW</b> : `${seconds.toFixed(0)} s`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

import type { ComponentChildren } from 'preact';
import { isJudged, useArrivals, type Judge } from '../../api/arrivals';
import type { Arrivals, HistogramAnswer, Selection, Verdict } from '../../api/types';
import { formatCount, formatDuration, formatShare, formatTime } from '../../draw/format';
import { go, place } from '../../selection/current';
import { Answer } from '../../shell/answer';
import { DurationInput } from '../../shell/inputs';

/** Each state of a verdict: its class and its word. */
const STATES: Readonly<Record<string, readonly [string, string]>> = {
  holds: ['holds', 'Holds'],
  does_not_hold: ['broken', 'Not met'],
  undetermined: ['undetermined', 'Undetermined'],
};

/** The choices for the verdict, each with its text. */
const CHOICES: readonly (readonly [Judge, string])[] = [
  [undefined, 'chains that arrived, and whether all arrived'],
  ['each-root', 'each root must arrive'],
  ['arrived', 'only chains that arrived'],
];

/** The verdict in words, or where to say the limit. */
export function Requirement({ answer, selection }: { answer: HistogramAnswer; selection: Selection }) {
  const said = place().own['judge'];
  const judge = said === 'each-root' || said === 'arrived' ? said : undefined;
  const question = useArrivals(selection, judge);
  if (answer.verdict === null) {
    return (
      <section class="panel verdict none" aria-label="Requirement">
        <span>Enter the limit of a requirement to get a verdict.</span>
        <DurationInput label="longest allowed duration" value={selection.limit_ns} empty="1 s" change={(limit_ns) => go({ selection: { limit_ns } })} />
        <span class="quiet">The requirement holds if less than 0.3 % of chains are above the limit or do not arrive.</span>
      </section>
    );
  }
  if (!isJudged(selection)) return <Said verdict={answer.verdict} />;
  return (
    <Answer to={question} what="Counting arrivals">
      {({ verdict, arrivals, open_roots }) => (
        <Said verdict={verdict}>
          <span class="quiet">{roots(arrivals, open_roots)}</span>
          <span class="choices" role="group" aria-label="Judged chains">
            {CHOICES.map(([choice, words]) => (
              <button key={words} type="button" aria-pressed={choice === judge} onClick={() => go({ own: { judge: choice } })}>{words}</button>
            ))}
          </span>
        </Said>
      )}
    </Answer>
  );
}

function Said({ verdict, children }: { verdict: Verdict; children?: ComponentChildren }) {
  const [style, word] = STATES[verdict.state] ?? ['none', verdict.state];
  return (
    <section class={`panel verdict ${style}`} aria-label="Requirement">
      <strong>{word}</strong>
      <span>{verdict.sentence}</span>
      <span class="quiet">{formatCount(verdict.above)} of {formatCount(verdict.count)} above {formatDuration(verdict.limit_ns)}; allowed is less than {formatShare(1 - verdict.share)}</span>
      {children}
    </section>
  );
}

/** The numbers of roots by state, in words; states without roots are left out. */
export function roots(counts: Arrivals['arrivals'], open: number): string {
  const parts = (['arrived', 'failed', 'open', 'missing', 'unknown'] as const).filter((state) => counts[state] > 0);
  const words = parts.map((state) => `${formatCount(counts[state])} ${state}`);
  if (open > 0) words.push(`${formatCount(open)} more have not ended`);
  const until = counts.judged_until_ns === null ? '' : `; judged are those that started before ${formatTime(counts.judged_until_ns)}`;
  return `${formatCount(counts.roots)} roots: ${words.join(', ')}${until}`;
}

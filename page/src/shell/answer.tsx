import type { ComponentChildren } from 'preact';
import type { Question } from '../api/question';
import { formatCount, formatDuration } from '../draw/format';

interface AnswerProps<T> {
  readonly to: Question<T>;
  /** Text shown while the answer is awaited, as in “Counting …”. */
  readonly what: string;
  readonly children: (answer: T) => ComponentChildren;
}

/**
 * Shows the answer to a question; above it, where there is something to say, how far the question
 * is or why it was not answered. The last answer stays, dimmed, while the next is awaited.
 */
export function Answer<T>({ to, what, children }: AnswerProps<T>) {
  return (
    <div class={`answer${to.stale && to.running ? ' stale' : ''}`} aria-busy={to.running}>
      <Standing question={to} what={what} />
      <Damage sentences={damageOf(to.answer)} />
      {to.answer !== undefined && children(to.answer)}
    </div>
  );
}

/** The parts of the store that the server could not read; any answer may list them. */
function damageOf(answer: unknown): readonly string[] {
  if (typeof answer !== 'object' || answer === null || !('damage' in answer) || !Array.isArray(answer.damage)) return [];
  return answer.damage.filter((sentence) => typeof sentence === 'string');
}

function Damage({ sentences }: { sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <details class="notice warn">
      <summary><strong>{formatCount(sentences.length)} {sentences.length === 1 ? 'part' : 'parts'} of the store could not be read</strong>; what is in there is missing here.</summary>
      <ul>{sentences.map((sentence) => <li key={sentence}>{sentence}</li>)}</ul>
    </details>
  );
}

/** Shows a question's progress, or why there is no answer; nothing when all is well. */
export function Standing({ question, what }: { question: Question<unknown>; what: string }) {
  const { problem, progress, running, answer, stale } = question;
  if (problem !== undefined) {
    return (
      <div class="notice problem" role="alert">
        <strong>{problem.message}.</strong> {problem.hint !== '' && <span>{capital(problem.hint)}.</span>}{' '}
        {problem.kind !== 'lost' && <button type="button" onClick={question.again}>Ask again</button>}
      </div>
    );
  }
  // A repeated question whose answer is shown already has no progress bar.
  if (!running || (answer !== undefined && !stale)) return null;
  if (progress === undefined) {
    return answer === undefined ? <div class="notice quiet" role="status">{what} …</div> : null;
  }
  const share = progress.total > 0 ? Math.min(1, progress.done / progress.total) : undefined;
  const waits = progress.state === 'waiting';
  return (
    <div class="notice" role="status">
      <span>{waits ? 'Waiting for other questions' : what} … {formatDuration(progress.elapsed_ms * 1e6)}</span>
      <progress max={1} value={share} aria-label={what} />
      {progress.total > 0 && <span>{formatCount(progress.done)} of {formatCount(progress.total)} {progress.unit}</span>}
      <button type="button" onClick={question.cancel}>Cancel</button>
    </div>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Shown in place of an empty view: the reason, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

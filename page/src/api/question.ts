// A question as a component asks it: its answer, its progress, its problem.

import { useEffect, useRef, useState } from 'preact/hooks';
import { signal } from '@preact/signals';
import { askLong, questionUrl, type Asked } from './client';
import { epoch } from './connection';
import { Problem } from './problem';
import type { AnswerOf, Params, Path, Progress } from './types';

/** Whether any question has been answered, or refused: what can wait until then leaves the first the server to itself. */
export const answered = signal(false);

/** Grows whenever a relative time range has moved: questions with a start ask again. 0 while the range is fixed. */
export const beat = signal(0);

/** Number of running questions that are not repeated at intervals. */
export const underWay = signal(0);

/** State of a question. */
export interface Question<T> {
  /** The last answer, to whatever was asked last; stays while the next is awaited. */
  readonly answer: T | undefined;
  /** Whether `answer` is to something else than what is asked now. */
  readonly stale: boolean;
  readonly problem: Problem | undefined;
  readonly running: boolean;
  /** Known once the question has taken a while. */
  readonly progress: Progress | undefined;
  readonly cancel: () => void;
  readonly again: () => void;
}

interface State<T> {
  answer: T | undefined;
  /** URL that `answer` belongs to, without a start that moves by itself. */
  url: string | undefined;
  problem: Problem | undefined;
  running: boolean;
  progress: Progress | undefined;
}

/** The progress is asked for after this time only: a quick answer would make the bar flicker. */
const PATIENCE_MS = 1000;
const PROGRESS_EVERY_MS = 500;
/** Changes that follow each other faster (a wheel, a key held, a window being resized) are asked about once they stop. */
const CALM_MS = 150;

/**
 * Asks `path` with `params` whenever they change, and cancels what is no longer wanted. A `null`
 * path asks nothing. With `everyMs` it is asked again so long after each answer, while the tab is
 * seen. What asks by a time that is counted back from now asks again when that has moved.
 */
export function useQuestion<P extends Path>(path: P | null, params: Params<NoInfer<P>> = [], everyMs = 0): Question<AnswerOf<P>> {
  const [state, setState] = useState<State<AnswerOf<P>>>({
    answer: undefined, url: undefined, problem: undefined, running: false, progress: undefined,
  });
  const [asked, setAsked] = useState(0);
  const current = useRef<Asked<AnswerOf<P>> | undefined>(undefined);
  const changedAt = useRef(-Infinity);
  const url = path === null ? null : questionUrl(path, params);
  const era = epoch.value;
  const moved = params.some(([name]) => name === 'from_ns') ? beat.value : 0;
  // Starts that move by themselves do not make another question.
  const about = path === null || url === null ? undefined : moved === 0 ? url : questionUrl(path, params.filter(([name]) => name !== 'from_ns'));

  useEffect(() => {
    if (path === null || url === null) {
      setState({ answer: undefined, url: undefined, problem: undefined, running: false, progress: undefined });
      return undefined;
    }
    let over = false;
    const timers = new Set<number>();
    const later = (after: number, what: () => void) => {
      timers.add(setTimeout(what, after) as unknown as number);
    };
    setState((before) => ({ ...before, problem: undefined, running: true, progress: undefined }));

    const refresh = () => {
      if (document.visibilityState === 'visible') setAsked((times) => times + 1);
      else later(everyMs, refresh);
    };
    const watch = (question: Asked<AnswerOf<P>>) => {
      void question.progress().then((progress) => {
        if (over || progress === undefined) return;
        setState((before) => ({ ...before, progress }));
        // When everything is read the answer is about to come, and no more progress is needed.
        if (progress.total === 0 || progress.done < progress.total) later(PROGRESS_EVERY_MS, () => watch(question));
      });
    };
    const begin = () => {
      const question = askLong<P>(path, params);
      current.current = question;
      if (everyMs === 0) underWay.value += 1;
      // A repeated question whose answer is shown already has no progress bar.
      if (state.url !== about) later(PATIENCE_MS, () => watch(question));
      question.answer.then(
        (answer) => {
          if (over) return;
          timers.forEach(clearTimeout);
          setState({ answer, url: about, problem: undefined, running: false, progress: undefined });
        },
        (error: unknown) => {
          if (over) return;
          timers.forEach(clearTimeout);
          const problem = error instanceof Problem ? error
            : new Problem('refused', String(error), 'this is a defect of the page');
          setState((before) => ({ ...before, problem, running: false, progress: undefined }));
        },
      ).finally(() => {
        answered.value = true;
        if (everyMs === 0) underWay.value -= 1;
        if (!over) current.current = undefined;
        if (!over && everyMs > 0) later(everyMs, refresh);
      });
    };
    const now = performance.now();
    if (now - changedAt.current < CALM_MS) later(CALM_MS, begin);
    else begin();
    changedAt.current = now;
    return () => {
      over = true;
      timers.forEach(clearTimeout);
      current.current?.cancel();
      current.current = undefined;
    };
    // `url` says all of path and params.
  }, [url, era, asked, moved, everyMs]);

  return {
    answer: state.answer,
    stale: state.url !== about,
    problem: state.problem,
    running: state.running,
    progress: state.progress,
    cancel: () => current.current?.cancel(),
    again: () => setAsked((times) => times + 1),
  };
}

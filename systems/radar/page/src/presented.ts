// When a frame is on the screen, as nearly as a page can know.
//
// A task posted from an animation frame's callback runs after the browser has done layout and paint
// and handed the frame on: that is when a frame is acknowledged. The compositor's and the screen's
// way follows. How long that takes is measured where the browser tells (Element Timing with a
// presentation time, in Chromium): once a second a word is written in a frame, and the browser says
// when it was presented, in steps of 4 ms. Less than nothing means that the task ran late: then the
// frame had been presented before it was acknowledged. Elsewhere it is not known; at 60 Hz two
// frames, 33 ms, are the least bound for a compositor that keeps up.

/** The browser's entry for a marked element; not yet in TypeScript's library. */
interface ElementTiming extends PerformanceEntry {
  readonly identifier: string;
  readonly renderTime: number;
  readonly presentationTime?: number;
}

/** Time between two measurements, ms. */
const EVERY_MS = 1000;

export class Presented {
  private readonly channel = new MessageChannel();
  private readonly waiting: (() => void)[] = [];
  /** When the task after a marked frame ran, by the mark. */
  private readonly marks = new Map<string, number>();
  private marked = -EVERY_MS;
  private count = 0;

  /** `probe`: where a word may be written; `later`: told by how many ms a frame was presented later. */
  constructor(private readonly probe: HTMLElement, later: (ms: number) => void) {
    this.channel.port1.onmessage = () => this.waiting.shift()?.();
    if (!PerformanceObserver.supportedEntryTypes.includes('element')) return;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as ElementTiming[]) {
        const after = this.marks.get(entry.identifier);
        this.marks.delete(entry.identifier);
        const shown = entry.presentationTime ?? entry.renderTime;
        if (after !== undefined && shown > 0) later(shown - after);
      }
    }).observe({ type: 'element' });
  }

  /** Calls `then` when what the current animation frame draws has been handed to the compositor. To
   * be called within a callback of `requestAnimationFrame`. */
  after(then: () => void): void {
    const mark = this.mark();
    this.waiting.push(() => {
      if (mark !== undefined) this.marks.set(mark, performance.now());
      then();
    });
    this.channel.port2.postMessage(0);
  }

  /** Writes a new word into this frame, now and then; returns its mark. */
  private mark(): string | undefined {
    const now = performance.now();
    if (now - this.marked < EVERY_MS) return undefined;
    this.marked = now;
    this.marks.clear(); // what was not presented by now never is
    const word = document.createElement('div');
    const mark = `frame ${++this.count}`;
    word.setAttribute('elementtiming', mark);
    word.textContent = `#${this.count}`;
    this.probe.replaceChildren(word);
    return mark;
  }
}

// When a frame is on the screen, as nearly as a page can know.
//
// The worker that draws says that a frame has been drawn in a task that it posts from the animation
// frame's callback: the browser has taken the picture then and handed it on. The compositor's and the
// screen's way follows. How long that takes is measured on the page's own frames, which go the same way,
// where the browser tells (Element Timing with a presentation time, in Chromium): once a second a word is
// written in a frame, and the browser says when it was presented, in steps of 4 ms. Less than nothing
// means that the task ran late: then the frame had been presented before it was acknowledged. Elsewhere
// it is not known; at 60 Hz two frames, 33 ms, are the least bound for a compositor that keeps up.

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
  /** When the task after a marked frame ran, by the mark. */
  private readonly marks = new Map<string, number>();
  private marked = -EVERY_MS;
  private count = 0;

  /** `probe`: where a word may be written; `later`: told by how many ms a frame was presented later. */
  constructor(private readonly probe: HTMLElement, later: (ms: number) => void) {
    this.channel.port1.onmessage = ({ data }: MessageEvent<string>) => { this.marks.set(data, performance.now()); };
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

  /** Measures it, once a second at most: writes a new word into the next frame. */
  measure(): void {
    const now = performance.now();
    if (now - this.marked < EVERY_MS) return;
    this.marked = now;
    this.marks.clear(); // what was not presented by now never is
    requestAnimationFrame(() => {
      const word = document.createElement('div');
      const mark = `frame ${++this.count}`;
      word.setAttribute('elementtiming', mark);
      word.textContent = `#${this.count}`;
      this.probe.replaceChildren(word);
      this.channel.port2.postMessage(mark);
    });
  }
}

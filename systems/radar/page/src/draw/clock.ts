// What the parts of a frame take.

export type Part = 'map' | 'symbols' | 'labels' | 'placement' | 'hand';

/** Adds up the times of the parts of a frame, ms. */
export class Clock {
  private last = performance.now();

  constructor(private readonly sums: Record<Part, number>) {}

  /** All since the last time was for this. */
  add(part: Part): void {
    const now = performance.now();
    this.sums[part] += now - this.last;
    this.last = now;
  }
}

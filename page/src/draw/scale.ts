// Scales: from values to pixels and back, with the ticks that a person would put at them.

/** Maps [from, until] onto [0, length]. */
export interface Scale {
  readonly kind: 'linear' | 'log';
  readonly from: number;
  readonly until: number;
  readonly length: number;
  /** Position of a value in pixels; a value outside the range lies outside [0, length]. */
  at(value: number): number;
  /** The value at a pixel. */
  value(pixel: number): number;
}

/** A linear scale; an empty range is widened, so that nothing divides by 0. */
export function linear(from: number, until: number, length: number): Scale {
  const span = until > from ? until - from : 1;
  return {
    kind: 'linear', from, until: from + span, length,
    at: (value) => ((value - from) / span) * length,
    value: (pixel) => from + (pixel / length) * span,
  };
}

/** A logarithmic scale; values below 1 (ns) are drawn at 1. */
export function log(from: number, until: number, length: number): Scale {
  const low = Math.max(1, from);
  const high = Math.max(until, low * 1.001);
  const span = Math.log(high / low);
  return {
    kind: 'log', from: low, until: high, length,
    at: (value) => (Math.log(Math.max(1, value) / low) / span) * length,
    value: (pixel) => low * Math.exp((pixel / length) * span),
  };
}

/** A scale of either kind. */
export function scaleOf(kind: 'linear' | 'log', from: number, until: number, length: number): Scale {
  return kind === 'log' ? log(from, until, length) : linear(from, until, length);
}

/** The largest of 1, 2 and 5 times a power of ten that cuts `span` into at least `count` pieces. */
export function niceStep(span: number, count: number): number {
  const raw = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const times = raw / power;
  return power * (times >= 5 ? 5 : times >= 2 ? 2 : 1);
}

/** Round values within the scale, about `count` of them. */
export function ticks(scale: Scale, count: number): number[] {
  if (scale.kind === 'log') {
    const decades = Math.log10(scale.until / scale.from);
    if (decades >= 1) return logTicks(scale, decades, count);
  }
  const step = niceStep(scale.until - scale.from, count);
  return multiples(scale.from, scale.until, step);
}

function logTicks(scale: Scale, decades: number, count: number): number[] {
  const factors = decades * 3 <= count ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(1, count)));
  const found: number[] = [];
  for (let power = Math.floor(Math.log10(scale.from)); power <= Math.ceil(Math.log10(scale.until)); power += 1) {
    if (((power % every) + every) % every !== 0) continue;
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value >= scale.from * (1 - 1e-9) && value <= scale.until * (1 + 1e-9)) found.push(value);
    }
  }
  return found;
}

function multiples(from: number, until: number, step: number): number[] {
  const found: number[] = [];
  const first = Math.ceil(from / step - 1e-9) + 0; // not -0
  for (let index = first; index * step <= until + step * 1e-9 && found.length < 1000; index += 1) {
    found.push(index * step);
  }
  return found;
}

/** Steps of time that clocks know, in ns, above which days are counted. */
const TIME_STEPS_NS = [
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1e9),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60e9),
  ...[1, 2, 3, 6, 12, 24].map((hours) => hours * 3600e9),
];

/** Round times within [from, until], about `count` of them, and the decimals of a second they need. */
export function timeTicks(fromNs: number, untilNs: number, count: number): { ticks: number[]; decimals: number; days: boolean } {
  const raw = (untilNs - fromNs) / Math.max(1, count);
  const clock = TIME_STEPS_NS.find((step) => step >= raw);
  const step = raw < 0.5e9 ? niceStep(untilNs - fromNs, count) : (clock ?? Math.ceil(raw / 86_400e9) * 86_400e9);
  const decimals = step >= 1e9 ? 0 : Math.min(6, Math.ceil(-Math.log10(step / 1e9) - 1e-9));
  return { ticks: multiples(fromNs, untilNs, step), decimals, days: step >= 86_400e9 };
}

// Numbers, durations and times in words: three digits, a unit that a person would say, UTC.

const MINUS = '−';
/** Between a number and its unit; does not break at the end of a line. */
/** Between a number and its unit, which a line may not part: a narrow no-break space. */
export const NARROW = '\u202f';

/** Three significant digits without an exponent: 0.123, 1.23, 12.3, 123, 1,234. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value < 0) return MINUS + formatNumber(-value);
  if (value === 0) return '0';
  if (value >= 999.5) return Math.round(value).toLocaleString('en');
  const digits = Math.max(0, 2 - Math.floor(Math.log10(value)));
  const text = value.toFixed(Math.min(digits, 6));
  // 9.996 with two decimals is 10.00: one digit too many.
  return Number(text) >= 10 ** (3 - digits) && digits > 0 ? Number(text).toFixed(digits - 1) : text;
}

const UNITS: readonly (readonly [number, string])[] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];

/** A duration in ns: 999 ns, 1.23 µs, 45.6 ms, 1.05 s, 2 min 05 s, 3 h 20 min, 2 d 03 h. */
export function formatDuration(ns: number): string {
  if (!Number.isFinite(ns)) return '–';
  if (ns < 0) return MINUS + formatDuration(-ns);
  const seconds = Math.round(ns / 1e9);
  if (seconds >= 120) {
    const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
    if (seconds >= 86_400) return `${Math.floor(seconds / 86_400)} d ${two((seconds % 86_400) / 3600)} h`;
    if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${two((seconds % 3600) / 60)} min`;
    return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  }
  for (const [unit, name] of UNITS) {
    // 999.6 µs are 1.00 ms once they are rounded.
    if (ns >= unit * 0.9995) return `${formatNumber(Math.max(1, ns / unit))}${NARROW}${name}`;
  }
  return `${Math.round(ns)}${NARROW}ns`;
}

/** A difference of durations, always with its sign. */
export function formatDifference(ns: number): string {
  return ns > 0 ? `+${formatDuration(ns)}` : formatDuration(ns);
}

const FACTORS: Readonly<Record<string, number>> = {
  ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9,
};

/** Reads a duration as a person types it, into ns. `undefined` when it is none or has no unit. */
export function parseDuration(text: string): number | undefined {
  const match = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*(ns|us|µs|μs|ms|s|min|h)\s*$/.exec(text);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const value = Math.round(Number(match[1]) * (FACTORS[match[2]] ?? 1));
  return value < 2 ** 63 ? value : undefined;
}

/** A duration so that [`parseDuration`] reads the same number back: for fields to type into. */
export function exactDuration(ns: number): string {
  for (const [unit, name] of UNITS) {
    const text = String(ns / unit);
    if (ns >= unit && !text.includes('e') && Math.round(Number(text) * unit) === ns) return `${text} ${name}`;
  }
  return `${ns} ns`;
}

/** A whole number with its thousands apart. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en');
}

/** A count in little room: 950, 12.3 k, 1.23 M. */
export function formatShort(count: number): string {
  for (const [unit, name] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const) {
    if (count >= unit * 0.9995) return `${formatNumber(Math.max(1, count / unit))}${NARROW}${name}`;
  }
  return formatNumber(count);
}

/** Bytes in powers of 1024. */
export function formatBytes(bytes: number): string {
  for (const [unit, name] of [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB']] as const) {
    if (bytes >= unit) return `${formatNumber(bytes / unit)}${NARROW}${name}`;
  }
  return `${bytes}${NARROW}B`;
}

/** A share in [0, 1] as per cent. Never says 0 or 100 of what is not exactly that. */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent === 0 || percent === 100) return `${percent}${NARROW}%`;
  if (percent > 0 && percent < 0.01) return `<0.01${NARROW}%`;
  if (percent < 100 && percent > 99.99) return `>99.99${NARROW}%`;
  const digits = percent < 10 || percent > 99 ? 2 : 1;
  return `${percent.toFixed(digits)}${NARROW}%`;
}

/** A probability as tests give it: 0.031, <0.0001. */
export function formatProbability(p: number): string {
  return p < 0.0001 ? '<0.0001' : formatNumber(p);
}

const pad = (value: number, digits: number) => String(value).padStart(digits, '0');

/** The date of a time, UTC: 2026-11-23. */
export function formatDate(ns: number): string {
  const date = new Date(Math.floor(ns / 1e6));
  return Number.isNaN(date.getTime()) ? '–' : date.toISOString().slice(0, 10);
}

/** The time of day, UTC, with `decimals` (0 to 6) of a second: 10:00:01.234. Cut, not rounded. */
export function formatTimeOfDay(ns: number, decimals = 3): string {
  const date = new Date(Math.floor(ns / 1e6));
  if (Number.isNaN(date.getTime())) return '–';
  const microseconds = pad(Math.floor((ns % 1e9) / 1e3), 6).slice(0, decimals);
  return date.toISOString().slice(11, 19) + (decimals > 0 ? `.${microseconds}` : '');
}

/** Date and time of day, UTC. */
export function formatTime(ns: number, decimals = 3): string {
  return `${formatDate(ns)} ${formatTimeOfDay(ns, decimals)}`;
}

/** Date and time of day, UTC, to the nearest microsecond, with as few decimals as say it: for fields to type into. */
export function exactTime(ns: number): string {
  const total = Math.round((ns % 1e9) / 1e3);
  const second = (Math.floor(ns / 1e9) + Math.floor(total / 1e6)) * 1e9;
  const microseconds = total % 1e6;
  const decimals = microseconds === 0 ? '' : microseconds % 1000 === 0 ? `.${pad(microseconds / 1000, 3)}` : `.${pad(microseconds, 6)}`;
  return formatTime(second, 0) + decimals;
}

/** A stretch of time, without saying its date twice. */
export function formatRange(fromNs: number, untilNs: number): string {
  const decimals = untilNs - fromNs < 10e9 ? 3 : 0;
  const until = formatDate(fromNs) === formatDate(untilNs)
    ? formatTimeOfDay(untilNs, decimals) : formatTime(untilNs, decimals);
  return `${formatTime(fromNs, decimals)} – ${until}`;
}

/**
 * Reads a time, UTC, as a person types it: a date with a time of day to the ns, or the time of day
 * alone on the date of `nearNs`. `undefined` when it is none.
 */
export function parseTime(text: string, nearNs: number): number | undefined {
  const match = /^\s*(?:(\d{4}-\d{2}-\d{2})[ T]+)?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s*Z?\s*$/.exec(text);
  if (match === null) return undefined;
  const [, day, hour = '', minute = '', second = '0', fraction = ''] = match;
  const midnight = Date.parse(`${day ?? formatDate(nearNs)}T00:00:00Z`);
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  if (Number.isNaN(midnight) || midnight < 0 || h > 24 || m > 59 || s > 59) return undefined;
  return midnight * 1e6 + (h * 3600 + m * 60 + s) * 1e9 + Number(fraction.padEnd(9, '0'));
}

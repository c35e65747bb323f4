// A target: its track's data as the text and symbols of the picture.

import { METRES_PER_NM, type Point, type Projection } from './geometry';
import { FLAGS, type Track } from './wire';

/** Symbol and colour of a target, chosen by what the system knows of it. */
export type Look = 'correlated' | 'uncorrelated' | 'primary' | 'coasting' | 'emergency';
/** In the order in which they are drawn: the last is on top. */
export const LOOKS: readonly Look[] = ['coasting', 'primary', 'uncorrelated', 'correlated', 'emergency'];

/** What is alerted of a target. */
export type Alert = 'none' | 'area' | 'predicted' | 'violation';
/** The word in its label. */
export const ALERT_WORDS: Readonly<Record<Alert, string>> = { none: '', area: 'APW', predicted: 'STCA', violation: 'STCA!' };

/** Meaning of each symbol, for the legend. */
export const LOOK_WORDS: Readonly<Record<Look, string>> = {
  correlated: 'correlated with a flight plan',
  uncorrelated: 'not correlated',
  primary: 'primary radar only',
  coasting: 'coasting: no recent plot',
  emergency: 'emergency code',
};

const EMERGENCIES: readonly (number | null)[] = [0o7500, 0o7600, 0o7700];
/** A climb below this is level flight, ft/min: Mode C steps make as much. */
const LEVEL_FT_MIN = 300;
/** A level is kept within this, hundreds of feet. */
const KEPT_LEVELS = 2;

export function lookOf(track: Track): Look {
  if (EMERGENCIES.includes(track.code)) return 'emergency';
  if ((track.flags & (FLAGS.coasting | FLAGS.silent)) !== 0) return 'coasting';
  if ((track.flags & FLAGS.plan) !== 0) return 'correlated';
  if (track.code === null && track.callsign === '') return 'primary';
  return 'uncorrelated';
}

export function codeText(code: number): string {
  return code.toString(8).padStart(4, '0');
}

function flightLevel(level: number): string {
  const whole = Math.round(level);
  return whole < 0 ? `-${String(-whole).padStart(2, '0')}` : String(whole).padStart(3, '0');
}

/** By what people call it: callsign, or Mode A, or the track's number. */
export function nameOf(track: Track): string {
  if (track.callsign !== '') return track.callsign;
  return track.code === null ? `#${track.number}` : `A${codeText(track.code)}`;
}

/** Vertical trend of a track: climbing, descending, or empty for level flight. */
export function trendOf(track: Track): string {
  if (track.climb === null || Math.abs(track.climb) <= LEVEL_FT_MIN) return '';
  return track.climb > 0 ? '↑' : '↓';
}

/** Whether the crew has selected another level than the cleared one. */
function differs(track: Track): boolean {
  return (track.flags & FLAGS.differs) !== 0;
}

/** Whether it flies at its cleared level, so that a label need not say that. */
function keepsLevel(track: Track): boolean {
  const { cleared, level } = track;
  return cleared !== null && level !== null && Math.abs(cleared - level) < KEPT_LEVELS && trendOf(track) === '' && !differs(track);
}

/** The cleared or selected level in words; empty where none is known. */
export function clearedWords(track: Track): string {
  if (track.cleared === null) return '';
  const level = flightLevel(track.cleared);
  if ((track.flags & FLAGS.selected) !== 0) return `selected ${level}`;
  return `cleared ${level}${differs(track) ? ', another selected' : ''}`;
}

export function knots(track: Track): number {
  return (Math.hypot(track.east, track.north) * 3600) / METRES_PER_NM;
}

/**
 * The lines of the label: who (and the code of an emergency, the word of an alert, C of coasting);
 * level, trend, cleared or else selected level unless it flies there (a question mark: the crew has
 * selected another one), and the rate in hundreds of feet a minute where it is not level; ground
 * speed in tens of knots, type, and where it wants to: its destination.
 */
export function lines(track: Track, alert: Alert): readonly string[] {
  const look = lookOf(track);
  const marks = [
    look === 'emergency' && track.code !== null && track.callsign !== '' ? codeText(track.code) : '',
    ALERT_WORDS[alert],
    look === 'coasting' ? 'C' : '',
    (track.flags & FLAGS.ident) !== 0 ? 'ID' : '',
    (track.flags & FLAGS.codeConflict) !== 0 ? 'DUPE' : '',
  ];
  const first = [nameOf(track), ...marks].filter((part) => part !== '').join(' ');
  const level = track.level === null ? '---' : flightLevel(track.level);
  const trend = trendOf(track);
  const cleared = keepsLevel(track) || track.cleared === null ? '' : `${flightLevel(track.cleared)}${differs(track) ? '?' : ''}`;
  const rate = trend === '' || track.climb === null ? '' : `${track.climb > 0 ? '+' : ''}${Math.round(track.climb / 100)}`;
  const second = [`${level}${trend}`, cleared, rate].filter((part) => part !== '').join(' ');
  const speed = String(Math.round(knots(track) / 10)).padStart(2, '0');
  const third = [speed, track.type, track.destination].filter((part) => part !== '').join(' ');
  return [first, second, third];
}

export const FONT = '11px "DejaVu Sans Mono", "Liberation Mono", ui-monospace, monospace';
/** Size of a character and of a line, pixels. */
export const CHARACTER = 6.6;
export const LINE = 13;
/** The same in small letters. */
export const TINY_CHARACTER = 5.4;
export const TINY_LINE = 10;

/** A track as it is shown. */
export class Target {
  readonly id: number;
  /** Size of its label: with all lines, with the first and the level, with that in small letters, and without the
   * level. */
  full = { w: 0, h: 0 };
  short = { w: 0, h: 0 };
  tiny = { w: 0, h: 0 };
  name = { w: 0, h: 0 };
  /** Where the reader has put its label: its upper left corner, seen from the symbol. */
  pinned: Point | undefined;
  /** Its label has priority over all labels that are not urgent. */
  urgent = false;
  look: Look = 'uncorrelated';
  alert: Alert = 'none';
  text: readonly string[] = [];
  /** Its first line and the level, where that is known. */
  brief = '';
  /** In the plane. */
  at: Point = { x: 0, y: 0 };
  /** Where it was, the newest first: x and y in the plane, one after another. */
  trail = new Float64Array(0);
  /** Bounds of all that and of where it is. */
  reach = { x0: 0, y0: 0, x1: 0, y1: 0 };

  constructor(public track: Track, projection: Projection) {
    this.id = track.number;
    this.update(track, projection);
  }

  /** Takes the newest state in. */
  update(track: Track, projection: Projection): void {
    this.track = track;
    this.at = projection.project(track.at);
    this.follow(track.history.map((place) => projection.project(place)));
    this.look = lookOf(track);
    this.write();
  }

  private follow(history: readonly Point[]): void {
    const reach = { x0: this.at.x, y0: this.at.y, x1: this.at.x, y1: this.at.y };
    this.trail = new Float64Array(2 * history.length);
    history.forEach(({ x, y }, index) => {
      this.trail[2 * index] = x;
      this.trail[2 * index + 1] = y;
      [reach.x0, reach.x1] = [Math.min(reach.x0, x), Math.max(reach.x1, x)];
      [reach.y0, reach.y1] = [Math.min(reach.y0, y), Math.max(reach.y1, y)];
    });
    this.reach = reach;
  }

  /** Writes its label after its content has changed. */
  write(): void {
    this.text = lines(this.track, this.alert);
    const [first = ''] = this.text;
    const longest = Math.max(...this.text.map((line) => line.length));
    this.full = { w: Math.ceil(longest * CHARACTER) + 2, h: LINE * this.text.length };
    const { level } = this.track;
    this.brief = level === null ? first : `${first} ${flightLevel(level)}${trendOf(this.track)}`;
    this.short = { w: Math.ceil(this.brief.length * CHARACTER) + 2, h: LINE };
    this.tiny = { w: Math.ceil(this.brief.length * TINY_CHARACTER) + 1, h: TINY_LINE };
    this.name = { w: Math.ceil(first.length * TINY_CHARACTER) + 1, h: TINY_LINE };
    this.urgent = this.alert !== 'none' || this.look === 'emergency';
  }

  /** Whether it is within a band of flight levels; one whose level is not known is. */
  isWithin(low: number, high: number): boolean {
    const { level } = this.track;
    return level === null || (level >= low && level <= high);
  }
}

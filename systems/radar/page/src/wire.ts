// Frames of track states, as systems/radar/src/display/browser/wire.rs describes them.

/** Bits of a record's flags. */
export const FLAGS = {
  plan: 1, coasting: 1 << 1, tentative: 1 << 2, simulated: 1 << 3, monosensor: 1 << 4,
  psrOld: 1 << 5, ssrOld: 1 << 6, modeSOld: 1 << 7, adsbOld: 1 << 8, ident: 1 << 9,
  codeConflict: 1 << 10, correlated: 1 << 11, silent: 1 << 12, selected: 1 << 13, differs: 1 << 14,
} as const;

/** A position in degrees. */
export interface Place {
  readonly lat: number;
  readonly lon: number;
}

/** The data of a track. */
export interface Track {
  /** I062/040. */
  readonly number: number;
  readonly flags: number;
  readonly at: Place;
  /** To the east and to the north, m/s. */
  readonly east: number;
  readonly north: number;
  /** Mode A, twelve bits. */
  readonly code: number | null;
  /** Flight level. */
  readonly level: number | null;
  /** ft/min, up positive. */
  readonly climb: number | null;
  /** Cleared flight level; with the flag `selected`, the one that the crew has selected. */
  readonly cleared: number | null;
  /** Past positions, the latest first. */
  readonly history: readonly Place[];
  readonly callsign: string;
  readonly type: string;
  readonly departure: string;
  readonly destination: string;
}

/** The changes since the frame before. */
export interface Frame {
  readonly number: number;
  /** Forget all tracks first. */
  readonly anew: boolean;
  /** UTC when it was sent, ms. */
  readonly utcMs: number;
  readonly tracks: readonly Track[];
  readonly gone: readonly number[];
}

const HEAD = 20;
const NONE_I16 = -32768;
const NONE_U16 = 0xffff;

/** Reads on; leaving the octets is a RangeError of the view, which `decode` says in its words. */
class Reader {
  private readonly text = new TextDecoder();
  constructor(private readonly view: DataView, private at: number) {}
  u8(): number { return this.view.getUint8(this.at++); }
  u16(): number { this.at += 2; return this.view.getUint16(this.at - 2, true); }
  i16(): number { this.at += 2; return this.view.getInt16(this.at - 2, true); }
  i32(): number { this.at += 4; return this.view.getInt32(this.at - 4, true); }
  place(): Place { return { lat: this.i32() / 1e7, lon: this.i32() / 1e7 }; }
  words(): string {
    const length = this.u8();
    this.at += length;
    if (this.at > this.view.byteLength) throw new RangeError('a text extends past the end');
    return length === 0 ? '' : this.text.decode(new Uint8Array(this.view.buffer, this.view.byteOffset + this.at - length, length));
  }
  get position(): number { return this.at; }
}

function track(from: Reader, number: number): Track {
  const flags = from.u16();
  const at = from.place();
  const east = from.i16() / 4;
  const north = from.i16() / 4;
  const code = from.u16();
  const level = from.i16();
  const climb = from.i16();
  const cleared = from.u16();
  const history: Place[] = [];
  for (let left = from.u8(); left > 0; left--) history.push(from.place());
  return {
    number, flags, at, east, north,
    code: code === NONE_U16 ? null : code,
    level: level === NONE_I16 ? null : level / 4,
    climb: climb === NONE_I16 ? null : climb * 6.25,
    cleared: cleared === NONE_U16 ? null : cleared / 4,
    history,
    callsign: from.words(), type: from.words(), departure: from.words(), destination: from.words(),
  };
}

/** Reads a frame. Throws an Error that says where it stops being one. */
export function decode(octets: ArrayBuffer): Frame {
  const view = new DataView(octets);
  const reader = new Reader(view, HEAD);
  try {
    if (view.getUint8(0) !== 1 || view.getUint8(1) !== 1) throw new RangeError('another kind or version of frame');
    const frame = {
      number: view.getUint32(4, true), anew: (view.getUint16(2, true) & 1) !== 0, utcMs: view.getFloat64(12, true),
      tracks: [] as Track[], gone: [] as number[],
    };
    for (let left = view.getUint32(8, true); left > 0; left--) {
      const kind = reader.u8();
      const number = reader.u16();
      if (kind === 0) frame.gone.push(number);
      else if (kind === 1) frame.tracks.push(track(reader, number));
      else throw new RangeError(`a record is of kind ${kind}`);
    }
    if (reader.position !== view.byteLength) throw new RangeError('there are octets after the last record');
    return frame;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(`frame of ${octets.byteLength} octets, at ${reader.position}: ${error.message}`, { cause: error });
  }
}

/** A conflict between two tracks. */
export interface Conflict {
  readonly a: number;
  readonly b: number;
  /** Seconds until it begins; 0 when the minima are undercut now. */
  readonly in_s: number;
  readonly now_nm: number;
  readonly now_ft: number;
  readonly least_nm: number;
  readonly height_ft: number;
}

/** A track in an area, or on its way into it. */
export interface AreaAlert {
  readonly track: number;
  readonly area: string;
  readonly kind: 'proximity' | 'minimum';
  /** Seconds until it is in it; 0 when it is. */
  readonly in_s: number;
}

/** Age of the picture, by the time of track of its newest state. */
export interface PictureAge {
  readonly state: 'empty' | 'current' | 'stale';
  /** Of the newest state. */
  readonly age_ms: number | null;
  /** Above this age the picture is stale. */
  readonly limit_ms: number;
  /** Middle time between two updates of a track. */
  readonly period_ms: number | null;
  /** The stamps are of another clock: a recording. */
  readonly other_clock: boolean;
}

/** The status of the process, sent once a second. */
export interface Status {
  readonly kind: 'status';
  readonly utc_ms: number;
  readonly connected: boolean;
  readonly mode: 'standard' | 'averaging';
  readonly updates_per_s: number;
  readonly picture: PictureAge;
  readonly malformed: number;
  /** The tracker in operation, of a pair: its unit number, 0 where there is one alone. */
  readonly tracker: number;
  readonly tracks: number;
  readonly correlated: number;
  readonly coasting: number;
  readonly browsers: number;
  readonly round_trip_us: number | null;
  readonly presented_later_us: number | null;
  readonly conflicts: readonly Conflict[];
  readonly conflict_count: number;
  /** Tracks that are too close to another one now. */
  readonly in_violation: readonly number[];
  /** Others that will be. */
  readonly in_conflict: readonly number[];
  readonly areas: readonly AreaAlert[];
  readonly area_count: number;
}

/** A question that is answered with its number. */
export interface Ping {
  readonly kind: 'ping';
  readonly ping: number;
}

/** Reads words; null for a kind that a newer process has. */
export function words(text: string): Status | Ping | null {
  const said = JSON.parse(text) as { kind?: unknown };
  return said.kind === 'status' || said.kind === 'ping' ? (said as Status | Ping) : null;
}

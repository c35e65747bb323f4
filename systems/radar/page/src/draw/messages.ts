// What the page and its two workers say to each other: one draws the targets on the map, the other
// draws the map.

import type { Camera, Point, Window } from '../geometry';
import type { Rect } from '../labels';
import type { Chart } from '../map';
import type { Layer, View } from '../place';
import type { Alert } from '../target';
import type { Place } from '../wire';

/** The page to the worker that draws. */
export type ToPicture =
  /** First: the canvas, the way to the worker that draws the map, the origin of the plane. */
  | { readonly kind: 'begin'; readonly canvas: OffscreenCanvas; readonly map: MessagePort; readonly origin: Place }
  | { readonly kind: 'look'; readonly camera: Camera; readonly ratio: number; readonly view: View }
  /** The plane has another origin. */
  | { readonly kind: 'origin'; readonly origin: Place }
  /** A frame of track states, as the process sent it. */
  | { readonly kind: 'frame'; readonly octets: ArrayBuffer }
  | { readonly kind: 'alerts'; readonly alerts: ReadonlyMap<number, Alert> }
  | { readonly kind: 'pin'; readonly track: number; readonly at: Point | undefined };

/** What the frames have cost, since the beginning. */
export interface Cost {
  readonly frames: number;
  /** Those of them of which only a part was drawn. */
  readonly parts: number;
  /** Count of frames by the whole ms since the one before, the last for all that took longer. */
  readonly gaps: readonly number[];
  /** Time of the worker for the parts of a frame, ms: the map is copied, symbols with history, vectors and
   * leader lines are drawn, labels are written, labels are placed, the picture is handed on. */
  readonly map: number;
  readonly symbols: number;
  readonly labels: number;
  readonly placement: number;
  readonly hand: number;
  /** How often the map was drawn, by the other worker, and its time, ms. */
  readonly sheets: number;
  readonly sheetMs: number;
}

/** The worker that draws to the page. */
export type FromPicture =
  /** A frame of track states is in a picture that has been handed on to be shown. */
  | { readonly kind: 'drawn'; readonly frame: number }
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'broken'; readonly why: string };

/** What is on the screen. */
export interface Report {
  /** Of each target on it `REPORT_FIELDS` numbers: track, place of its symbol, `Detail` of its label, upper left
   * corner of that seen from the symbol, and its size. */
  readonly shown: Int32Array<ArrayBuffer>;
  readonly names: readonly Rect[];
  readonly cost: Cost;
  /** Whether all labels are placed and the map is drawn for what is looked at. */
  readonly isSettled: boolean;
}
export const REPORT_FIELDS = 8;

/** The page to the worker that draws the map. */
export interface ToMap {
  readonly chart: Chart;
  readonly picture: MessagePort;
}

/** A part of the map to be drawn. */
export interface SheetOrder extends Window {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
  readonly off: readonly Layer[];
  /** Of the plane. */
  readonly origin: Place;
}

/** The worker that draws the map to the one that needs it. */
export type FromMap =
  | { readonly kind: 'sheet'; readonly order: SheetOrder; readonly width: number; readonly height: number; readonly pixels: ArrayBuffer; readonly names: readonly Rect[]; readonly ms: number }
  /** There is more of it: the coasts and borders of the Earth have come. */
  | { readonly kind: 'more' };

/** The same worker to the page. */
export interface MapTrouble {
  readonly broken: string;
}

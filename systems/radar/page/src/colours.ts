// Colours of targets and of the ground beneath them.

import type { Alert, Look } from './target';

/** Symbol and label; checked against the lightest ground for a contrast of 4.5 and more. */
export const LOOK_COLOURS: Readonly<Record<Look, string>> = {
  correlated: '#bae2c8', uncorrelated: '#d6be78', primary: '#9cc4e4', coasting: '#9aa4ad', emergency: '#ff7a6e',
};
/** Dots, vectors and leader lines: they matter less. */
export const FAINT_COLOURS: Readonly<Record<Look, string>> = {
  correlated: '#748d7d', uncorrelated: '#86774b', primary: '#617a8e', coasting: '#60666c', emergency: '#9f4c45',
};
/** A conflict to come, one that is there, and an area. */
export const ALERT_COLOURS: Readonly<Record<Exclude<Alert, 'none'>, string>> = { area: '#d8a8ff', predicted: '#ffb050', violation: '#ff5a4a' };
/** Ground of the label of a target that is too close to another one. */
export const VIOLATION_GROUND = '#b01414';
export const SELECTED = '#ffffff';
/** The ground of the picture. */
export const GROUND = '#0d1218';

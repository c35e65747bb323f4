import type { ComponentChildren } from 'preact';
import { formatDifference, formatDuration } from './format';

/** A value whose text is rounded, with the exact number and its unit for tables that are saved. */
export function Exact({ value, unit, children }: { value: number; unit: string; children: ComponentChildren }) {
  return <data value={value} data-unit={unit}>{children}</data>;
}

/** A duration, or with `signed` a difference of durations. */
export function Duration({ ns, signed = false }: { ns: number; signed?: boolean }) {
  return <Exact value={ns} unit="ns">{signed ? formatDifference(ns) : formatDuration(ns)}</Exact>;
}

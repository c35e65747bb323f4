// The context of a transaction, in the order in which it says what happened.

import type { Row } from './tree';

/** One property or metric. */
export interface Fact {
  readonly key: string;
  readonly value: string;
}

/**
 * Names that are shown first: failures, then the request and its peer. These are OpenTelemetry's
 * names; a name belongs to the first that it begins with, up to a dot or its end.
 */
const FIRST = ['error', 'exception', 'status', 'otel.status_code', 'otel.status_description', 'messaging', 'http', 'db', 'rpc'] as const;

/** Number of entries shown for a transaction without any known name. */
const UNKNOWN_SHOWN = 8;

/** A longer value is folded to its beginning. */
export const VALUE_SHOWN = 120;

function rankOf(key: string): number {
  const rank = FIRST.findIndex((name) => key === name || key.startsWith(`${name}.`));
  return rank < 0 ? FIRST.length : rank;
}

/** All of a row's context: important names first, those of one kind by name, properties before metrics. */
export function contextOf({ properties, metrics }: Pick<Row, 'properties' | 'metrics'>): Fact[] {
  const all = [...Object.entries(properties), ...Object.entries(metrics)].map(([key, value]) => ({ key, value: String(value) }));
  // Names that say nothing to us stay in the order in which the program gave them.
  return all.map((fact) => ({ fact, rank: rankOf(fact.key) })).sort((a, b) => (
    a.rank - b.rank || (a.rank < FIRST.length ? (a.fact.key < b.fact.key ? -1 : 1) : 0))).map(({ fact }) => fact);
}

/** The facts shown while the list is folded: the important ones, or the first few where there are none. */
export function shownFirst(facts: readonly Fact[]): readonly Fact[] {
  const important = facts.filter(({ key }) => rankOf(key) < FIRST.length);
  if (important.length === 0) return facts.slice(0, UNKNOWN_SHOWN);
  // One that would stand alone behind a button may as well be shown.
  return facts.length - important.length <= 1 ? facts : important;
}

/** Tooltip of a transaction without a CPU time. */
export const NO_CPU = 'Its CPU time was not measured: OpenTelemetry spans carry no CPU time';
/** Tooltip of a class without a CPU time. */
export const NO_CPU_OF_ALL = 'None of its transactions has a CPU time: OpenTelemetry spans carry no CPU time';

/** Placeholder for an unknown value (not 0): a dash with a tooltip that gives the reason. */
export function Unknown({ why }: { why: string }) {
  return <span class="quiet" title={why}><span aria-hidden="true">–</span><span class="unseen">unknown</span></span>;
}

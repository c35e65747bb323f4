/** Tooltip of a transaction without a CPU time. */
export const NO_CPU = 'Nobody measured its CPU time: spans of OpenTelemetry carry none';
/** Tooltip of a class without a CPU time. */
export const NO_CPU_OF_ALL = 'None of its transactions has a CPU time: spans of OpenTelemetry carry none';

/** Placeholder for an unknown value (not 0): a dash with a tooltip that gives the reason. */
export function Unknown({ why }: { why: string }) {
  return <span class="quiet" title={why}><span aria-hidden="true">–</span><span class="unseen">unknown</span></span>;
}

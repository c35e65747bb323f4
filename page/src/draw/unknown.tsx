/** Why no CPU time is known of a transaction. */
export const NO_CPU = 'Nobody measured its CPU time: spans of OpenTelemetry carry none';
/** Why none is known of a class. */
export const NO_CPU_OF_ALL = 'None of its transactions has a CPU time: spans of OpenTelemetry carry none';

/** What is not known is not 0: a dash that says why. */
export function Unknown({ why }: { why: string }) {
  return <span class="quiet" title={why}><span aria-hidden="true">–</span><span class="unseen">unknown</span></span>;
}

import './length-bar.css';

/** Share of a transaction's elapsed time in which its thread computed, in [0, 1]; null where it is not known. */
export function cpuShare({ elapsed_ns, cpu_ns }: { readonly elapsed_ns: number; readonly cpu_ns: number | null }): number | null {
  return cpu_ns === null || elapsed_ns === 0 ? null : Math.min(1, cpu_ns / elapsed_ns);
}

/** Elapsed time as a bar relative to `most`; the dark part is CPU time. */
export function LengthBar({ of, most }: { of: { readonly elapsed_ns: number; readonly cpu_ns: number | null }; most: number }) {
  const cpu = cpuShare(of);
  return <span class="length" style={{ width: `${Math.min(1, of.elapsed_ns / Math.max(1, most)) * 100}%` }}>{cpu !== null && <span class="cpu" style={{ width: `${cpu * 100}%` }} />}</span>;
}

// Layers of a directed graph: which edges close a cycle, and how far from a root each node is.

/** A call, from caller to callee. */
export interface Link {
  readonly from: string;
  readonly to: string;
}

type Indexed = Link & { readonly index: number };

/**
 * Turns round the edges that close a cycle, as a walk from the roots finds them. `forward` has all
 * edges, those turned round as well; `back` says by index which they are.
 */
export function acyclic(ids: readonly string[], edges: readonly Indexed[]): { forward: Indexed[]; back: Set<number> } {
  const out = new Map<string, Indexed[]>(ids.map((id) => [id, []]));
  const called = new Set<string>();
  for (const edge of edges) {
    if (edge.from === edge.to) continue;
    out.get(edge.from)?.push(edge);
    called.add(edge.to);
  }
  const back = new Set<number>();
  const state = new Map<string, 'open' | 'done'>();
  // Not by recursion: a chain may be longer than a stack is deep.
  const walk = (root: string) => {
    const trail = [{ id: root, next: 0 }];
    state.set(root, 'open');
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const edge = out.get(top.id)?.[top.next];
      top.next += 1;
      if (edge === undefined) {
        state.set(top.id, 'done');
        trail.pop();
      } else if (state.get(edge.to) === 'open') {
        back.add(edge.index);
      } else if (!state.has(edge.to)) {
        state.set(edge.to, 'open');
        trail.push({ id: edge.to, next: 0 });
      }
    }
  };
  for (const id of [...ids.filter((id) => !called.has(id)), ...ids]) if (!state.has(id)) walk(id);
  const forward = edges.map((edge) => (back.has(edge.index) ? { ...edge, from: edge.to, to: edge.from } : edge));
  return { forward, back };
}

/** The layer of each node: 0 where nothing leads to it, otherwise one behind the last that does. */
export function layersOf(ids: readonly string[], forward: readonly Link[]): Map<string, number> {
  const out = new Map<string, string[]>();
  const waiting = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const { from, to } of forward) {
    if (from === to) continue;
    out.set(from, [...(out.get(from) ?? []), to]);
    waiting.set(to, (waiting.get(to) ?? 0) + 1);
  }
  const layer = new Map<string, number>(ids.map((id) => [id, 0]));
  const ready = ids.filter((id) => waiting.get(id) === 0);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    for (const to of out.get(id) ?? []) {
      layer.set(to, Math.max(layer.get(to) ?? 0, (layer.get(id) ?? 0) + 1));
      const left = (waiting.get(to) ?? 0) - 1;
      waiting.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
  return layer;
}

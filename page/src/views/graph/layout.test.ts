import { describe, expect, it } from 'vitest';
import { seeded } from '../../random';
import type { Link } from './layers';
import { layout, type Sizes } from './layout';
import { neighbour } from './neighbour';
import { crossings, ordered } from './order';
import { spread } from './spread';

/** Wider ones among narrower ones. */
const nodeWidth = (id: string) => (id.length === 1 ? 160 : 120 + (id.charCodeAt(1) % 4) * 20);
const SIZES: Sizes = { nodeWidth, nodeHeight: 60, gapX: 110, gapY: 16, labelHeight: 30, label: (index) => ({ width: 40 + (index % 5) * 25, height: index % 3 === 0 ? 14 : 42 }) };

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Everything that labels may not cover: nodes, and the curves of self calls, by points of these. */
function obstacles({ nodes, edges }: ReturnType<typeof layout>, links: readonly Link[]): Box[] {
  const loops = edges.filter(({ index }) => links[index]?.from === links[index]?.to).map(({ d }): Box => {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, x2 = 0, y2 = 0, x3 = 0, y3 = 0] = [...d.matchAll(/-?[\d.]+/g)].map(([number]) => Number(number));
    const points = Array.from({ length: 101 }, (_, step) => {
      const t = step / 100;
      const on = (a: number, b: number, c: number, e: number) => (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t ** 2 * c + t ** 3 * e;
      return [on(x0, x1, x2, x3), on(y0, y1, y2, y3)] as const;
    });
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
  });
  return [...loops, ...nodes.map(({ x, y, width }) => ({ left: x, right: x + width, top: y, bottom: y + SIZES.nodeHeight }))];
}

function labelBoxes({ edges }: ReturnType<typeof layout>): Box[] {
  return edges.map(({ index, label: { x, y } }) => {
    const { width, height } = SIZES.label(index);
    return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
  });
}

const overlap = (a: Box, b: Box) => a.left < b.right - 1e-6 && b.left < a.right - 1e-6 && a.top < b.bottom - 1e-6 && b.top < a.bottom - 1e-6;

/** A graph with some cycles, some long edges, some nodes alone. */
function randomGraph(random: () => number): { ids: string[]; edges: Link[] } {
  const ids = Array.from({ length: 1 + Math.floor(random() * 20) }, (_, index) => `n${index}`);
  const some = () => ids[Math.floor(random() * ids.length)] as string;
  const edges = Array.from({ length: Math.floor(random() * ids.length * 2) }, () => ({ from: some(), to: some() }));
  return { ids, edges };
}

describe('a layout', () => {
  it('has no node over another, and none outside of the picture', () => {
    const random = seeded(9);
    for (let times = 0; times < 300; times += 1) {
      const { ids, edges } = randomGraph(random);
      const found = layout(ids, edges, SIZES);
      expect(found.nodes.map((node) => node.id)).toEqual(ids);
      const outside = found.nodes.filter((node) => node.x < 0 || node.y < -1e-6
        || node.x + node.width > found.width + 1e-6 || node.y + SIZES.nodeHeight > found.height + 1e-6);
      expect(outside).toEqual([]);
      const over = found.nodes.flatMap((node, index) => found.nodes.slice(index + 1).filter((other) => (
        node.x < other.x + other.width && other.x < node.x + node.width && Math.abs(node.y - other.y) < SIZES.nodeHeight + SIZES.gapY - 1e-6)));
      expect(over).toEqual([]);
    }
  });

  it('leads every call to a later layer, but for those that close a cycle', () => {
    const random = seeded(10);
    for (let times = 0; times < 300; times += 1) {
      const { ids, edges } = randomGraph(random);
      const found = layout(ids, edges, SIZES);
      const layer = new Map(found.nodes.map((node) => [node.id, node.layer]));
      expect(found.edges).toHaveLength(edges.length);
      const wrong = found.edges.filter(({ index, back }) => {
        const { from, to } = edges[index] as Link;
        return back !== ((layer.get(to) ?? 0) <= (layer.get(from) ?? 0));
      });
      expect(wrong).toEqual([]);
      // Nothing runs back where there is no cycle.
      const numbers = new Map(ids.map((id, index) => [id, index]));
      const acyclic = edges.filter(({ from, to }) => (numbers.get(from) ?? 0) < (numbers.get(to) ?? 0));
      expect(layout(ids, acyclic, SIZES).edges.some((edge) => edge.back)).toBe(false);
    }
  });

  it('has no label over another, over a self call or over a node, and none outside of the picture', () => {
    const random = seeded(11);
    for (let times = 0; times < 300; times += 1) {
      const { ids, edges: some } = randomGraph(random);
      // A class that calls itself often has both a synchronous and an asynchronous call.
      const selves = ids.filter(() => random() < 0.4).flatMap((id) => Array.from({ length: random() < 0.5 ? 1 : 2 }, () => ({ from: id, to: id })));
      const edges = [...some, ...selves];
      const found = layout(ids, edges, SIZES);
      const labels = labelBoxes(found);
      expect(labels.flatMap((label, index) => labels.slice(index + 1).filter((other) => overlap(label, other)))).toEqual([]);
      expect(labels.flatMap((label) => obstacles(found, edges).filter((other) => overlap(label, other)))).toEqual([]);
      expect(labels.filter(({ left, right, top, bottom }) => left < 0 || top < -1e-6 || right > found.width + 1e-6 || bottom > found.height + 1e-6)).toEqual([]);
    }
  });

  it('has the two self calls of one class apart', () => {
    const twice = [{ from: 'a', to: 'a' }, { from: 'a', to: 'a' }];
    const [one, other] = obstacles(layout(['a'], twice, SIZES), twice) as [Box, Box];
    expect(overlap(one, other)).toBe(false);
  });

  it('of a chain is a straight line', () => {
    const found = layout(['a', 'b', 'c'], [{ from: 'a', to: 'b' }, { from: 'b', to: 'c' }], SIZES);
    expect(found.nodes.map(({ x, y }) => [x, y])).toEqual([[0, 0], [270, 0], [540, 0]]);
    expect(found.edges[0]?.d).toBe('M160,30L270,30');
  });

  it('of a call past a layer leaves room for it there', () => {
    const found = layout(['a', 'b', 'c'], [{ from: 'a', to: 'b' }, { from: 'b', to: 'c' }, { from: 'a', to: 'c' }], SIZES);
    const b = found.nodes[1];
    const passes = /270,(-?[\d.]+)/.exec(found.edges[2]?.d ?? '')?.[1];
    expect(Math.abs(Number(passes) - ((b?.y ?? 0) + 30))).toBeGreaterThanOrEqual(30 + SIZES.gapY);
  });

  it('of nothing, of an unknown node, of a class that calls itself does not fail', () => {
    expect(layout([], [], SIZES).nodes).toEqual([]);
    expect(layout(['a'], [{ from: 'a', to: 'b' }], SIZES).edges).toEqual([]);
    expect(layout(['a'], [{ from: 'a', to: 'a' }], SIZES).edges).toHaveLength(1);
  });
});

describe('the order of layers', () => {
  it('never has more crossings than it was given, and solves what can be solved', () => {
    const steps = [{ from: 'a', to: 'y' }, { from: 'b', to: 'x' }, { from: 'c', to: 'z' }];
    const columns = [['a', 'b', 'c'], ['x', 'y', 'z']];
    expect(crossings(columns, steps)).toBe(1);
    expect(crossings(ordered(columns, steps), steps)).toBe(0);
    const random = seeded(12);
    for (let times = 0; times < 100; times += 1) {
      const wide = [0, 1, 2].map((layer) => Array.from({ length: 6 }, (_, index) => `${layer}.${index}`));
      const some = Array.from({ length: 15 }, () => {
        const layer = Math.floor(random() * 2);
        return { from: `${layer}.${Math.floor(random() * 6)}`, to: `${layer + 1}.${Math.floor(random() * 6)}` };
      });
      const found = ordered(wide, some);
      expect(found.map((column) => [...column].sort())).toEqual(wide);
      expect(crossings(found, some)).toBeLessThanOrEqual(crossings(wide, some));
    }
  });
});

describe('positions', () => {
  it('keep their distances and are where they are wanted, where that can be', () => {
    expect(spread([0, 10, 20], [5, 5])).toEqual([0, 10, 20]);
    expect(spread([0, 0], [4])).toEqual([-2, 2]);
    expect(spread([], [])).toEqual([]);
    const random = seeded(13);
    for (let times = 0; times < 200; times += 1) {
      const wanted = Array.from({ length: 10 }, () => random() * 100);
      const apart = Array.from({ length: 9 }, () => random() * 20);
      const found = spread(wanted, apart);
      const close = found.slice(1).filter((place, index) => place - (found[index] ?? 0) < (apart[index] ?? 0) - 1e-9);
      expect(close).toEqual([]);
      // The least squares: no shift of all together is better, which is what a mean is.
      const error = (shift: number) => found.reduce((sum, place, index) => sum + (place + shift - (wanted[index] ?? 0)) ** 2, 0);
      expect(error(0)).toBeLessThanOrEqual(Math.min(error(0.1), error(-0.1)));
    }
  });
});

describe('an arrow key', () => {
  const edges = [{ from: 'a', to: 'b' }, { from: 'a', to: 'c' }, { from: 'c', to: 'd' }];
  const found = layout(['a', 'b', 'c', 'd'], edges, SIZES);
  it('leads to who is called, to the caller, and up and down the layer', () => {
    expect(['b', 'c']).toContain(neighbour(found, edges, 'a', 'right'));
    expect(neighbour(found, edges, 'd', 'left')).toBe('c');
    expect(neighbour(found, edges, 'b', 'down') ?? neighbour(found, edges, 'b', 'up')).toBe('c');
    expect(neighbour(found, edges, 'd', 'right')).toBeUndefined();
    expect(neighbour(found, edges, 'a', 'up')).toBeUndefined();
  });
});

import type { Link } from './layers';
import type { Layout, PlacedNode } from './layout';

export type Direction = 'left' | 'right' | 'up' | 'down';

/**
 * The node that an arrow key leads to: to the right the nearest that this one calls, to the left the
 * nearest that calls it, up and down the next of the same layer. Where no call leads on, none.
 */
export function neighbour({ nodes }: Layout, edges: readonly Link[], id: string, direction: Direction): string | undefined {
  const here = nodes.find((node) => node.id === id);
  if (here === undefined) return undefined;
  const beside = (ids: readonly string[]) => nodes.filter((node) => node.id !== id && ids.includes(node.id));
  let among: readonly PlacedNode[];
  if (direction === 'right') among = beside(edges.filter((edge) => edge.from === id).map((edge) => edge.to));
  else if (direction === 'left') among = beside(edges.filter((edge) => edge.to === id).map((edge) => edge.from));
  else among = nodes.filter((node) => node.layer === here.layer && (direction === 'down' ? node.y > here.y : node.y < here.y));
  const distance = (node: PlacedNode) => Math.hypot(node.x - here.x, node.y - here.y);
  return [...among].sort((a, b) => distance(a) - distance(b))[0]?.id;
}

// Names of classes as they are shown beside each other.

import type { Ring } from '../../api/types';

/** The class without its application, where that is the application of the ring: nearly all are. */
export function shortName(name: string, { ring }: { readonly ring: Pick<Ring['ring'], 'application'> }): string {
  const own = `${ring.application}::`;
  return name.startsWith(own) && name.length > own.length ? name.slice(own.length) : name;
}

import type { ComponentChildren } from 'preact';
import { address, go } from '../selection/current';
import type { Change } from '../selection/place';

interface LinkProps {
  readonly to: Change;
  readonly class?: string;
  readonly title?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
}

/** A link within the page: a real one, so that it can be copied and opened in another tab. */
export function Link({ to, current = false, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={address(to)} onClick={follow} aria-current={current ? 'page' : undefined} {...rest}>
      {children}
    </a>
  );
}

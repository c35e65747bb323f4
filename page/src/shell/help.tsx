import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { groups } from './keys';

/** The sheet of keys. */
export function Help({ open }: { open: Signal<boolean> }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (open.value) dialog.current?.showModal();
  }, [open.value]);
  return (
    <dialog ref={dialog} class="sheet" aria-labelledby="help-title" onClose={() => (open.value = false)}>
      <h2 id="help-title">Keys</h2>
      <div class="groups">
        {open.value && groups.value.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.keys.map((key) => (
                <div key={key.key}>
                  <dt><kbd>{NAMES[key.key] ?? key.key}</kbd></dt>
                  <dd>{key.does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="quiet">Back and forward of the browser undo and redo every step; the address is a link to what is shown.</p>
      <form method="dialog"><button type="submit" autofocus>Close</button></form>
    </dialog>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', ' ': 'Space', Escape: 'Esc',
};

// Everything of the view that can be saved, in one sheet: pictures as PNG and SVG, tables and the
// numbers behind pictures as CSV.

import type { Signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { place } from '../selection/current';
import { fileName, saveAs } from './file';
import { pictureOf, pngOf } from './picture';
import { csv, SHEET, sheetOf, sheetOfTable, type Sheet } from './sheet';

/** A picture or table of the view. */
interface Savable {
  readonly title: string;
  readonly element: HTMLElement;
  readonly sheet: () => Sheet | undefined;
}

/** Tables, and lists of parameters, but no legend. */
const TABLES = 'table:not(.u-legend), dl.parameters';

/** What the view shows that can be saved, from above. */
function savables(view: Element): Savable[] {
  const found: Savable[] = [];
  for (const part of view.querySelectorAll<HTMLElement>(`[${SHEET}], ${TABLES}`)) {
    if (!part.checkVisibility() || part.matches(`[${SHEET}] *`)) continue;
    const panel = part.closest<HTMLElement>('.panel, figure') ?? part;
    if (part.matches(TABLES)) found.push({ title: tableTitle(part, panel), element: part, sheet: () => sheetOfTable(part) });
    else found.push({ title: panelTitle(panel), element: panel, sheet: () => sheetOf(part) });
  }
  const titles = found.map(({ title }) => title);
  // Of one name there may be several: they are told apart by their order.
  return found.map((each, index) => {
    const before = titles.slice(0, index).filter((title) => title === each.title).length;
    return before === 0 ? each : { ...each, title: `${each.title} ${before + 1}` };
  });
}

function panelTitle(panel: HTMLElement): string {
  return panel.getAttribute('aria-label') ?? panel.querySelector('figcaption strong, h2')?.textContent ?? 'Picture';
}

function tableTitle(table: HTMLElement, panel: HTMLElement): string {
  const caption = table.querySelector('caption');
  // What is quiet in a caption explains it.
  const words = [...(caption?.childNodes ?? [])].filter((node) => !(node instanceof Element) || !node.matches('.quiet')).map((node) => node.textContent).join('').trim();
  if (words !== '') return words;
  // A list of parameters stands below its heading.
  const above = table.previousElementSibling;
  return above?.matches('h2, h3') === true ? above.textContent : panelTitle(panel);
}

/** The sheet with all that can be saved. */
export function SaveMenu({ open, view }: { open: Signal<boolean>; view: () => Element | null }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [found, setFound] = useState<readonly Savable[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    if (!open.value) return;
    const shown = view();
    setFound(shown === null ? [] : savables(shown));
    setProblem('');
    dialog.current?.showModal();
  }, [open.value]);
  const save = (what: Savable, ending: 'png' | 'svg' | 'csv') => {
    setProblem('');
    saved(what, ending).catch((error: unknown) => { setProblem(error instanceof Error ? error.message : String(error)); });
  };
  return (
    <dialog ref={dialog} class="sheet" aria-labelledby="save-title" onClose={() => (open.value = false)}>
      <h2 id="save-title">Save</h2>
      {found.length === 0 ? <p>This view shows no picture and no table yet.</p> : (
        <ul class="savables">
          {found.map((each) => (
            <li key={each.title}>
              <span>{each.title}</span>
              {(['png', 'svg', 'csv'] as const).map((ending) => (
                <button key={ending} type="button" aria-label={`${each.title} as ${ending.toUpperCase()}`} onClick={() => save(each, ending)}>{ending.toUpperCase()}</button>
              ))}
            </li>
          ))}
        </ul>
      )}
      {problem !== '' && <p class="notice problem" role="alert">{problem}</p>}
      <p class="quiet">PNG and SVG are pictures of what is shown; CSV has the exact numbers.</p>
      <form method="dialog"><button type="submit" autofocus>Close</button></form>
    </dialog>
  );
}

async function saved({ title, element, sheet }: Savable, ending: 'png' | 'svg' | 'csv'): Promise<void> {
  const { view, selection: { from_ns, until_ns } } = place();
  const name = fileName(view, title, { from_ns, until_ns, saved_ns: Date.now() * 1e6 }, ending);
  if (ending === 'csv') {
    const numbers = sheet();
    if (numbers === undefined) throw new Error('its numbers are not there yet');
    saveAs(new Blob([csv(numbers)], { type: 'text/csv;charset=utf-8' }), name);
    return;
  }
  const picture = pictureOf(element, `${title} – Chronoscope`);
  saveAs(ending === 'svg' ? new Blob([picture.text], { type: 'image/svg+xml' }) : await pngOf(picture), name);
}

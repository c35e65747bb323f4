// The menu of a target.

import { useEffect, useRef } from 'preact/hooks';
import type { Position } from './position';
import { clearedWords, nameOf, type Target } from './target';

/** One line of the menu, and what it does. */
interface Item {
  readonly words: string;
  readonly run: (target: Target) => void;
}

function itemsOf(position: Position, target: Target): readonly Item[] {
  const { cursor, rbl, view } = position;
  return [
    { words: 'in the middle of the picture', run: ({ track }) => position.choose({ centre: track.at }) },
    { words: 'closer: 60 NM around it', run: ({ track }) => position.choose({ centre: track.at, height: 60 }) },
    { words: 'range-bearing line from here', run: ({ track }) => {
      rbl.value = { from: track.at, to: track.at, open: true };
      cursor.value = position.pointOf(track.at);
    } },
    ...(target.pinned === undefined ? [] : [{ words: 'label: placed automatically', run: (one: Target) => position.pin(one, undefined) }]),
    ...(target.track.level === null ? [] : [{ words: 'only levels around its own (± 20)', run: ({ track }: Target) => {
      const level = Math.round(track.level ?? 0);
      position.choose({ low: Math.max(0, level - 20), high: level + 20 });
    } }]),
    { words: view.value.low > 0 || view.value.high < 999 ? 'all levels' : 'no selection', run: () => {
      if (view.value.low > 0 || view.value.high < 999) position.choose({ low: 0, high: 999 });
      else position.select(null);
    } },
  ];
}

/** The menu, where it was asked for. Arrow keys move, Enter chooses, Escape closes. */
export function Menu({ position }: { readonly position: Position }) {
  const menu = position.menu.value;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('button')?.focus();
  }, [menu]);
  const target = menu === undefined ? undefined : position.targets.get(menu.track);
  if (menu === undefined || target === undefined) return null;
  const close = () => {
    position.menu.value = undefined;
    document.querySelector('canvas')?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    event.stopPropagation();
    if (event.key === 'Escape') close();
    if (step === undefined) return;
    event.preventDefault();
    const all = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = all.findIndex((one) => one === document.activeElement);
    all[(at + step + all.length) % all.length]?.focus();
  };
  const { width, height } = position.camera;
  const place = { left: `${Math.min(menu.at.x + 8, width - 240)}px`, top: `${Math.min(menu.at.y + 42, height - 160)}px` };
  return (
    <div class="menu" role="menu" aria-label={`Menu of ${nameOf(target.track)}`} ref={list} style={place} onKeyDown={move}>
      <b role="presentation">{[nameOf(target.track), clearedWords(target.track)].filter((part) => part !== '').join(' · ')}</b>
      {itemsOf(position, target).map(({ words, run }) => (
        <button key={words} type="button" role="menuitem" onClick={() => {
          run(target);
          close();
        }}>{words}</button>
      ))}
    </div>
  );
}

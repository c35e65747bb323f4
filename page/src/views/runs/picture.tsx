import { useMemo, useRef, useState } from 'preact/hooks';
import type { Flame } from '../../api/types';
import { formatCount, formatShare } from '../../draw/format';
import { useSize } from '../../draw/size';
import { useSheet } from '../../save/sheet';
import { go, place } from '../../selection/current';
import { Link } from '../../shell/link';
import { beside, boxesOf, changesOf, found, functionOf, nameOf, OBJECT_COLOURS, objectsOf, pathTo, type Box } from './flame';
import { changeOf, functionParams } from './words';

const ROW = 20;
/** Narrower frames are not drawn, CSS pixels. */
const LEAST = 0.8;
/** Width of a letter of a frame's name, CSS pixels. */
const LETTER = 7.2;

/** The flame graph: a click zooms, arrows walk, what is found is marked. */
export function FlamePicture({ flame }: { flame: Flame }) {
  const { ref: size, width } = useSize<HTMLDivElement>();
  const sheet = useRef<HTMLElement>(null);
  const [hovered, setHovered] = useState<number>();
  const { own } = place();
  const zoom = zoomOf(flame, own['zoom']);
  const boxes = useMemo(() => boxesOf(flame, zoom, width === 0 ? 1 : LEAST / width), [flame, zoom, width]);
  const hits = useMemo(() => found(flame, own['find'] ?? ''), [flame, own['find']]);
  const fill = useMemo(() => colours(flame), [flame]);
  useSheet(sheet, () => ({
    columns: ['Path', 'Function', 'Inclusive', 'Own', 'Left out'],
    rows: flame.frames.map((frame, index) => [
      pathTo(flame, index).slice(1).map((at) => nameOf(flame, at)).join(';'), nameOf(flame, index), frame.inclusive, frame.own, frame.left_out,
    ]),
  }));
  const rows = boxes.reduce((most, { row }) => Math.max(most, row + 1), 1);
  const zoomTo = (frame: number) => go({ own: { zoom: frame === 0 ? undefined : String(frame) } });
  const walk = (event: KeyboardEvent) => {
    if (event.key === 'Escape' || event.key === 'Home') zoomTo(0);
    else if (event.key.startsWith('Arrow')) go({ own: { zoom: String(beside(flame, zoom, event.key)) } }, true);
    else return;
    event.preventDefault();
  };
  return (
    <figure class="panel" aria-label="Flame graph" ref={sheet}>
      <div class="flame" ref={size} tabIndex={0} role="group" aria-label="Frames: arrows go to callers, callees and beside; Escape shows all" onKeyDown={walk}>
        <svg width={width} height={rows * ROW} role="img" aria-label={`${flame.event} by paths of calls: ${said(flame, zoom)}`} onPointerLeave={() => setHovered(undefined)}>
          {width > 0 && boxes.map((box) => (
            <FrameBox key={box.frame} flame={flame} box={box} width={width} fill={fill(box.frame)}
              class={box.frame === zoom && zoom !== 0 ? 'zoomed' : hits.frames.has(box.frame) ? 'hit' : hits.frames.size > 0 ? 'miss' : undefined}
              onHover={() => setHovered(box.frame)} onPick={() => zoomTo(box.frame)} />
          ))}
        </svg>
      </div>
      <Said flame={flame} frame={hovered ?? zoom} />
      <Legend flame={flame} />
    </figure>
  );
}

/** The frame that the address zooms to; the root where it names none. */
export function zoomOf(flame: Flame, text: string | undefined): number {
  const index = Number(text ?? 0);
  return Number.isInteger(index) && flame.frames[index] !== undefined ? index : 0;
}

function said(flame: Flame, index: number): string {
  const frame = flame.frames[index];
  if (frame === undefined) return '';
  const change = frame.inclusive_before === null ? '' : `, ${changeOf(frame.inclusive, frame.inclusive_before)} since the run before`;
  return `${nameOf(flame, index)} ${formatCount(frame.inclusive)} (${formatShare(flame.total > 0 ? frame.inclusive / flame.total : 0)}), own ${formatCount(frame.own)}${change}`;
}

interface FrameBoxProps {
  readonly flame: Flame;
  readonly box: Box;
  readonly width: number;
  readonly fill: string;
  readonly class: string | undefined;
  readonly onHover: () => void;
  readonly onPick: () => void;
}

function FrameBox({ flame, box, width, fill, class: kind, onHover, onPick }: FrameBoxProps) {
  const [x, wide, y] = [box.x * width, box.width * width, box.row * ROW];
  const letters = Math.floor((wide - 6) / LETTER);
  const name = nameOf(flame, box.frame);
  const shown = name.length <= letters ? name : letters >= 4 ? `${name.slice(0, letters - 1)}…` : '';
  return (
    <g class={kind} data-frame={box.frame} onPointerEnter={onHover} onClick={onPick}>
      <title>{said(flame, box.frame)}</title>
      <rect x={x} y={y} width={Math.max(wide - 0.6, 0.4)} height={ROW - 1} style={{ fill }} />
      {shown !== '' && <text x={x + 3} y={y + ROW * 0.68}>{shown}</text>}
    </g>
  );
}

/** Exact figures of a frame and its function, with the way to its callers and callees. */
function Said({ flame, frame }: { flame: Flame; frame: number }) {
  const of = functionOf(flame, frame);
  return (
    <p class="flame-said">
      <code>{nameOf(flame, frame)}</code>{' '}
      {of !== undefined && <span class="quiet">{[of.file, of.object].filter((part) => part !== '' && part !== '???').join(', ')}</span>}{' '}
      <span>{said(flame, frame).slice(nameOf(flame, frame).length)}</span>
      {of !== undefined && <>{' '}<span class="quiet">on this path; on all {formatCount(of.inclusive)}{of.in_cycle ? ' at least (in a cycle)' : ''}, own {formatCount(of.own)}</span>{' '}<Link to={{ own: functionParams(of) }}>callers and callees</Link></>}
    </p>
  );
}

/** The colour of each frame: by program or library; beside a run before, by change. */
function colours(flame: Flame): (frame: number) => string {
  if (flame.total_before !== null) {
    const changes = changesOf(flame);
    return (frame) => {
      const change = changes[frame] ?? 0;
      // The root: small changes are still seen.
      const much = Math.round(Math.sqrt(Math.abs(change)) * 55);
      return `color-mix(in srgb, var(${change > 0 ? '--bad' : '--good'}) ${much}%, var(--raised))`;
    };
  }
  const objects = objectsOf(flame);
  return (frame) => {
    const object = functionOf(flame, frame)?.object;
    return object === undefined ? 'var(--raised)' : objectColour(objects.indexOf(object));
  };
}

function objectColour(index: number): string {
  const variable = index >= 0 && index < OBJECT_COLOURS ? `--path-${index}` : '--path-other';
  return `color-mix(in srgb, var(${variable}) 32%, var(--panel))`;
}

function Legend({ flame }: { flame: Flame }) {
  if (flame.total_before !== null) {
    return <p class="quiet">Width: cost now, or before where nothing is left. Red: the function itself costs more on this path than in the run before; green: less.</p>;
  }
  const objects = objectsOf(flame);
  return (
    <p class="flame-legend quiet">
      {objects.slice(0, OBJECT_COLOURS).map((object, index) => <span key={object}><i style={{ background: objectColour(index) }} aria-hidden="true" />{object === '' ? 'programs' : object}</span>)}
      {objects.length > OBJECT_COLOURS && <span><i style={{ background: objectColour(-1) }} aria-hidden="true" />others</span>}
    </p>
  );
}

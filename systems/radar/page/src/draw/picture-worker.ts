// The worker that draws the targets on the map.

import type { FromMap, FromPicture, ToPicture } from './messages';
import { Picture } from './picture';

let picture: Picture | undefined;

const say = (message: FromPicture) => {
  self.postMessage(message, { transfer: message.kind === 'report' ? [message.report.shown.buffer] : [] });
};

self.addEventListener('message', ({ data }: MessageEvent<ToPicture>) => {
  try {
    if (data.kind !== 'begin') {
      picture?.hear(data);
      return;
    }
    const { map } = data;
    const begun = new Picture(data.canvas, say, (order) => map.postMessage(order), data.origin);
    map.onmessage = (event: MessageEvent<FromMap>) => begun.hearMap(event.data);
    picture = begun;
  } catch (error) {
    say({ kind: 'broken', why: error instanceof Error ? error.message : String(error) });
  }
});

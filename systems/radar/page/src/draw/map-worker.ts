// The worker that draws the map, so that neither the page nor the targets wait for it.

import { Projection } from '../geometry';
import { GroundMap, type Chart } from '../map';
import { fetchTopology, type Topology } from '../world';
import type { FromMap, MapTrouble, SheetOrder, ToMap } from './messages';

/** The map in the plane of an order. */
class MapMaker {
  private topology: Topology | undefined;
  private ground: { readonly map: GroundMap; readonly lat: number; readonly lon: number } | undefined;
  private readonly canvas = new OffscreenCanvas(1, 1);

  constructor(private readonly chart: Chart, private readonly picture: MessagePort) {
    picture.onmessage = ({ data }: MessageEvent<SheetOrder>) => this.draw(data);
    if (chart.land.length > 0) return;
    // The map is drawn without it meanwhile.
    fetchTopology().then((topology) => {
      this.topology = topology;
      this.ground = undefined;
      this.say({ kind: 'more' });
    }, (error: unknown) => {
      const broken = `coasts and borders cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
      self.postMessage({ broken } satisfies MapTrouble);
    });
  }

  private say(message: FromMap, transfer: Transferable[] = []): void {
    this.picture.postMessage(message, transfer);
  }

  private groundOf({ lat, lon }: SheetOrder['origin']): GroundMap {
    if (this.ground?.lat !== lat || this.ground.lon !== lon) {
      this.ground = { map: new GroundMap(this.chart, this.topology, new Projection({ lat, lon })), lat, lon };
    }
    return this.ground.map;
  }

  private draw(order: SheetOrder): void {
    const begin = performance.now();
    const { corner, metresPerPixel, width, height, ratio, off } = order;
    const [columns, rows] = [Math.round(width * ratio), Math.round(height * ratio)];
    // The size is set in any case: this clears it and its state.
    [this.canvas.width, this.canvas.height] = [columns, rows];
    // It is read at once: a GPU would have to give it back.
    const context = this.canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) throw new Error('this browser has no 2D canvas in a worker');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const centre = { x: (corner.x + width / 2) * metresPerPixel, y: -(corner.y + height / 2) * metresPerPixel };
    const names = this.groundOf(order.origin).draw(context, { centre, metresPerPixel, width, height }, off)
      .map(({ x0, y0, x1, y1 }) => ({ x0: x0 + corner.x, y0: y0 + corner.y, x1: x1 + corner.x, y1: y1 + corner.y }));
    const pixels = context.getImageData(0, 0, columns, rows).data.buffer;
    this.say({ kind: 'sheet', order, width: columns, height: rows, pixels, names, ms: performance.now() - begin }, [pixels]);
  }
}

self.addEventListener('message', ({ data }: MessageEvent<ToMap>) => {
  new MapMaker(data.chart, data.picture);
}, { once: true });

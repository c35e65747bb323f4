// What a browser does alone with a canvas of some size, without anybody who draws: how many frames a second
// it shows when a worker hands it an array of pixels in each of them, and when a page moves a canvas
// that is finished. No page that draws in such a canvas is faster.

/** In the page: does it for some time; returns frames and ms. `what`: hand or move. */
async function run({ what, width, height, ms }) {
  document.body.style.cssText = 'margin: 0; overflow: hidden; background: #000';
  const canvas = document.body.appendChild(document.createElement('canvas'));
  [canvas.width, canvas.height] = [width, height];
  const handOn = (context, picture) => {
    const image = new ImageData(context.canvas.width, context.canvas.height);
    new Uint32Array(image.data.buffer).forEach((_, at, all) => { all[at] = 0xff000000 + (Math.imul(at + picture, 2_654_435_761) >>> 8); });
    return image;
  };
  if (what === 'move') {
    const context = canvas.getContext('2d', { alpha: false });
    context.putImageData(handOn(context, 0), 0, 0);
    const begin = performance.now();
    let frames = 0;
    await new Promise((resolve) => {
      const next = () => {
        canvas.style.transform = `translate(${(++frames % 50) - 25}px, 0)`;
        if (performance.now() - begin < ms) requestAnimationFrame(next);
        else resolve();
      };
      requestAnimationFrame(next);
    });
    return { frames, elapsed: performance.now() - begin };
  }
  const code = `onmessage = ({ data: { canvas, ms } }) => {
    const context = canvas.getContext('2d', { alpha: false });
    const pictures = [0, 1].map((picture) => (${handOn})(context, picture));
    const begin = performance.now();
    let frames = 0;
    const next = () => {
      context.putImageData(pictures[++frames % 2], 0, 0);
      if (performance.now() - begin < ms) requestAnimationFrame(next);
      else postMessage({ frames, elapsed: performance.now() - begin });
    };
    requestAnimationFrame(next);
  };`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  const offscreen = canvas.transferControlToOffscreen();
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage({ canvas: offscreen, ms }, [offscreen]);
  });
}

/** Measures it in a page of its own. `time`: of the browser's processes; `origin`: where a page may be that nobody
 * serves. Returns frames a second, and processor time of a frame, ms, by group. */
export async function alone(browser, time, { what, width, height, ms, origin }, byGroup) {
  const page = await browser.newPage({ viewport: { width, height } });
  try {
    await page.route('**/alone', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><body>' }));
    await page.goto(new URL('alone', origin).href);
    const before = time.threads();
    const { frames, elapsed } = await page.evaluate(run, { what, width, height, ms });
    const cost = byGroup(before, time.threads());
    return { rate: (frames * 1000) / elapsed, cost: Object.fromEntries(Object.entries(cost).map(([group, sum]) => [group, sum / frames])) };
  } finally {
    await page.close();
  }
}

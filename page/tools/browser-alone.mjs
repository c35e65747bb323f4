// What a browser does alone with a canvas of some size, without anybody who draws: how many frames a second it
// shows when a page asks its worker in each of them to hand on an array of pixels, which is what a page has to do
// for a picture that is moved; and when the page only moves a canvas that is finished.

/** In the page: does it for some time; returns frames and ms. `what`: hand or move. */
async function run({ what, width, height, ms }) {
  document.body.style.cssText = 'margin: 0; overflow: hidden; background: #000';
  const canvas = document.body.appendChild(document.createElement('canvas'));
  [canvas.width, canvas.height] = [width, height];
  const pictureOf = (context, picture) => {
    const image = new ImageData(context.canvas.width, context.canvas.height);
    new Uint32Array(image.data.buffer).forEach((_, at, all) => { all[at] = 0xff000000 + (Math.imul(at + picture, 2_654_435_761) >>> 8); });
    return image;
  };
  /** Does `step` in each animation frame of the page for that time. */
  const frames = (step) => new Promise((resolve) => {
    const begin = performance.now();
    let count = 0;
    const next = () => {
      step(++count);
      const elapsed = performance.now() - begin;
      if (elapsed < ms) requestAnimationFrame(next);
      else resolve({ frames: count, elapsed });
    };
    requestAnimationFrame(next);
  });
  if (what === 'move') {
    const context = canvas.getContext('2d', { alpha: false });
    context.putImageData(pictureOf(context, 0), 0, 0);
    return frames((count) => { canvas.style.transform = `translate(${(count % 50) - 25}px, 0)`; });
  }
  const code = `let context, pictures, frames = 0, isDue = false;
  onmessage = ({ data }) => {
    if (data === 'end') {
      postMessage(frames);
    } else if (data === 'next') {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        context.putImageData(pictures[++frames % 2], 0, 0);
      });
    } else {
      context = data.getContext('2d', { alpha: false });
      pictures = [0, 1].map((picture) => (${pictureOf})(context, picture));
    }
  };`;
  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  const offscreen = canvas.transferControlToOffscreen();
  worker.postMessage(offscreen, [offscreen]);
  const asked = await frames(() => worker.postMessage('next'));
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve({ ...asked, frames: data });
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage('end');
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

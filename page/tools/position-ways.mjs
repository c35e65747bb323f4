// position-ways.mjs: what drawing 3000 targets on 1280 × 740 pixels takes by each way that a browser has, in a
// worker of headless Chromium, with and without the machine's GPU: the 2D canvas with paths and words, the
// same with pictures of labels and symbols, WebGL2 with instances of such pictures, and an array of
// pixels, which is what the working position does (systems/radar/page/src/draw/pixels.ts). Each has labels of three
// lines, a symbol, a leader line, a vector and six dots for every target, above a map that is copied.
// Prints the least and the middle of 30 frames, each read back, so that it has been drawn.
import { createServer } from 'node:http';
import { availableParallelism, loadavg } from 'node:os';
import { chromium } from 'playwright-core';
import { build } from 'vite';

const entry = new URL('position-ways-worker.js', import.meta.url).pathname;
const built = await build({ configFile: false, logLevel: 'warn', build: { write: false, minify: false, lib: { entry, formats: ['es'], fileName: 'worker' } } });
const { code } = built.flatMap(({ output }) => output).find(({ type }) => type === 'chunk');
const server = createServer((request, response) => {
  const isWorker = request.url === '/worker.js';
  response.setHeader('content-type', isWorker ? 'text/javascript' : 'text/html');
  response.end(isWorker ? code : '<!doctype html>');
});
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
try {
  for (const [name, args] of [['GPU switched off', ['--disable-gpu']], ['GPU allowed', []]]) {
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...args],
    });
    try {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      const { renderer, ways } = await page.evaluate(() => new Promise((resolve, reject) => {
        const worker = new Worker('/worker.js', { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      }));
      console.log(`${name}, WebGL by ${renderer}; Chromium ${browser.version()}, load ${loadavg()[0].toFixed(1)} on ${availableParallelism()} processors`);
      console.log(`${''.padEnd(44)} ${'least'.padStart(10)} ${'middle'.padStart(10)}`);
      for (const { way, least, middle } of ways) console.log(`${way.padEnd(44)} ${least.toFixed(1).padStart(7)} ms ${middle.toFixed(1).padStart(7)} ms`);
    } finally {
      await browser.close();
    }
  }
} finally {
  server.close();
}

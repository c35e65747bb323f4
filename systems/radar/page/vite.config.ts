import { defineConfig } from 'vitest/config';

// The working position's page: for the program radar-display. `npm run dev:cwp` in page/ talks
// to a real one (`radar-display --listen 127.0.0.1:4600`).
const display = process.env['RADAR_DISPLAY'] ?? 'http://127.0.0.1:4600';

export default defineConfig({
  base: './',
  build: { target: 'es2022', cssCodeSplit: false, modulePreload: false, assetsInlineLimit: 0 },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // A machine that compiles beside it is slow; no test is about time.
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000 },
  server: { host: '127.0.0.1', proxy: { '/map.json': display, '/socket': { target: display, ws: true } } },
});

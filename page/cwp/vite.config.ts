import { defineConfig } from 'vite';

// The working position's page: its own entry, for the program radar-display. `npm run dev:cwp` talks
// to a real one (`radar-display --listen 127.0.0.1:4600`).
const display = process.env['RADAR_DISPLAY'] ?? 'http://127.0.0.1:4600';

export default defineConfig({
  base: './',
  build: { target: 'es2022', cssCodeSplit: false, modulePreload: false, assetsInlineLimit: 0 },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { host: '127.0.0.1', proxy: { '/map.json': display, '/socket': { target: display, ws: true } } },
});

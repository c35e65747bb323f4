import { defineConfig } from 'vitest/config';

// `npm run dev` asks a real server (`chronoscope serve --listen 127.0.0.1:4500`) or, without one,
// the made-up answers of `npm run fixture`, which says on every view that they are made up.
const api = process.env['CHRONOSCOPE_SERVER'] ?? 'http://127.0.0.1:4500';

export default defineConfig({
  build: {
    target: 'es2022',
    // One script and one style sheet: the whole page is smaller than what splitting it would save.
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0, // the Content-Security-Policy allows no data: URL
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { host: '127.0.0.1', proxy: { '/api': api } },
  // A machine that compiles beside it is slow; no test is about time.
  test: { include: ['src/**/*.test.ts'], testTimeout: 60_000 },
});

import { defineConfig } from 'vitest/config';

// Journeys through the page in Chromium (`tools/page e2e`).
export default defineConfig({
  test: {
    include: ['e2e/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Two files at a time, each with a browser of its own: a journey mostly waits for the next answer.
    // No file changes what another sees: the server that goes on collecting is only asked.
    maxWorkers: 2,
    sequence: { concurrent: false },
    // On machines that others share a browser is now and then held up for longer than anybody waits.
    // A journey that only succeeds at the second try is said to.
    retry: process.env['CI'] === undefined ? 0 : 1,
  },
});

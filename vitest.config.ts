import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

const conditions = ['@clew/source']
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
}

/** Time-outs end what hangs and measure nothing: a machine that is fifteen times overloaded stays within them. */
const patient = { expect: { poll: { timeout: 60_000 } }, testTimeout: 600_000, hookTimeout: 300_000 }

const withServers = {
  ...patient,
  globalSetup: [
    'test/temp-in-memory.ts',
    'test/keep-compiled.ts',
    'test/build-dist.ts',
    'test/postgres/global-setup.ts',
  ],
  // One more than a small machine has processors: these tests wait for processes, servers and time-outs.
  maxWorkers: 3,
}

/** Tiers by file name: `*.test.ts` is fast and pure, `*.int.test.ts` uses databases and processes. */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Tests that run together wait for timers, not for a processor.
    maxConcurrency: 20,
    projects: [
      {
        ...shared,
        test: {
          ...patient,
          name: 'unit',
          // Files share a process, and each module is loaded once for all of them: a third less time.
          isolate: false,
          include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/*.int.test.ts', '**/node_modules/**', '**/dist/**'],
          maxWorkers: 2,
        },
      },
      {
        ...shared,
        test: {
          ...withServers,
          name: 'int',
          isolate: false,
          include: ['packages/*/src/**/*.int.test.ts', 'test/**/*.int.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**'],
        },
      },
      {
        // The runtime's own suites once more, with all that they keep in memory kept by PostgreSQL.
        ...shared,
        test: {
          ...withServers,
          name: 'postgres',
          setupFiles: ['test/postgres/worlds-over-postgres.ts'],
          // Those that lean on a store most: deaths, leases, forks, pauses, workers, states.
          include: [
            'packages/runtime/src/checkpointer/time-travel.test.ts',
            'packages/runtime/src/lifecycle/{lease-queue,request-stop,sweep}.test.ts',
            'packages/runtime/src/worker/worker.test.ts',
            'packages/runtime/src/{housekeeping/housekeeping,schedule/scheduler}.test.ts',
            'test/runtime/{changed-code,durability,function-races,function-redacted,function-resume,graph-crashes,graph-pauses}.test.ts',
            'test/runtime/random-graphs.test.ts',
            'test/replay/{accepted,features,modes,parity}.test.ts',
          ],
          env: { CLEW_RUNS: '10' },
        },
      },
      {
        // What is published, as it was built, installed outside the repository.
        ...shared,
        test: {
          ...patient,
          name: 'packed',
          globalSetup: ['test/postgres/global-setup.ts'],
          include: ['test/packed/*.packed.ts'],
        },
      },
      {
        // The built page in a real browser, on a real server.
        ...shared,
        test: {
          ...patient,
          name: 'e2e',
          globalSetup: ['test/keep-compiled.ts', 'test/build-dist.ts', 'test/e2e/unpack-browser.ts'],
          include: ['test/e2e/**/*.e2e.ts'],
          maxWorkers: 3,
        },
      },
    ],
  },
})

import { defineConfig } from 'vitest/config'

const conditions = ['@clew/source']
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions } },
}

/** Tiers by file name: `*.test.ts` is fast and pure, `*.int.test.ts` uses databases and processes. */
export default defineConfig({
  test: {
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/*.int.test.ts', '**/node_modules/**', '**/dist/**'],
          testTimeout: 30_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'int',
          include: ['packages/*/src/**/*.int.test.ts', 'test/**/*.int.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router'
import { Frame } from './frame/frame.tsx'
import { NotFound } from './frame/not-found.tsx'
import { ErrorNote } from './parts/note.tsx'
import {
  formatSearch,
  parseSearch,
  readCompareSearch,
  readMemorySearch,
  readRunSearch,
  readRunsSearch,
  readStreamSearch,
} from './url.ts'
import { RunPage } from './views/run/run-page.tsx'
import { RunsPage } from './views/runs/runs-page.tsx'

const root = createRootRoute({ component: Frame, notFoundComponent: NotFound })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    // The router takes a redirect by throwing it.
    // oxlint-disable-next-line typescript/only-throw-error
    throw redirect({ to: '/runs', replace: true })
  },
})
const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  component: RunsPage,
  validateSearch: readRunsSearch,
})
const run = createRoute({
  getParentRoute: () => root,
  path: '/runs/$runId',
  component: RunPage,
  validateSearch: readRunSearch,
})
const compare = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  component: lazyRouteComponent(() => import('./views/compare/compare-page.tsx'), 'ComparePage'),
  validateSearch: readCompareSearch,
})
const memory = createRoute({
  getParentRoute: () => root,
  path: '/memory',
  component: lazyRouteComponent(() => import('./views/memory/memory-page.tsx'), 'MemoryPage'),
  validateSearch: readMemorySearch,
})
const health = createRoute({
  getParentRoute: () => root,
  path: '/health',
  component: lazyRouteComponent(() => import('./views/health/health-page.tsx'), 'HealthPage'),
})

const streams = createRoute({
  getParentRoute: () => root,
  path: '/streams',
  component: lazyRouteComponent(() => import('./views/streams/streams-page.tsx'), 'StreamsPage'),
})
const stream = createRoute({
  getParentRoute: () => root,
  path: '/streams/$streamId',
  component: lazyRouteComponent(() => import('./views/streams/stream-page.tsx'), 'StreamPage'),
  validateSearch: readStreamSearch,
})

export const router = createRouter({
  routeTree: root.addChildren([home, runs, run, streams, stream, compare, memory, health]),
  stringifySearch: formatSearch,
  parseSearch,
  defaultPreload: false,
  // A view that breaks must not take the frame with it.
  defaultErrorComponent: ({ error, reset }) => <ErrorNote error={error} onRetry={reset} />,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

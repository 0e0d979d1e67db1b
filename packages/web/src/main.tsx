import { ClewProvider, createClient, type Highlight, HighlightProvider } from '@clew/react'
import '@clew/react/styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { applyTheme } from './frame/theme.ts'
import { queries } from './queries.ts'
import { router } from './router.tsx'
import './styles/frame.css'
import './styles/parts.css'
import './styles/runs.css'
import './styles/run-acts.css'
import './styles/run-graph.css'
import './styles/run-tabs.css'
import './styles/run-timeline.css'
// After its parts: it also says what becomes of them on narrow screens.
import './styles/run.css'
import './styles/compare.css'
import './styles/health.css'
import './styles/memory.css'
import './styles/streams.css'

applyTheme()
const RELOADED = 'clew.reloaded'
// A page that was built anew has other files: what this one wants to load next is gone, so it begins again.
// Once: what is still missing then is said where it would stand.
addEventListener('vite:preloadError', () => {
  const lastMs = Number(sessionStorage.getItem(RELOADED) ?? 0)
  if (Date.now() - lastMs < 60_000) return
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
})
const client = createClient({ token: sessionStorage.getItem('clew.token') ?? undefined })

/** Loaded with the first piece of code that is shown. */
const highlight: Highlight = async (code, language) =>
  (await import('./parts/highlight.ts')).highlightCode(code, language)

const place = document.getElementById('page')
if (!place) throw new Error('The page has no element #page. Was index.html changed?')
createRoot(place).render(
  <StrictMode>
    <ClewProvider client={client}>
      <HighlightProvider value={highlight}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </HighlightProvider>
    </ClewProvider>
  </StrictMode>,
)

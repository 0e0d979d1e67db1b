import type { Page } from 'playwright-core'

/** What a page went through since it is watched. */
export interface Watched {
  /** Rows that stood there and were taken away, also when the same text came back. */
  readonly removed: readonly string[]
  /** The fewest rows that there ever were, less those at the beginning: 0 when it never emptied. */
  readonly lost: number
  /** Every label that a row has had. */
  readonly labels: readonly string[]
}

/** From now on notes what becomes of rows: a page that flashes takes them away and puts them back. */
export const watchRows = (page: Page, rows = 'article'): Promise<void> =>
  page.evaluate(`{
    const all = () => [...document.querySelectorAll(${JSON.stringify(rows)})]
    const standing = all()
    const labels = new Set()
    const removed = new Set()
    let least = standing.length
    const look = () => {
      least = Math.min(least, all().length)
      for (const row of all()) labels.add(row.getAttribute('aria-label') ?? '')
      for (const row of standing) if (!row.isConnected) removed.add(row.textContent.slice(0, 80))
    }
    look()
    const changes = { childList: true, subtree: true, attributes: true, attributeFilter: ['aria-label'] }
    new MutationObserver(look).observe(document.body, changes)
    globalThis.watched = () =>
      ({ removed: [...removed], lost: standing.length - least, labels: [...labels] })
  }`)

export const watchedOf = (page: Page): Promise<Watched> => page.evaluate('globalThis.watched()')

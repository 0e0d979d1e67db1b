import type { ReactElement } from 'react'
import { Command } from '../../parts/command.tsx'

/** Nothing to show is the moment to say how there would be something. */
export function NoRuns({ isFiltered }: { readonly isFiltered: boolean }): ReactElement {
  if (isFiltered)
    return (
      <div className="empty">
        <h2>No run fits this filter</h2>
        <p>Take a chip away, or look farther back: `since:7d`.</p>
      </div>
    )
  return (
    <div className="empty">
      <h2>No runs yet</h2>
      <p>Three lines make the first one. It will appear here by itself.</p>
      <pre>{`const ledger = await openLedger('sqlite:./.clew/ledger.db')
const hello = agent('hello', (run, name: string) => run.step('greet', name, (n) => \`Hello \${n}\`))
await hello.start(ledger, 'Ariadne')`}</pre>
      <p>Or let the demo agent work, on this ledger:</p>
      <Command text="clew demo" />
    </div>
  )
}

import { Component, type ReactNode } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { nameOfTab, type RunTab } from '../../url.ts'

interface TabBoundaryProps {
  readonly tab: RunTab
  readonly children: ReactNode
}

/** Keeps header and tabs of a run when one tab cannot be drawn. */
export class TabBoundary extends Component<TabBoundaryProps, { readonly error: Error | null }> {
  override state: { readonly error: Error | null } = { error: null }
  static getDerivedStateFromError(error: unknown): { readonly error: Error } {
    return { error: error instanceof Error ? error : new Error('it threw no error', { cause: error }) }
  }
  override render(): ReactNode {
    const { error } = this.state
    if (error === null) return this.props.children
    return (
      <ErrorNote
        error={`${nameOfTab(this.props.tab)} could not be drawn: ${error.message}`}
        hint="The record is unharmed, and the other tabs show it."
        onRetry={() => this.setState({ error: null })}
      />
    )
  }
}

import { Activity, Brain, GitCompareArrows, type LucideIcon, ListTree, MessagesSquare } from 'lucide-react'
import type { ShortcutName } from './shortcuts.ts'

export interface NavItem {
  readonly to: '/runs' | '/streams' | '/compare' | '/memory' | '/health'
  readonly label: string
  readonly icon: LucideIcon
  readonly shortcut: ShortcutName
}

/** Navigation items, in the order in which the rail, the phone bar and the palette show them. */
export const NAV_ITEMS: readonly NavItem[] = [
  { to: '/runs', label: 'Runs', icon: ListTree, shortcut: 'goRuns' },
  { to: '/streams', label: 'Streams', icon: MessagesSquare, shortcut: 'goStreams' },
  { to: '/compare', label: 'Compare', icon: GitCompareArrows, shortcut: 'goCompare' },
  { to: '/memory', label: 'Memory', icon: Brain, shortcut: 'goMemory' },
  { to: '/health', label: 'Health', icon: Activity, shortcut: 'goHealth' },
]

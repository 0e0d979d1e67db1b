import { useEffect, useEffectEvent } from 'react'

export interface Shortcut {
  /** Keys one after the other; `mod` is ⌘ on a Mac and Ctrl elsewhere. */
  readonly keys: string
  readonly group: 'Anywhere' | 'Lists' | 'A run' | 'Timeline' | 'Streams'
  readonly about: string
}

/** Every shortcut of the page. The sheet, the palette and the listener are made from this table. */
export const SHORTCUTS = {
  palette: { keys: 'mod+k', group: 'Anywhere', about: 'Find anything' },
  filter: { keys: '/', group: 'Anywhere', about: 'Filter the list' },
  goRuns: { keys: 'g r', group: 'Anywhere', about: 'Go to runs' },
  goStreams: { keys: 'g s', group: 'Anywhere', about: 'Go to streams' },
  goCompare: { keys: 'g c', group: 'Anywhere', about: 'Go to compare' },
  goMemory: { keys: 'g m', group: 'Anywhere', about: 'Go to memory' },
  goHealth: { keys: 'g h', group: 'Anywhere', about: 'Go to health' },
  theme: { keys: 't', group: 'Anywhere', about: 'Theme: light, dark or system' },
  copyLink: { keys: 'y', group: 'Anywhere', about: 'Copy a link to this view' },
  sheet: { keys: '?', group: 'Anywhere', about: 'Show this sheet' },
  down: { keys: 'j', group: 'Lists', about: 'Next row' },
  up: { keys: 'k', group: 'Lists', about: 'Previous row' },
  open: { keys: 'Enter', group: 'Lists', about: 'Open the row' },
  select: { keys: 'x', group: 'Lists', about: 'Select the row' },
  compare: { keys: 'c', group: 'Lists', about: 'Compare two selected runs' },
  nextTab: { keys: ']', group: 'A run', about: 'Next tab' },
  previousTab: { keys: '[', group: 'A run', about: 'Previous tab' },
  earlierStep: { keys: 'ArrowLeft', group: 'A run', about: 'One step back' },
  laterStep: { keys: 'ArrowRight', group: 'A run', about: 'One step on' },
  earlier: { keys: 'shift+ArrowLeft', group: 'A run', about: 'One superstep back' },
  later: { keys: 'shift+ArrowRight', group: 'A run', about: 'One superstep on' },
  toStart: { keys: 'Home', group: 'A run', about: 'To the start of the run' },
  toEnd: { keys: 'End', group: 'A run', about: 'To the end of the run' },
  nextError: { keys: 'e', group: 'A run', about: 'Next error' },
  previousError: { keys: 'shift+E', group: 'A run', about: 'Previous error' },
  fork: { keys: 'f', group: 'A run', about: 'Fork from the chosen step' },
  replay: { keys: 'r', group: 'A run', about: 'Replay the run' },
  stop: { keys: 's', group: 'A run', about: 'Stop the run' },
  compareRun: { keys: 'c', group: 'A run', about: 'Compare it with another run' },
  unselect: { keys: 'Escape', group: 'A run', about: 'Clear the selection' },
  fit: { keys: '0', group: 'Timeline', about: 'Fit all of the run' },
  zoomIn: { keys: '+', group: 'Timeline', about: 'Closer' },
  zoomOut: { keys: '-', group: 'Timeline', about: 'Farther' },
  fold: { keys: 'z', group: 'Timeline', about: 'Fold or unfold the chosen step' },
  write: { keys: 'i', group: 'Streams', about: 'Write a message' },
  messageMenu: { keys: 'm', group: 'Streams', about: 'Actions for the chosen message' },
  reply: { keys: 'r', group: 'Streams', about: 'Reply to it in a thread' },
  closeThread: { keys: 'Escape', group: 'Streams', about: 'Close the thread' },
} as const satisfies Readonly<Record<string, Shortcut>>

export type ShortcutName = keyof typeof SHORTCUTS

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)

const SHOWN: Readonly<Record<string, string>> = {
  mod: isMac ? '⌘' : 'Ctrl',
  shift: '⇧',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
}

/** Keys as they are printed on a keyboard. */
export const keysOf = (name: ShortcutName): string[] =>
  (SHORTCUTS[name].keys.match(/\w+|[^\s\w+]|\+$/g) ?? []).map(
    (key) => SHOWN[key] ?? (key.length === 1 ? key.toUpperCase() : key),
  )

type Doing = (event: KeyboardEvent) => void
/** The newest listener of a shortcut gets it: a dialog before the view below it. */
const listeners = new Map<ShortcutName, Doing[]>()

export function useShortcut(name: ShortcutName, doing: Doing, enabled = true): void {
  const told = useEffectEvent(doing)
  useEffect(() => {
    if (!enabled) return undefined
    const listener: Doing = (event) => told(event)
    listeners.set(name, [...(listeners.get(name) ?? []), listener])
    return () => {
      listeners.set(
        name,
        (listeners.get(name) ?? []).filter((each) => each !== listener),
      )
    }
  }, [name, enabled])
}

export function tellShortcut(name: ShortcutName): void {
  listeners.get(name)?.at(-1)?.(new KeyboardEvent('keydown'))
}

export const isHeard = (name: ShortcutName): boolean => (listeners.get(name)?.length ?? 0) > 0

const SEQUENCE_MS = 900
let begun = { key: '', atMs: 0 }

function chordOf(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? 'mod+' : ''
  const isSign = event.key.length === 1 && !/[a-z]/i.test(event.key)
  const shift = event.shiftKey && !isSign ? 'shift+' : ''
  return `${mod}${shift}${event.key}`
}

/** Typing is not commanding: inside fields only chords with ⌘ or Ctrl count. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  )
}

/** Enter and arrows belong to what has the focus, if that does something with them. */
const isTaken = (key: string, target: EventTarget | null): boolean =>
  key === 'Enter' && target instanceof HTMLElement && target.closest('button, a, summary') !== null

export function listenToKeys(): () => void {
  function onKeyDown(event: KeyboardEvent): void {
    const chord = chordOf(event)
    const hasMod = chord.startsWith('mod+')
    if (event.defaultPrevented || event.altKey || event.isComposing) return
    if (!hasMod && (isTyping(event.target) || isTaken(event.key, event.target))) return
    // A dialog keeps keys to itself.
    if (!hasMod && document.querySelector('dialog[open]')) return
    const sequence = performance.now() - begun.atMs < SEQUENCE_MS ? `${begun.key} ${chord}` : ''
    begun = { key: chord, atMs: performance.now() }
    for (const wanted of [sequence, chord])
      for (const [name, { keys }] of Object.entries(SHORTCUTS)) {
        const listener = keys === wanted ? listeners.get(name as ShortcutName)?.at(-1) : undefined
        if (!listener) continue
        event.preventDefault()
        begun.key = ''
        listener(event)
        return
      }
  }
  addEventListener('keydown', onKeyDown)
  return () => removeEventListener('keydown', onKeyDown)
}

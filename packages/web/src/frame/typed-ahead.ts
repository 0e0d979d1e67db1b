/** Letters that are typed while a field is still on its way: they belong to it, not to the page below. */
export interface TypedAhead {
  /** Returns the text typed so far and stops gathering. */
  take(): string
  stop(): void
}

export function gatherTyped(): TypedAhead {
  let typed = ''
  function onKeyDown(event: KeyboardEvent): void {
    if (event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return
    if (event.key.length !== 1) return
    typed += event.key
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const stop = (): void => removeEventListener('keydown', onKeyDown, { capture: true })
  addEventListener('keydown', onKeyDown, { capture: true })
  return {
    take() {
      stop()
      const all = typed
      typed = ''
      return all
    },
    stop,
  }
}

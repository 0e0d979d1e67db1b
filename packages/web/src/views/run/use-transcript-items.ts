import { type RunView, type TranscriptItem, transcriptItemsInSlices, transcriptItems } from '@clew/react'
import { useEffect, useMemo, useRef, useState } from 'react'

type Story = Pick<RunView, 'entries' | 'steps' | 'isBrief'>

/** Number of entries that are converted while rendering; more are converted in slices. */
const AT_ONCE = 2000
/** How long a piece may take. */
const PIECE_MS = 8
/** How many times as long it rests after all pieces of a story. */
const REST = 4

/** Transcript items of a run. Those of a very long run lag behind the read events by a moment. */
export function useStory({ entries, steps, isBrief }: Story, isShown: boolean): readonly TranscriptItem[] {
  const isShort = entries.length + steps.length <= AT_ONCE
  const short = useMemo(
    () => (isShown && isShort ? transcriptItems(entries, steps, isBrief) : null),
    [entries, steps, isBrief, isShort, isShown],
  )
  const [long, setLong] = useState<readonly TranscriptItem[] | null>(null)
  const [teller] = useState(() => createItemBuilder(setLong))
  useEffect(() => {
    if (isShown && !isShort) teller.tell({ entries, steps, isBrief })
  }, [teller, entries, steps, isBrief, isShort, isShown])
  useEffect(() => () => teller.stop(), [teller])
  const last = useRef<readonly TranscriptItem[]>([])
  // The last items stay until there are more.
  last.current = short ?? (isShort ? last.current : (long ?? last.current))
  return last.current
}

interface ItemBuilder {
  tell(story: Story): void
  stop(): void
}

/** Tells the newest story that it was given, as soon as it is done with the one before. */
function createItemBuilder(show: (rows: readonly TranscriptItem[]) => void): ItemBuilder {
  let next: Story | null = null
  let last: Story | null = null
  let isTelling = false

  async function run(): Promise<void> {
    isTelling = true
    for (let story = next; story !== null; story = next) {
      next = null
      const slices = transcriptItemsInSlices(story.entries, story.steps, story.isBrief)
      let piece = slices.next()
      let workMs = 0
      for (let beganMs = performance.now(); piece.done !== true; piece = slices.next()) {
        const tookMs = performance.now() - beganMs
        if (tookMs < PIECE_MS) continue
        workMs += tookMs
        await wait(0)
        beganMs = performance.now()
      }
      show(piece.value)
      // A long live run is converted repeatedly: most of the time is left to the rest of the page.
      await wait(workMs * REST)
    }
    isTelling = false
  }

  return {
    tell(story) {
      if (last?.entries === story.entries && last.steps === story.steps && last.isBrief === story.isBrief)
        return
      last = story
      next = story
      if (!isTelling) void run()
    },
    stop() {
      next = null
    },
  }
}

/** Lets whatever waits for the page go first: a key, a scroll, a frame. */
function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}

import { agent, type Agent, type Run } from '@clew/runtime'
import type { Said, Talk } from './talks/talk.ts'

export type { Said, Talk } from './talks/talk.ts'
export type Library = 'openai' | 'anthropic' | 'ai'

type Code = (run: Run, talk: Talk) => Promise<Said>

/** One at a time: they are large, and a process needs only one of them. */
const LOAD: Readonly<Record<Library, () => Promise<Code>>> = {
  openai: async () => (await import('./talks/openai.ts')).talkByOpenai,
  anthropic: async () => (await import('./talks/anthropic.ts')).talkByAnthropic,
  ai: async () => (await import('./talks/ai.ts')).talkByAi,
}

/** The same talk with each library, as it is installed; it asks before it ends when `isAsking`. */
export async function loadTalk(library: Library, isAsking = false): Promise<Agent<Talk, Said>> {
  const code = await LOAD[library]()
  return agent(
    `talk-${library}`,
    async (run, talk: Talk) => {
      const said = await code(run, talk)
      if (isAsking) await run.interrupt('go on?')
      return said
    },
    { recordFetch: true },
  )
}

import { expect, it } from 'vitest'
import { completionScript } from './completion-script.ts'
import type { Operation } from './operations/operation.ts'
import { operations } from './operations.ts'

it.each(['bash', 'zsh', 'fish'] as const)('A1 the completion of %s has every command and option', (shell) => {
  const script = completionScript(shell)
  for (const { name, cli } of operations as readonly Operation[]) {
    for (const word of cli.words ?? [name]) expect(script).toContain(word)
    const options = [...Object.values(cli.options ?? {}), ...Object.keys(cli.flags ?? {})]
    for (const spelling of options) {
      const long = /--([a-z][\w-]*)/.exec(spelling ?? '')?.[1] ?? ''
      expect(script).toContain(shell === 'fish' ? `-l ${long}` : `--${long}`)
    }
  }
  expect(script).toContain('pending running paused')
  expect(script).toContain('openai-chat')
})

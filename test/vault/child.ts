import { writeSync } from 'node:fs'
import { openLedger } from 'clew'
import { envAgent, envGraph, fetchAgent, type World } from './agents.ts'
import { optionsOf } from './options.ts'

/** A process that begins a run and stands still in the middle of it: `node child.ts KIND STORE VAULT ENV_FILE URL`. */
const [, , kind = '', store = '', vault = '', envFile = '', url = ''] = process.argv
const ledger = await openLedger(store, optionsOf(vault))
const world: World = {
  envFile,
  url,
  saw: () => {},
  hold: () => {
    writeSync(1, '"holding"\n')
    return new Promise(() => setInterval(() => {}, 1000))
  },
}
const kinds: Readonly<Record<string, () => Promise<unknown>>> = {
  function: () => envAgent(world).start(ledger, null, { runId: 'r' }),
  graph: () => envGraph(world, ledger).invoke({}, { runId: 'r' }),
  fetch: () => fetchAgent(world).start(ledger, null, { runId: 'r' }),
}
await kinds[kind]?.()

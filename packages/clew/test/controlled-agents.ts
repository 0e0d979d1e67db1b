import { pathToFileURL } from 'node:url'
import { resolve } from 'node:path'

const CLEW = pathToFileURL(resolve(import.meta.dirname, '../dist/index.js')).href

/** A module of agents, as a user has one; \`calls.txt\` beside it tells what was done outside. */
export const AGENTS = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { agent, append, END, interrupt, last, START, StateGraph } from '${CLEW}'

const trip = agent('trip', async (run, input: { to: string }) => {
  const flights = await run.effect('search', input, () => {
    appendFileSync('calls.txt', 'search ' + run.runId + '\\n')
    return ['HAT136', 'HAT201']
  }, { safety: 'read' })
  const pick = await run.step('choose', { flights }, ({ flights }) => flights[0])
  const answer = await run.interrupt({ question: 'Book ' + pick + ' to ' + input.to + '?', options: ['yes', 'no'] })
  return { booked: answer === 'yes' ? pick : null, to: input.to }
})
export { trip, trip as default }

export const slow = agent('slow', async (run) => {
  for (let page = 1; page <= 5; page++)
    await run.effect('read', { page }, async (_, { signal }) => {
      appendFileSync('calls.txt', 'read ' + page + '\\n')
      if (page === Number(process.env['HANG_AT'])) await sleep(60_000, undefined, { signal })
      return page
    })
  return 'all read'
})

export const dotenv = agent('dotenv', async (run) => {
  const text = await run.effect('read', null, () => readFileSync('.env', 'utf8'))
  await run.effect('look', null, async (_, { signal }) => {
    if (process.env['HANG_AT']) await sleep(60_000, undefined, { signal })
  })
  const save = ({ text }) => writeFileSync('.env', text)
  await run.effect('save', { text: text + 'DEBUG=1\\n' }, save, { safety: 'write' })
  return 'saved'
})

export const form = agent('form', (run) =>
  run.interrupt({ question: 'Who?', schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } }))

export const two = agent('two', (run) => Promise.all([run.interrupt('first?'), run.interrupt('second?')]))

export const broken = agent('broken', async (run) => {
  await run.interrupt('go?')
  return run.step('use', {}, () => {
    if (!existsSync('thing')) throw new TypeError('no such thing')
    return 'used'
  })
})

export const parent = agent('parent', (run) => run.child(trip, { to: 'Rome' }))

export const chat = new StateGraph({ notes: append<string>(), turns: last(0) })
  .addNode('think', (state) => ({ notes: ['thought ' + state.turns], turns: state.turns + 1 }))
  .addNode('ask', async () => ({ notes: [String(await interrupt({ question: 'Go on?', options: ['yes', 'no'] }))] }))
  .addEdge(START, 'think')
  .addConditionalEdges('think', (state) => (state.turns % 3 === 0 ? 'ask' : 'think'), ['think', 'ask'])
  .addEdge('ask', END)
  .compile({ name: 'chat' })

export const twin = agent('twin', () => 1)
export const twin2 = agent('twin', () => 2)
`

/** Starts one of them: name, input and options as its arguments, the store in \`CLEW_STORE\`. */
export const START = `
import { openLedger } from '${CLEW}'
import * as agents from './agents.ts'
const [name, input, options] = process.argv.slice(2)
const ledger = await openLedger(process.env['CLEW_STORE'])
const found = agents[name]
const given = [JSON.parse(input), JSON.parse(options)]
const { status } = name === 'chat' ? await found.withCheckpointer(ledger).invoke(...given) : await found.start(ledger, ...given)
console.log(status)
await ledger.close()
`

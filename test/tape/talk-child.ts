import { openLedger } from 'clew'
import { type Library, loadTalk, type Talk } from './model-agents.ts'

/** `node talk-child.ts DATABASE RUN LIBRARY TALK`: begins the talk, or goes on with it, and prints what it came to. */
const [, , database = '', runId = '', library = '', talk = ''] = process.argv
const ledger = await openLedger(`sqlite:${database}`)
const talking = await loadTalk(library as Library, true)
const known = await ledger.getRun(runId)
const { status, output, error } = known
  ? await talking.resume(ledger, runId, known.status === 'paused' ? { answer: 'yes' } : {})
  : await talking.start(ledger, JSON.parse(talk) as Talk, { runId })
await ledger.close()
process.stdout.write(`${JSON.stringify({ status, output, error })}\n`)

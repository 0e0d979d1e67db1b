import { ClewError, type Ledger } from '@clew/ledger'
import { z } from 'zod'
import type { ImportFile } from '../import/import-foreign.ts'
import { answering } from './operation.ts'

const count = z.int().min(0)

const refusal = z.object({
  file: z.string(),
  line: z.int().nullable(),
  field: z.string().nullable().describe('field of the record that is invalid'),
  reason: z.string(),
})
export type Refusal = z.output<typeof refusal>

const report = z.object({
  files: count,
  runs: count,
  events: count,
  passed: count.describe('events that were already in the ledger'),
  refused: z.array(refusal).readonly().describe('the first hundred; `refusedTotal` counts all'),
  refusedTotal: count,
  threads: count.optional().describe('threads of the LangGraph database'),
  checkpoints: count.optional().describe('checkpoints of the LangGraph database'),
  known: count.optional().describe('checkpoints that were already in the ledger'),
  dryRun: z.boolean().optional(),
})
export type ForeignReport = z.output<typeof report>

export const importEvents = answering({
  name: 'import',
  summary: 'Import exports, chats in OpenAI form, AG2 events, or the database of a LangGraph saver',
  scope: 'write',
  surfaces: ['cli'],
  input: z.object({
    format: z
      .enum(['ndjson', 'openai-chat', 'ag2', 'langgraph-sqlite', 'langgraph-postgres'])
      .default('ndjson')
      .describe(
        'format of the files: ndjson (envelopes, as `clew export` writes), openai-chat, ag2, langgraph-sqlite or langgraph-postgres (a URL)',
      ),
    runId: z.string().min(1).optional().describe('id of the run; default: the name of the file'),
    agent: z.string().min(1).optional().describe('agent of the imported runs'),
    dryRun: z
      .boolean()
      .optional()
      .describe('read everything, report what would be imported, and write nothing (langgraph-*)'),
    rehash: z.boolean().optional().describe('store as new events, redacted and with new hashes (ndjson)'),
  }),
  output: report,
  example: { command: 'clew import --format openai-chat chats/*.json', input: { format: 'openai-chat' } },
  cli: {
    group: 'Move',
    arguments: [
      {
        word: 'files',
        required: true,
        many: true,
        about: 'the files, or - for the standard input; for langgraph-postgres the URL of the database',
      },
    ],
    options: {
      format: '--format <format>',
      runId: '--run <id>',
      agent: '--agent <name>',
      dryRun: '--dry-run',
      rehash: '--rehash',
    },
  },
  async run(ledger, { format, runId, agent, dryRun, rehash }, { files = [], onProgress } = {}) {
    if (files.length === 0)
      throw wrong('There is nothing to import', 'Name a file, or - for the input.', 'files')
    if (format === 'langgraph-sqlite' || format === 'langgraph-postgres') {
      const given = runId === undefined ? (rehash === true ? '--rehash' : undefined) : '--run'
      if (given !== undefined)
        throw wrong(`The option ${given} has no meaning for the database of a saver`, 'Leave it out.', given)
      const [file] = files
      if (files.length > 1 || file?.name === undefined)
        throw wrong('A saver has one database', 'Name one file or URL.', 'files')
      const { importLangGraph } = await import('../import/import-langgraph.ts')
      return importLangGraph(ledger, { format, address: file.name, agent, dryRun, onProgress })
    }
    if (dryRun === true)
      throw wrong(
        'The option --dry-run is for databases of LangGraph',
        'Leave it out: an import of files can be repeated, and what is there is passed by.',
        '--dry-run',
      )
    if (format === 'ndjson') {
      const given = runId === undefined ? (agent === undefined ? undefined : '--agent') : '--run'
      if (given !== undefined)
        throw wrong(
          `The option ${given} has no meaning for envelopes, which name their run`,
          'Leave it out.',
          given,
        )
      return importEnvelopes(ledger, files, rehash, onProgress)
    }
    if (rehash === true)
      throw wrong(
        'The option --rehash is for envelopes',
        'Leave it out: foreign records are always new.',
        '--rehash',
      )
    if (format === 'ag2' && runId === undefined && files.some((file) => file.name === undefined))
      throw wrong('Events from the standard input have no file to name their run', 'Add --run <id>.', '--run')
    const { importForeign } = await import('../import/import-foreign.ts')
    return importForeign(ledger, files, { format, runId, agent, onProgress })
  },
})

const wrong = (message: string, hint: string, option: string): ClewError =>
  new ClewError('bad_option', message, hint, { option })

/** Hashes chain one event to the next, so the first that does not fit ends its file. */
async function importEnvelopes(
  ledger: Ledger,
  files: readonly ImportFile[],
  rehash: boolean | undefined,
  onProgress: ((events: number) => void) | undefined,
): Promise<ForeignReport> {
  let [runs, events, passed] = [0, 0, 0]
  for (const { name, body } of files) {
    try {
      const before = events
      const report = await ledger.import(body, { rehash, onProgress: (done) => onProgress?.(before + done) })
      runs += report.runs
      events += report.events
      passed += report.passed
    } catch (cause) {
      if (!(cause instanceof ClewError) || files.length === 1) throw cause
      const message = cause.message.slice(0, -cause.hint.length - 2)
      const file = name ?? 'the standard input'
      throw new ClewError(cause.code, `${file}: ${message}`, cause.hint, { ...cause.fields, file }, cause)
    }
  }
  return { files: files.length, runs, events, passed, refused: [], refusedTotal: 0 }
}

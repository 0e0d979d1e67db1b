import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openLedger } from '../open-ledger.ts'
import { importForeign } from './import-foreign.ts'

const PAGE = resolve(import.meta.dirname, '../../../../docs/guide/import.md')
const folder = mkdtempSync(join(tmpdir(), 'clew-recipe-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const hasPython = spawnSync('python3', ['--version']).status === 0

// Stands in for AG2: objects with `model_dump`, one of which holds what JSON lacks.
const STAND_IN = `
import uuid
class Event:
    def __init__(self, type, **content): self.type, self.content = type, {"uuid": uuid.uuid4(), **content}
    def model_dump(self): return {"type": self.type, "content": self.content}
given = [
    Event("text", sender="user", recipient="courier", content="Wo ist mein Paket? 📦"),
    Event("tool_call", sender="courier", tool_calls=[{"id": "c1", "function": {"name": "track", "arguments": "{}"}}]),
    Event("tool_response", sender="tools", tool_responses=[{"tool_call_id": "c1", "content": "in Bern"}]),
    Event("run_completion", summary="found"),
]
assert list(record(given, "parcel.ndjson")) == given
`

// Skipped without python3: the recipe is Python, and only Python can say whether it runs.
it.skipIf(!hasPython)(
  'A3 the Python recipe of the guide writes what the import reads (needs python3)',
  async () => {
    const recipe = /^```python\n([\s\S]*?)^```$/m.exec(readFileSync(PAGE, 'utf8'))?.[1] ?? ''
    const ran = spawnSync('python3', ['-c', recipe + STAND_IN], { cwd: folder, encoding: 'utf8' })
    expect([ran.status, ran.stderr]).toEqual([0, ''])

    const ledger = await openLedger('memory:')
    const body = [readFileSync(join(folder, 'parcel.ndjson'))]
    const files = [
      {
        name: 'parcel.ndjson',
        body: (async function* () {
          yield* body
        })(),
      },
    ]
    expect(await importForeign(ledger, files, { format: 'ag2' })).toMatchObject({ runs: 1, refusedTotal: 0 })
    expect(await ledger.getRun('parcel')).toMatchObject({
      status: 'completed',
      agent: 'courier',
      messages: 2,
      toolCalls: 1,
      startedAt: expect.stringMatching(/^20\d\d-/),
    })
    await ledger.close()
  },
)

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** Chats of a harbour desk as people export them: untimed, unpriced, with several tool calls in one answer, errors, nulls and JSON inside strings. */

const ROOT = resolve(import.meta.dirname, '../..')

interface Message {
  readonly role: string
  readonly content: string | null
  readonly name?: string
  readonly tool_call_id?: string
  readonly tool_calls?: readonly unknown[]
}

const POLICY = `# Harbour desk\n\nThe current time is 2026-05-15 15:00.\n\n${[
  'Before you book, change or cancel, list the details and get a **yes** from the passenger.',
  'Make one change at a time; do not make up facts that the tools did not tell you.',
  'Berths of the *night boat* can be moved only before noon.',
  'Hand over to a person if none of the tools can do what is asked.',
]
  .map((rule) => `- ${rule}`)
  .join('\n')}\n\n${'Fares, piers and tides are in the timetable. '.repeat(80)}`

const boat = (name: string, pier: number): object => ({
  boat: name,
  pier,
  departures: [
    { at: '09:05', seats: 14, fare: null },
    { at: '17:40', seats: 0, fare: { amount: 28.5, currency: 'EUR' } },
  ],
  note: JSON.stringify({ tide: 'low until 08:20', captain: { name: 'Ørsted', languages: ['da', 'عربي'] } }),
})

/** One chat; the same index gives the same chat. `turns` answers of the desk, of which every third asks several tools. */
function deskChat(index: number, turns: number): object {
  const messages: Message[] = [
    { role: 'system', content: POLICY },
    {
      role: 'user',
      content: `Hello! Two seats to island ${index}, please. My number is passenger_${index}.`,
    },
  ]
  for (let turn = 0; turn < turns; turn++) {
    const names = CALLS.slice(turn % 3, (turn % 3) + 1 + (turn % 3))
    messages.push({
      role: 'assistant',
      content: turn % 4 === 3 ? 'One moment, I look that up.' : null,
      tool_calls: names.map((name, at) => ({
        id: `c${turn}-${at}`,
        type: 'function',
        function: { name, arguments: JSON.stringify({ passenger: `passenger_${index}`, turn }) },
      })),
    })
    for (const [at, name] of names.entries())
      messages.push({
        role: 'tool',
        tool_call_id: `c${turn}-${at}`,
        name,
        content:
          name === 'book_seat' && (index + turn) % 2 === 0
            ? 'Error: payment refused, card 4471 has expired'
            : JSON.stringify(boat(`MS ${name}`, turn)),
      })
    messages.push(
      {
        role: 'assistant',
        content: `Found:\n\n1. **09:05**, pier ${turn}\n2. *17:40*, full\n\nShall I book the first?`,
      },
      { role: 'user', content: turn % 2 === 0 ? 'نعم، من فضلك — yes please' : 'Can you look again?' },
    )
  }
  messages.push({ role: 'assistant', content: 'You are booked. Have a good crossing!' })
  return { task_id: index % 4, trial: index, reward: index % 3 === 0 ? 1 : 0, agent: 'harbour', messages }
}

const CALLS = ['find_boat', 'get_passenger', 'find_boat', 'book_seat', 'get_fare'] as const

/** Imports `count` chats as runs `desk-1`, `desk-2` … with the command that users have. */
export async function importDeskChats(store: string, folder: string, count: number): Promise<string[]> {
  const file = join(folder, 'desk.ndjson')
  const lines = Array.from({ length: count }, (_, at) => JSON.stringify(deskChat(at, 2 + 3 * at)))
  writeFileSync(file, lines.join('\n'))
  await promisify(execFile)(process.execPath, [
    '--conditions=@clew/source',
    join(ROOT, 'packages/clew/bin/clew.mjs'),
    'import',
    '--format',
    'openai-chat',
    file,
    '--store',
    store,
  ])
  return lines.map((_, at) => `desk-${at + 1}`)
}

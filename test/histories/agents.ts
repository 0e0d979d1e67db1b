import {
  agent,
  type Agent,
  append,
  channel,
  command,
  type CompiledGraph,
  END,
  foreignType,
  interrupt,
  last,
  Message,
  messages,
  type Run,
  send,
  START,
  StateGraph,
} from 'clew'

/**
 * The agents whose runs are kept in `schema-*`. They are never changed: a history is replayed with the code
 * that made it, by every later version of Clew. For a new feature, add an agent and record it.
 */
let isRecording = false

/** Lets effects reach the world outside while `work` goes on. */
export async function recording<T>(work: () => Promise<T>): Promise<T> {
  isRecording = true
  try {
    return await work()
  } finally {
    isRecording = false
  }
}

/** What the world outside answers, in the order of `afterMs`; on replay nobody may ask it. */
async function outside<T>(answer: T, afterMs = 0): Promise<T> {
  if (!isRecording) throw new Error('a replay reached the world outside')
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  return answer
}

const parallel = agent('parallel', async (run, shops: string[]) => {
  // The last one asked answers first.
  const quotes = await Promise.all(
    shops.map((shop, at) =>
      run.effect('quote', { shop }, () => outside({ shop, price: 7 + at }, 5 * (shops.length - at))),
    ),
  )
  const best = await run.step('best', quotes, (all) => Math.min(...all.map(({ price }) => price)))
  return { best, at: run.now(), lot: run.random(), id: run.uuid() }
})

const race = agent('race', async (run, file: string) => {
  const text = await run.step('fastest', { file }, (_, inner) =>
    Promise.race(
      ['eu', 'us'].map((from) =>
        inner.effect('fetch', { file, from }, () => outside(`${file} from ${from}`, from === 'eu' ? 60 : 1)),
      ),
    ),
  )
  return run.effect('note', { text }, ({ text }) => outside(text.length))
})

let failures = 0
const retried = agent('retried', async (run, files: string[]) => {
  const found = await Promise.all(
    files.map((file) =>
      run.effect(
        'summarise',
        { file },
        async () => {
          const about = await outside(`about ${file}`)
          if (file === 'b.md' && failures++ === 0) throw new Error('overloaded')
          return about
        },
        { key: file, retry: { tries: 3, delayMs: 1 } },
      ),
    ),
  )
  const missing = await run
    .effect('summarise', { file: 'none.md' }, async () => {
      await outside(null)
      throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
    })
    .catch((error: Error) => error.message)
  return [...found, missing]
})

const hotel = agent('hotel', async (run, nights: number) => {
  const room = await run.effect('reserve', { nights }, () => outside(12), { safety: 'write' })
  return { room, nights }
})
const trip = agent('trip', async (run, to: string) => {
  const { room } = await run.child(hotel, 2)
  const rooms = await Promise.all([1, 3].map((nights) => run.child(hotel, nights, { key: `${nights}` })))
  return { to, rooms: [room, ...rooms.map((each) => each.room)] }
})

const publish = agent('publish', async (run, topic: string) => {
  const draft = await run.effect('draft', { topic }, () => outside(`${topic} are awake`))
  const answer = await run.interrupt<string>({ question: 'Publish?', options: ['yes', 'no'] })
  if (answer !== 'yes') return null
  await run.sleep(5)
  const at = run.now()
  const page = await run.effect('publish', { draft }, () => outside('page 1'), { safety: 'write' })
  return { page, at }
})

const crashed = agent('crashed', async (run, pages: number) => {
  const words: string[] = []
  for (let page = 1; page <= pages; page++)
    words.push(await run.effect('read', { page }, ({ page }) => outside(`page ${page}`)))
  return run.step('write', { words }, async ({ words }, inner) => {
    const title = await inner.effect('title', { first: words[0] }, () => outside('Owls'))
    return { title, words: words.length }
  })
})

const failed = agent('failed', async (run, city: string) => {
  const answer = await run.effect('forecast', { city }, () => outside<{ hours?: number[] }>({}))
  return run.step('warmest', answer, ({ hours }) => Math.max(...(hours as number[])))
})

const loop = new StateGraph({ notes: append<string>(), rounds: last(0) })
  .addNode('think', async ({ rounds }, run: Run) => ({
    notes: await run.effect('ask', { rounds }, () => outside(`thought ${rounds}`)),
    rounds: rounds + 1,
  }))
  .addGate('enough', ({ rounds }) => (rounds < 3 ? 'think' : END), ['think', END])
  .addEdge(START, 'think')
  .addEdge('think', 'enough')
  .compile({ name: 'loop' })

const fanOut = new StateGraph({ topics: last<string[]>([]), found: append<string>(), verdict: last('') })
  .addNode('read', async ({ topic }: { topic: string }, run) => ({
    found: await run.effect('look up', { topic }, () => outside(`a page about ${topic}`, topic.length)),
  }))
  .addNode(
    'join',
    ({ found }) => (found.length < 2 ? command({ update: { verdict: 'too little' }, end: true }) : undefined),
    { defer: true },
  )
  .addNode('left', () => ({ found: 'left' }))
  .addNode('right', () => ({ found: 'right' }))
  .addNode('judge', ({ found }) => command({ update: { verdict: `${found.length} pages` }, goto: 'done' }), {
    targets: ['done'],
  })
  .addNode('done', () => undefined)
  .addConditionalEdges(START, ({ topics }) => topics.map((topic) => send('read', { topic })), ['read'])
  .addEdge('read', 'join')
  .addEdge('join', 'left')
  .addEdge('join', 'right')
  .addEdge(['left', 'right'], 'judge')
  .addEdge('done', END)
  .compile({ name: 'fan-out' })

const inner = new StateGraph({ topic: last(''), notes: append<string>() })
  .addNode('look', async ({ topic }, run) => ({
    notes: await run.effect('see', { topic }, () => outside(`seen: ${topic}`)),
  }))
  .addEdge(START, 'look')
  .compile({ name: 'inner' })
const outer = new StateGraph({ topic: last(''), notes: append<string>(), done: last(false) })
  .addNode('research', inner)
  .addNode('finish', () => ({ done: true }))
  .addEdge(START, 'research')
  .addEdge('research', 'finish')
  .addEdge('finish', END)
  .compile({ name: 'outer' })

const letter = new StateGraph({ text: last(''), approved: last(false) })
  .addNode('draft', async (_, run) => ({ text: await run.effect('write', {}, () => outside('Dear owl')) }))
  .addNode('review', async ({ text }) => ({
    approved: await interrupt<boolean>({ question: `Send "${text}"?` }),
  }))
  .addNode('send', () => ({ text: 'sent' }))
  .addEdge(START, 'draft')
  .addEdge('draft', 'review')
  .addConditionalEdges('review', ({ approved }) => approved, { true: 'send', false: END })
  .compile({ name: 'letter', interruptBefore: ['send'] })

const chat = new StateGraph({ messages: messages(), turns: last(0) })
  .addNode('reply', async ({ messages, turns }, run) => ({
    messages: Message.ai(
      await run.effect('model', { said: messages.at(-1)?.content }, () => outside(`answer ${turns}`)),
    ),
    turns: turns + 1,
  }))
  .addEdge(START, 'reply')
  .addEdge('reply', END)
  .compile({ name: 'chat' })

const order = new StateGraph({ price: last(0), paid: last(0) })
  .addNode('quote', () => ({ price: 100 }))
  .addNode('pay', async ({ price }, run) => ({
    paid: await run.effect('transfer', { price }, ({ price }) => outside(price), { safety: 'write' }),
  }))
  .addEdge(START, 'quote')
  .addEdge('quote', 'pay')
  .addEdge('pay', END)
  .compile({ name: 'order', interruptBefore: ['pay'] })

const sizes = agent('sizes', async (run, name: string) => {
  if (name === 'ghost') throw new Error('nothing to measure')
  return run.effect('measure', { name }, ({ name }) => outside(name.length))
})

/** Streams one answer, and asks for two more at once; on replay nobody listens at `url`. */
const taped = agent(
  'taped',
  async (run, url: string) => {
    const response = await fetch(`${url}/words`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-proj-${'x9Y8z7W6'.repeat(4)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ about: 'owls' }),
    })
    const words: string[] = []
    const decoder = new TextDecoder()
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      words.push(decoder.decode(chunk))
      if (words.length === 1) await run.step('first', { word: words[0] }, ({ word }) => word?.length)
    }
    const more = await Promise.all(
      ['a', 'b'].map(async (page) => (await fetch(`${url}/pages/${page}`)).json()),
    )
    return { status: response.status, text: words.join(''), more }
  },
  { recordFetch: true },
)

const tapedGraph = new StateGraph({ url: last(''), pages: append<unknown>() })
  .addNode('read', async ({ url }) => ({ pages: await (await fetch(`${url}/pages/a`)).json() }))
  .addEdge(START, 'read')
  .addEdge('read', END)
  .compile({ name: 'taped-graph', recordFetch: true })

/** In two parts, so that no scanner of repositories reports this file. */
const TOKEN = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')

const redacted = agent('redacted', async (run, topic: string) => {
  const file = await run.effect('read', { topic }, () => outside(`# settings\nGITHUB=${TOKEN}\nTOPIC=${topic}`))
  const lines = await run.step('count', { file }, (given) => given.file.split('\n').length)
  await run.effect('call', { url: `https://example.org/?access_token=${TOKEN}&q=${topic}` }, () => outside('ok'))
  return { file, lines }
})

const redactedGraph = new StateGraph({ notes: append<string>(), count: last(0) })
  .addNode('read', () => ({ notes: [`use ${TOKEN} for it`] }))
  .addNode('count', ({ notes }) => ({ count: notes.length }))
  .addEdge(START, 'read')
  .addEdge('read', 'count')
  .addEdge('count', END)
  .compile({ name: 'redacted-graph' })

/** Says what it does, with every kind of effect, in a session; asks with a schema and a time-out. */
const spoken = agent(
  'spoken',
  async (run, question: string) => {
    run.say({ role: 'user', content: question })
    const found = await run.effect('search', { question }, (_, call) => {
      call.usage({ inputTokens: 12, outputTokens: 30, model: 'owl-1' })
      return outside(['page 1', 'page 2'])
    })
    run.decide('answer', `${found.length} pages are enough`)
    run.output({ pages: found.length })
    run.say({
      role: 'assistant',
      content: [{ type: 'text', text: 'I note it down.' }],
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'note', arguments: '{"text":"owls"}' } }],
    })
    const noted = await run.effect('note', { text: 'owls' }, () => outside('noted'), {
      safety: 'write',
      idempotent: true,
      timeoutMs: 60_000,
    })
    run.say({ role: 'tool', tool_call_id: 'c1', content: noted })
    const { stars } = await run.interrupt({
      question: 'How good?',
      timeoutMs: 86_400_000,
      default: { stars: 3 },
      schema: { type: 'object', properties: { stars: { type: 'number' } }, required: ['stars'] },
    })
    await run.effect('send', { stars }, () => outside(true), {
      safety: 'external',
      approval: { timeoutMs: 86_400_000 },
    })
    run.record(foreignType('execution.note'), { stars })
    run.handoff('archivist', { reason: 'it is late' })
    return { stars, at: run.now() }
  },
  { version: '2', budget: { steps: 100 } },
)

/** The first write takes longer than it may, so that a person says what became of it. */
const overdue = agent('overdue', async (run, to: string) => {
  const sent = await run.effect('send', { to }, () => outside('sent', 400), { safety: 'write', timeoutMs: 30 })
  const receipts = await run.step('file', { sent }, async (_, inner) => {
    const kept = await inner.effect('keep', { sent }, () => outside(1), { safety: 'destructive' })
    return kept + 1
  })
  return { sent, receipts }
})

/** Is stopped while it speaks. */
const halted = agent('halted', async (run, topic: string) =>
  run.effect('speak', { topic }, async (_, { signal }) => {
    await outside(null)
    for (const word of ['Owls', ' hunt', ' at']) run.token(word)
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
    })
    return 'Owls hunt at night'
  }),
)

let bookings = 0
const booker = agent('booker', async (run, seat: string) => {
  const place = await run.effect('book', { seat }, () => outside(`booked ${seat}`), { safety: 'write' })
  const bill = await run.effect('bill', { seat }, async () => {
    await outside(null)
    if (bookings++ === 0) throw new Error('no connection')
    return 12
  })
  return { place, bill }
})
/** Its child fails after a write, which the child's second run has from the first. */
const patient = agent('patient', (run, seat: string) =>
  run.child(booker, seat, { retry: { tries: 2, delayMs: 1 } }),
)

/** Channels that begin with something, a tool loop in messages, and nodes that say what they do. */
const desk = new StateGraph({
  messages: messages([{ id: 'rules', role: 'system', content: 'Be short.' }]),
  rounds: last(0),
  mood: last('calm'),
  facts: channel<Record<string, number>, Record<string, number>>({
    initial: { known: 1 },
    merge: (before, write) => ({ ...before, ...write }),
  }),
})
  .addNode('model', async ({ messages, rounds }, run) => {
    run.decide(rounds === 0 ? 'use a tool' : 'answer')
    const reply = await run.effect('ask', { said: messages.length }, () =>
      outside(
        rounds === 0
          ? {
              role: 'assistant' as const,
              content: null,
              tool_calls: [
                { id: 'c1', type: 'function' as const, function: { name: 'count', arguments: '{"of":"owls"}' } },
              ],
            }
          : { role: 'assistant' as const, content: 'Two.' },
      ),
    )
    return { messages: reply, rounds: rounds + 1 }
  })
  .addNode('count', async ({ mood }, run) => {
    run.say(`I count, ${mood}`)
    const owls = await run.effect('count', { of: 'owls' }, () => outside(2))
    return {
      messages: { role: 'tool' as const, tool_call_id: 'c1', content: `${owls}` },
      facts: { owls },
    }
  })
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ rounds }) => (rounds === 1 ? 'count' : END), ['count', END])
  .addEdge('count', 'model')
  .compile({ name: 'desk' })

let isUp = false
const shaky = new StateGraph({ log: append<string>() })
  .addNode('fetch', async (_, run) => ({ log: await run.effect('fetch', {}, () => outside('fetched')) }))
  .addNode('store', async (_, run) => ({
    log: await run.effect('store', {}, async () => {
      await outside(null)
      if (!isUp) throw new Error('the disk is full')
      return 'stored'
    }),
  }))
  .addEdge(START, 'fetch')
  .addEdge('fetch', 'store')
  .addEdge('store', END)
  .compile({ name: 'shaky' })

/** Lets `shaky` store what it fetched. */
export function repair(): void {
  isUp = true
}

export const FUNCTIONS = { parallel, race, retried, hotel, trip, publish, crashed, failed, sizes, taped, redacted, spoken, overdue, halted, booker, patient }
export const GRAPHS = { loop, fanOut, inner, outer, letter, chat, order, tapedGraph, redactedGraph, desk, shaky }

/** By the name that their runs carry. */
export const AGENTS: ReadonlyMap<string, Agent<never> | CompiledGraph> = new Map<
  string,
  Agent<never> | CompiledGraph
>(
  [...Object.values(FUNCTIONS), ...Object.values(GRAPHS)].map((each) => [
    each.program.name,
    each as unknown as Agent<never> | CompiledGraph,
  ]),
)

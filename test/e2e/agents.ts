import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { chat } from '../../examples/model/chat.ts'
import type { ChatMessage } from '../../examples/model/protocol.ts'
import { agent, append, END, last, START, StateGraph } from 'clew'

/** Agents whose runs the page is tried on; the server goes on with their runs. */

interface Trip {
  readonly question: string
  /** How long things take; tests want it short, pictures want it real. */
  readonly pace: number
}

const PAGES: Readonly<Record<string, string>> = {
  'owls that hunt by day': 'Short-eared owl, northern hawk-owl, burrowing owl.',
  'where they live': 'Open land: tundra edges, prairie, moor.',
  'when to look': 'Early morning, from March on.',
}

const usageOf = (inputTokens: number, outputTokens: number) => ({
  model: 'gpt-4o-mini',
  inputTokens,
  outputTokens,
})

/** A function: plans, looks things up at the same time, asks a person, answers. */
export const research = agent('research', async (run, { question, pace }: Trip) => {
  const plan = await run.effect('plan', { question }, async (_, call) => {
    await sleep(9 * pace)
    call.usage(usageOf(812, 64))
    return Object.keys(PAGES)
  })
  const pages = await Promise.all(
    plan.map((query, index) =>
      run.effect(
        'web_search',
        { query },
        async () => {
          await sleep((4 + 3 * index) * pace)
          return { query, title: PAGES[query] ?? '', url: `https://example.org/${index + 1}` }
        },
        { safety: 'read' },
      ),
    ),
  )
  const draft = await run.effect('model', { pages }, async (_, call) => {
    await sleep(12 * pace)
    call.usage(usageOf(2480, 310))
    return `Three species hunt **by day**:\n\n${pages.map(({ title, url }) => `- ${title} [source](${url})`).join('\n')}`
  })
  const answer = await run.interrupt({ question: 'Publish the summary?', options: ['yes', 'no'] })
  return { published: answer === 'yes', words: draft.split(' ').length }
})

/** Fails, and fails again. */
export const flaky = agent('flaky', async (run, { pace }: { readonly pace: number }) => {
  await run.step('prepare', {}, async () => sleep(3 * pace))
  return run.effect(
    'fetch prices',
    { market: 'owl boxes' },
    async (): Promise<string> => {
      await sleep(2 * pace)
      throw Object.assign(new Error('503 Service Unavailable: the market is closed'), { name: 'MarketError' })
    },
    { retry: { tries: 2, delayMs: 5 } },
  )
})

interface Ticket {
  readonly id: string
  readonly text: string
}

/** A graph with a loop, a decision and a state that grows. */
export const triage = new StateGraph({
  tickets: last<readonly Ticket[]>([]),
  handled: append<string>(),
  urgent: last(0),
  note: last(''),
})
  .addNode('pick', async ({ tickets, handled }) => ({
    note: `next: ${tickets[handled.length]?.id ?? 'none'}`,
  }))
  .addNode('judge', async ({ tickets, handled, urgent }, run) => {
    const ticket = tickets[handled.length]
    const isUrgent = await run.effect('classify', { text: ticket?.text ?? '' }, async ({ text }, call) => {
      call.usage(usageOf(120 + text.length, 4))
      return /fire|flood/.test(text)
    })
    return { handled: ticket?.id ?? '', urgent: urgent + (isUrgent ? 1 : 0) }
  })
  .addNode('escalate', async ({ urgent }) => ({ note: `${urgent} urgent` }))
  .addNode('report', async ({ handled, urgent }) => ({ note: `${handled.length} handled, ${urgent} urgent` }))
  .addEdge(START, 'pick')
  .addEdge('pick', 'judge')
  .addConditionalEdges(
    'judge',
    ({ tickets, handled, urgent, note }) =>
      handled.length < tickets.length
        ? 'pick'
        : urgent > 0 && !note.endsWith('urgent')
          ? 'escalate'
          : 'report',
    ['pick', 'escalate', 'report'],
  )
  .addEdge('escalate', 'report')
  .addEdge('report', END)
  .compile({ name: 'triage' })

/** Thinks aloud, and goes on when the file `gate` is there. */
export const courier = agent('courier', async (run, { gate }: { readonly gate: string }) => {
  const parcel = await run.step('pack', {}, () => ({ parcel: 'rings', weight: 3 }))
  await run.effect(
    'thinking',
    parcel,
    async () => {
      run.token('The parcel is packed. ')
      for (let words = 1; !existsSync(gate); words++) {
        await sleep(60, undefined, { signal: run.signal })
        if (words <= 40) run.token(`I wait at the gate (${words}). `)
      }
      return 'The gate is open.'
    },
    { safety: 'read' },
  )
  return run.step('deliver', parcel, ({ parcel: what }) => `${what} delivered`)
})

/** Not what was recorded under its name: replaying that finds the difference. */
export const baker = agent('baker', async (run) => {
  await run.step('mix', { flour: 500 }, () => 'dough')
  return run.step('bake', { minutes: 45 }, () => 'bread')
})

interface Asked {
  readonly question: string
  readonly policy: string
  /** Where the model listens. */
  readonly modelUrl: string
}

/** Books what its model asks for, by a policy that may mislead the model. */
export const clerk = agent('clerk', async (run, { question, policy, modelUrl }: Asked) => {
  const messages: ChatMessage[] = [
    { role: 'system', content: policy },
    { role: 'user', content: question },
  ]
  for (;;) {
    const request = { model: 'small', messages: [...messages] }
    const { message } = await run.effect('model', request, async (body, call) => {
      const headers = { authorization: 'Bearer for-tests' }
      const answer = await chat({ url: modelUrl, headers, body }, { ...call, onToken: run.token })
      call.usage(usageOf(answer.usage.prompt_tokens, answer.usage.completion_tokens))
      return answer
    })
    messages.push(message)
    if (!message.tool_calls) return message.content
    for (const { id, function: tool } of message.tool_calls) {
      const { pier } = JSON.parse(tool.arguments) as { readonly pier: number }
      const seat = await run.effect('book_seat', { pier }, async () => {
        if (pier > 4) throw new Error(`there is no pier ${pier}`)
        return { pier, seat: '12A' }
      })
      messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(seat) })
    }
  }
})

/** Pays somebody back, if a person allows it, and asks what to write to them. */
export const bursar = agent('bursar', async (run, { booking }: { readonly booking: string }) => {
  const refund = { booking, amount: { value: 28.5, currency: 'EUR' }, reason: 'the boat did not sail' }
  const paid = await run.effect('refund', refund, async ({ amount }) => ({ paid: amount.value }), {
    safety: 'destructive',
    approval: { question: 'May the fare be paid back?', timeoutMs: 3_600_000 },
  })
  const letter = await run.interrupt<{ readonly tone: string }>({
    question: 'How should the letter sound?',
    schema: {
      type: 'object',
      properties: { tone: { enum: ['formal', 'warm'] }, lines: { type: 'integer' } },
      required: ['tone'],
    },
  })
  return { ...paid, ...letter }
})

import type { ClewEvent } from '../event/envelope.ts'
import { textOf } from '../fold/fields.ts'
import { placeholdersIn } from '../redact/placeholder.ts'
import type { Case, Product } from './case.ts'
import { isTelling, isVolatile, type Scalar, scalarsOf } from './scalars.ts'
import type { Clue } from './suspicion.ts'

/** Where the values that the end of the run was given had come from, and those that its error names. */
export function sourceClues({ end, products, failed }: Case): Clue[] {
  if (!end) return []
  const before = products.filter(({ event }) => event.ledger.seq < end.event.ledger.seq)
  const given = scalarsOf(end.value)
    .map(({ value }) => value)
    .filter(isTelling)
  const sources = new Map<Product, Scalar[]>()
  // The first that has it: later ones only passed it on.
  const firstWith = new Map<Scalar, Product>()
  for (const product of before)
    for (const { value } of product.scalars) if (!firstWith.has(value)) firstWith.set(value, product)
  for (const value of new Set(given)) {
    const from = firstWith.get(value)
    if (from) sources.set(from, [...(sources.get(from) ?? []), value])
  }
  const named = namesIn(end.error)
  const clues: Clue[] = []
  for (const [{ event, step, name }, values] of sources) {
    const said = values.filter((value) => named.has(String(value)))
    const where = failed ? 'the failed step' : 'the end of the run'
    clues.push({
      event,
      kind: 'source',
      weight: 0.4 / Math.sqrt(sources.size) + (said.length > 0 ? 0.35 : 0),
      why: `${step?.stepId ?? name} gave ${shown(said[0] ?? values[0])}, which ${where} was given${said.length > 0 ? ' and its error names' : ''}`,
    })
  }
  return clues
}

/** Fields that the error misses: the last product that lacks one of them, where others of its name have it. */
export function missingFieldClues({ end, products }: Case, peers: readonly Product[]): Clue[] {
  if (!end) return []
  const clues: Clue[] = []
  const fields = [...namesIn(end.error)].filter((name) => /^[A-Za-z_]\w{1,60}$/.test(name))
  if (fields.length === 0) return []
  const byName = Map.groupBy([...products, ...peers], ({ name }) => name)
  for (const product of products) {
    const { event, name, step, keys } = product
    if (event.ledger.seq >= end.event.ledger.seq || keys.size === 0) continue
    const others = fewOf(byName.get(name) ?? [], product)
    const field = fields.find((each) => !keys.has(each) && others.some((other) => other.keys.has(each)))
    if (field !== undefined)
      clues.push({
        event,
        kind: 'odd shape',
        weight: 0.7,
        why: `${step?.stepId ?? name} gave no ${field}, which other answers of ${name} have and the error names`,
      })
  }
  return clues
}

/** Answers that are unlike others of the same name: another shape, another size, nothing at all. */
export function oddClues({ products, isBad }: Case, peers: readonly Product[]): Clue[] {
  const clues: Clue[] = []
  const byName = Map.groupBy([...products, ...peers], ({ name }) => name)
  for (const product of products) {
    const others = fewOf(byName.get(product.name) ?? [], product)
    const clue = oddClue(product, others)
    if (clue) clues.push(clue)
    else if (isBad && isNothing(product.value) && isLookup(product))
      clues.push({
        event: product.event,
        kind: 'nothing found',
        weight: 0.4,
        why: `${product.step?.stepId ?? product.name} found nothing`,
      })
  }
  return clues
}

const MAX_PEERS = 40

/** Enough to know what is usual: the first and the last of its name. */
function fewOf(all: readonly Product[], product: Product): Product[] {
  const few = all.length <= MAX_PEERS ? all : [...all.slice(0, MAX_PEERS / 2), ...all.slice(-MAX_PEERS / 2)]
  return few.filter((each) => each !== product)
}

const isLookup = ({ name, step }: Product): boolean =>
  step?.kind !== 'step' && /(?:get|find|read|recall|search|lookup|load|fetch|memory|context)/i.test(name)

function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && Object.values(value).every(isNothing)
}

/** Two others at least: against one, either may be the odd one. */
function oddClue(
  { event, name, step, keys, scalars }: Product,
  others: readonly Product[],
): Clue | undefined {
  if (name === '' || others.length < 2 || step?.kind === 'model') return undefined
  const who = step?.stepId ?? name
  const shapes = others.map((other) => other.keys)
  if (shapes.every((shape) => shape.size > 0)) {
    const usual = [...(shapes[0] ?? [])].filter((key) => shapes.every((shape) => shape.has(key)))
    const missing = usual.filter((key) => !keys.has(key))
    const added = [...keys].filter((key) => shapes.every((shape) => !shape.has(key)))
    if (missing.length > 0 && missing.length * 2 <= usual.length + 1)
      return {
        event,
        kind: 'odd shape',
        weight: added.length > 0 ? 0.6 : 0.45,
        why: `${who} gave no ${missing[0]}, which all ${others.length} other answers of ${name} have${added.length > 0 ? `, but ${added[0]}` : ''}`,
      }
  }
  for (const { path, value: own } of scalars) {
    if (typeof own !== 'number' || own === 0 || isVolatile(path, own)) continue
    const usual = others
      .flatMap((other) => other.scalars)
      .filter((each) => each.path === path && typeof each.value === 'number' && each.value !== 0)
      .map((each) => Math.abs(each.value as number))
    if (usual.length < 2) continue
    const ratio = Math.abs(own) / (usual.toSorted((a, b) => a - b)[usual.length >> 1] as number)
    const spread = Math.max(...usual) / Math.min(...usual)
    if ((ratio >= 20 || ratio <= 1 / 20) && spread <= 10)
      return {
        event,
        kind: 'odd value',
        weight: 0.6,
        why: `${who} gave ${path === '' ? '' : `${path} `}${own}, ${ratio >= 1 ? `${Math.round(ratio)} times` : `a ${Math.round(1 / ratio)}th of`} what ${name} usually gives`,
      }
  }
  return undefined
}

const STOPPED_SHORT = /^(?:length|max_tokens|max_output_tokens|model_length|truncated|incomplete)$/i
const STOP_FIELDS = /(?:^|\.)(?:finish_?reason|stop_?reason|finish|incomplete_details\.reason)$/i

/** Answers that say themselves that they, or what they are about, were cut short. */
export function cutShortClues({ products }: Case): Clue[] {
  return products.flatMap(({ event, value, step, name }) => {
    const found = scalarsOf({ ...event.payload, output: value }).find(
      (each) =>
        (STOP_FIELDS.test(each.path) && STOPPED_SHORT.test(String(each.value))) ||
        (/(?:^|\.)(?:is_?)?(?:truncated|context_?truncated)$/i.test(each.path) && each.value === true),
    )
    return found
      ? [
          {
            event,
            kind: 'cut short' as const,
            weight: 0.6,
            why: `${step?.stepId ?? name} was cut short (${found.path} ${String(found.value)})`,
          },
        ]
      : []
  })
}

const INSTRUCTION =
  /\b(?:ignore|disregard|forget|override)\b[^.!?\n]{0,40}\b(?:previous|prior|earlier|above|all|your|other|these)\b[^.!?\n]{0,30}\b(?:instruction|rule|prompt|message|polic|direction|limit|check)|\b(?:system|developer) (?:prompt|message)\s*:|\byou (?:must|are) now\b|\bnew instructions?\s*:/i

/** Text that came in from outside and speaks to the model instead of answering it. */
export function instructionClues({ products, isBad }: Case): Clue[] {
  if (!isBad) return []
  const first = products.find(
    ({ value, step }) =>
      step?.kind !== 'model' &&
      scalarsOf(value).some((each) => typeof each.value === 'string' && INSTRUCTION.test(each.value)),
  )
  if (!first) return []
  const { event, step, name } = first
  return [
    {
      event,
      kind: 'instruction',
      weight: 0.75,
      why: `${step?.stepId ?? name} brought in text that gives the model instructions`,
    },
  ]
}

/** A removed secret that the failed step was given in place of the value. */
export function redactedClues({ end, events, failed }: Case): Clue[] {
  if (!end || !failed) return []
  const [placeholder] = placeholdersIn(JSON.stringify(end.value) ?? '').map(([text]) => text)
  if (placeholder === undefined) return []
  const first = events.find((event) => JSON.stringify(event.payload).includes(placeholder)) as ClewEvent
  return [
    {
      event: first,
      kind: 'redacted',
      weight: 0.8,
      why: `a secret was redacted here, and ${failed.stepId} was given its placeholder`,
    },
  ]
}

/** Cached answers are as old as they are, which nothing in the run shows. */
export const cachedClues = ({ products, isBad }: Case): Clue[] =>
  isBad
    ? products
        .filter(({ step, event }) => step?.cached === true || event.payload['cached'] === true)
        .map(({ event, step, name }) => ({
          event,
          kind: 'cached' as const,
          weight: 0.3,
          why: `${step?.stepId ?? name} gave a cached answer of an earlier run`,
        }))
    : []

/** A model call that used far more than the others of a run that ended for its budget. */
export function usageClues({ end, products, run, events }: Case): Clue[] {
  const ends = [
    end?.error ?? '',
    ...events.filter(isStop).map(({ payload }) => textOf(payload['reason']) ?? ''),
  ]
  if (!ends.some((text) => /budget|over_?limit|quota|too many tokens/i.test(text))) return []
  const used = products
    .map((product) => ({ product, tokens: tokensOf(product.event.payload['usage']) }))
    .filter(({ tokens }) => tokens > 0)
    .toSorted((a, b) => b.tokens - a.tokens)
  const [most] = used
  const total = used.reduce((sum, { tokens }) => sum + tokens, 0)
  if (!most || most.tokens < total / 2) return []
  const { event, step, name } = most.product
  return [
    {
      event,
      kind: 'usage',
      weight: 1,
      why: `${step?.stepId ?? name} used ${most.tokens} of the ${total} tokens of run ${run.runId}, which ended for its budget`,
    },
  ]
}

export const isStop = ({ eventType }: ClewEvent): boolean =>
  eventType === 'system.stop_requested' || eventType === 'system.workflow_stopped'

const tokensOf = (usage: unknown): number =>
  typeof usage === 'object' && usage !== null
    ? Object.entries(usage).reduce(
        (sum, [key, value]) =>
          sum +
          (/tokens$/i.test(key) && !/total|cache|reason/i.test(key) && typeof value === 'number' ? value : 0),
        0,
      )
    : 0

/** Words in quotation marks, identifiers and numbers of an error message. */
export function namesIn(error: string): ReadonlySet<string> {
  const quoted = [...error.matchAll(/['"`]([^'"`]{1,200})['"`]/g)].map(([, text]) => text ?? '')
  const words = error.match(/[A-Za-z0-9_][\w.:-]*\w|\d/g) ?? []
  return new Set([...quoted, ...words])
}

const shown = (value: Scalar | undefined): string => (JSON.stringify(value) ?? '').slice(0, 80)

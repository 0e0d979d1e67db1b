import {
  BookOpen,
  Bot,
  Boxes,
  Brain,
  CircleDot,
  CornerDownRight,
  Globe,
  Hammer,
  MessageSquare,
  PencilLine,
  Plug,
  RotateCcw,
  Search,
  Sparkles,
  TriangleAlert,
  UserRound,
} from 'lucide-react'
import type { ReactElement } from 'react'
import type { Icon } from './icon.ts'

/** Hues are the seven of the theme, as `--clew-hue-…`. */
export type Hue = 'thinking' | 'model' | 'tool' | 'search' | 'human' | 'memory' | 'error' | 'plain'

export interface StepKind {
  readonly label: string
  readonly hue: Hue
  readonly glyph: Icon
}

const kind = (label: string, hue: Hue, glyph: Icon): StepKind => ({ label, hue, glyph })

/** Every kind of step that Clew knows; one glyph and one hue each, here and nowhere else. */
export const STEP_KINDS: Readonly<Record<string, StepKind>> = {
  thinking: kind('Thinking', 'thinking', Brain),
  reasoning: kind('Thinking', 'thinking', Brain),
  reconsidering: kind('Reconsidering', 'thinking', RotateCcw),
  model: kind('Model', 'model', Sparkles),
  llm: kind('Model', 'model', Sparkles),
  message: kind('Message', 'model', MessageSquare),
  message_sent: kind('Message sent', 'model', MessageSquare),
  message_edited: kind('Message edited', 'model', PencilLine),
  tool: kind('Tool', 'tool', Hammer),
  tool_call: kind('Tool', 'tool', Hammer),
  effect: kind('Effect', 'tool', Hammer),
  integration: kind('Integration', 'tool', Plug),
  http: kind('HTTP', 'tool', Plug),
  search: kind('Search', 'search', Search),
  web_search: kind('Web search', 'search', Search),
  workspace_search: kind('Workspace search', 'search', Search),
  visit_page: kind('Page visit', 'search', Globe),
  context_received: kind('Context', 'memory', BookOpen),
  human: kind('Person', 'human', UserRound),
  interrupt: kind('Question', 'human', UserRound),
  memory: kind('Memory', 'memory', BookOpen),
  agent: kind('Agent', 'plain', Bot),
  map: kind('Map', 'plain', Boxes),
  node: kind('Node', 'plain', CircleDot),
  step: kind('Step', 'plain', CircleDot),
  error: kind('Error', 'error', TriangleAlert),
  tool_error: kind('Tool error', 'error', TriangleAlert),
}

const UNKNOWN = kind('Step', 'plain', CornerDownRight)

/** A kind without a description is shown under its own name. */
export function stepKindOf(name: string): StepKind {
  const known = Object.hasOwn(STEP_KINDS, name) ? STEP_KINDS[name] : undefined
  const approved = /^(.+):approval$/.exec(name)?.[1]
  if (approved !== undefined) return kind(`Approval of ${approved.replaceAll('_', ' ')}`, 'human', UserRound)
  return known ?? { ...UNKNOWN, label: name === '' ? UNKNOWN.label : name.replaceAll('_', ' ') }
}

/** Steps that only say that they are steps or effects are known by their name, if that is one of the kinds. */
export function namedKind(kind: string, name: string): string {
  const isGeneric = kind === 'step' || kind === 'effect' || kind === 'node' || kind === 'tool'
  if (!isGeneric) return kind
  if (Object.hasOwn(STEP_KINDS, name)) return name
  return /search/i.test(name) ? 'search' : kind
}

export function KindGlyph({
  kind: name,
  size = 14,
}: {
  readonly kind: string
  readonly size?: number
}): ReactElement {
  const { glyph: Glyph, hue } = stepKindOf(name)
  return (
    <span className="clew-glyph" data-hue={hue}>
      <Glyph size={size} strokeWidth={1.75} aria-hidden="true" />
    </span>
  )
}

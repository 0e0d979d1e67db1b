import { Folded, Markdown } from '@clew/react'
import { Pencil } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { ReplacedValue } from './branch-terms.tsx'
import { type ModelRequest, withValueAt } from './model-request.ts'
import { ValueEditor } from './value-editor.tsx'

interface ModelCallProps {
  readonly runId: string
  readonly request: ModelRequest
  /** All that the model was given. */
  readonly input: unknown
  readonly toReplaced: ((value: unknown) => ReplacedValue) | undefined
}

/** What a model was asked, as the conversation that it is; each turn can be typed over. */
export function ModelCall({ runId, request, input, toReplaced }: ModelCallProps): ReactElement {
  const [edited, setEdited] = useState<number>()
  const { turns, parameters } = request
  return (
    <div className="conversation">
      {turns.map(({ role, text, path, rest }, at) => (
        // A request never changes, so a turn is its place.
        // oxlint-disable-next-line react/no-array-index-key
        <section key={at} className="turn" data-role={role} aria-label={`${role}, turn ${at + 1}`}>
          <h4>
            {role}
            {toReplaced && path !== null && edited !== at && (
              <button
                type="button"
                className="icon-button"
                aria-label={`Edit turn ${at + 1}, ${role}`}
                onClick={() => setEdited(at)}
              >
                <Pencil size={12} aria-hidden="true" />
              </button>
            )}
          </h4>
          {edited === at && toReplaced && path !== null ? (
            <ValueEditor
              runId={runId}
              label={`Turn ${at + 1}, ${role}`}
              recorded={text ?? ''}
              isText
              toReplaced={(value) => toReplaced(withValueAt(input, path, value))}
              onClose={() => setEdited(undefined)}
            />
          ) : (
            text !== null && <Markdown text={text} />
          )}
          {Object.keys(rest).length > 0 && <Folded label="with" value={rest} />}
        </section>
      ))}
      {Object.keys(parameters).length > 0 && <Folded label="parameters" value={parameters} />}
    </div>
  )
}

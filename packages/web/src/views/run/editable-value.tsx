import { JsonTree, LongText } from '@clew/react'
import { Pencil } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { ReplacedValue } from './branch-terms.tsx'
import { ModelCall } from './model-call.tsx'
import { readModelRequest } from './model-request.ts'
import { ValueEditor } from './value-editor.tsx'

interface EditableValueProps {
  readonly runId: string
  readonly name: string
  readonly value: unknown
  /** How a branch has another value here; undefined where it cannot. */
  readonly toReplaced: ((value: unknown) => ReplacedValue) | undefined
}

/** A recorded value: a conversation where it is one, else text or a tree; with a pencil to type over it. */
export function EditableValue({ runId, name, value, toReplaced }: EditableValueProps): ReactElement {
  const [isEdited, setEdited] = useState(false)
  const [isRaw, setRaw] = useState(false)
  const request = readModelRequest(value)
  const isText = typeof value === 'string'
  const close = (): void => setEdited(false)
  return (
    <>
      <div className="value-tools">
        {request && (
          <button type="button" className="link" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            {isRaw ? 'rendered' : 'JSON'}
          </button>
        )}
        {toReplaced && !isEdited && (
          <button
            type="button"
            className="icon-button"
            aria-label={`Edit ${name}`}
            onClick={() => setEdited(true)}
          >
            <Pencil size={13} aria-hidden="true" />
          </button>
        )}
      </div>
      {isEdited && toReplaced ? (
        <ValueEditor
          runId={runId}
          label={`New ${name}`}
          recorded={isText ? value : JSON.stringify(value, null, 2)}
          isText={isText}
          toReplaced={toReplaced}
          onClose={close}
        />
      ) : request && !isRaw ? (
        <ModelCall runId={runId} request={request} input={value} toReplaced={toReplaced} />
      ) : isText ? (
        <LongText text={value} />
      ) : typeof value === 'object' && value !== null && Object.keys(value).length > 0 ? (
        <JsonTree value={value} label={name} />
      ) : (
        <span className="clew-mono quiet">{JSON.stringify(value)}</span>
      )}
    </>
  )
}

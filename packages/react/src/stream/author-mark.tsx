import type { MessageAuthor } from '@clew/trace'
import type { ReactElement } from 'react'
import type { Hue } from '../theme/step-kinds.tsx'

const HUES: readonly Hue[] = ['model', 'tool', 'memory', 'search', 'thinking', 'human']

/** Mark of an author: a picture if there is one, else a letter; agents are square and keep their hue. */
export function AuthorMark({
  author: { type, id, name },
  avatarUrl,
}: {
  readonly author: MessageAuthor
  readonly avatarUrl: string | null
}): ReactElement {
  if (avatarUrl !== null)
    return <img className="clew-message-mark" src={avatarUrl} alt="" width={28} height={28} loading="lazy" />
  const sum = [...id].reduce((total, sign) => total + (sign.codePointAt(0) ?? 0), 0)
  return (
    <span
      className="clew-message-mark"
      data-hue={type === 'persona' ? HUES[sum % HUES.length] : 'plain'}
      aria-hidden="true"
    >
      {[...(name ?? id)][0]?.toUpperCase()}
    </span>
  )
}

import type { StreamPage } from '@clew/trace'
import type { LiveStream } from './merge-stream.ts'

/**
 * After a reconnect. `before` is what was known when the page was asked for: what has not changed since and the page
 * does not have is over. When more was written than one page holds, the older part goes and is read again on request.
 */
export function catchUp(state: LiveStream, page: StreamPage, before: LiveStream): LiveStream {
  return closeGap(endActivities(state, page, before), page, before)
}

function endActivities(state: LiveStream, page: StreamPage, before: LiveStream): LiveStream {
  const running = new Set(page.activities.map(({ sessionId }) => sessionId))
  const shown = new Set(page.messages.map(({ messageId }) => messageId))
  const over = [...before.activities.values()].filter(
    (activity) =>
      activity.isActive &&
      shown.has(activity.messageId) &&
      !running.has(activity.sessionId) &&
      state.activities.get(activity.sessionId) === activity,
  )
  if (over.length === 0) return state
  const activities = new Map(state.activities)
  for (const activity of over) activities.set(activity.sessionId, { ...activity, isActive: false })
  return { ...state, activities }
}

function closeGap(state: LiveStream, page: StreamPage, before: LiveStream): LiveStream {
  const { previousCursor, messages } = page
  const [oldest] = messages
  const isJoined = messages.some(({ messageId }) => before.messages.has(messageId))
  if (previousCursor === null || !oldest || before.messages.size === 0 || isJoined) return state
  const isLater = ([, { position }]: readonly [string, { readonly position: number }]): boolean =>
    position >= oldest.position
  return {
    ...state,
    messages: new Map([...state.messages].filter(isLater)),
    sessions: new Map([...state.sessions].filter(isLater)),
    previousCursor,
  }
}

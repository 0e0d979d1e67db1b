const WORKSPACE = 'default'
export const STREAMS_PATH = `/api/workspaces/${WORKSPACE}/streams`
export const messagesPath = (streamId: string): string =>
  `${STREAMS_PATH}/${encodeURIComponent(streamId)}/messages`
export const rerunPath = (sessionId: string): string =>
  `/api/workspaces/${WORKSPACE}/agent-sessions/${encodeURIComponent(sessionId)}/rerun`

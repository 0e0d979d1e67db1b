import { useClient } from '@clew/react'
import type { StreamView } from '@clew/trace'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactElement, useState } from 'react'
import { ErrorNote } from '../../parts/note.tsx'
import { STREAMS_PATH } from './paths.ts'

export function NewStream(): ReactElement {
  const client = useClient()
  const navigate = useNavigate()
  const [title, setTitle] = useState('')
  const create = useMutation({
    mutationFn: () => client.post<StreamView>(STREAMS_PATH, { title: title.trim() }),
    onSuccess: ({ streamId }) =>
      void navigate({ to: '/streams/$streamId', params: { streamId }, search: {} }),
  })
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (title.trim() !== '') create.mutate()
  }
  return (
    <form className="new-stream" onSubmit={onSubmit}>
      <input
        className="input"
        value={title}
        placeholder="Name of a new stream"
        aria-label="Name of a new stream"
        onChange={(event) => setTitle(event.target.value)}
      />
      <button type="submit" className="button" disabled={title.trim() === '' || create.isPending}>
        Make it
      </button>
      {create.error && <ErrorNote error={create.error} />}
    </form>
  )
}

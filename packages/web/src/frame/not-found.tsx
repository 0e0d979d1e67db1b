import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'

export function NotFound(): ReactElement {
  return (
    <div className="empty">
      <h1>This page does not exist</h1>
      <p>
        <Link to="/runs" search={{}}>
          Go to the runs
        </Link>
      </p>
    </div>
  )
}

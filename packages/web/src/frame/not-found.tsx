import { Link } from '@tanstack/react-router'
import type { ReactElement } from 'react'

export function NotFound(): ReactElement {
  return (
    <div className="empty">
      <h1>There is nothing at this address</h1>
      <p>
        <Link to="/runs" search={{}}>
          Go to the runs
        </Link>
      </p>
    </div>
  )
}

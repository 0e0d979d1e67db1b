import type { TestDatabase } from '../database.ts'

/**
 * True while an errand is not completed. One statement: between two of them a run can be resumed or handed over, and then
 * neither would have found it.
 */
export async function hasOpenErrands({ query }: Pick<TestDatabase, 'query'>): Promise<boolean> {
  const [row] = await query(
    `SELECT EXISTS (SELECT FROM clew.runs WHERE agent = 'errand' AND status IN ('pending', 'running', 'interrupted')) AS found`,
  )
  return row?.['found'] === true
}

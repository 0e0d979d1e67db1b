import type { CostReport } from '@clew/ledger'
import { formatCount, formatMoney, plural, runPath, useClient } from '@clew/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Command, shellWord } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import type { TabProps } from './run-page.tsx'

/** Tokens and money, model by model. */
export function CostTab({ runId, view }: TabProps): ReactElement {
  const client = useClient()
  const { data, error } = useQuery({
    queryKey: ['cost', runId, view.run?.modelCalls],
    queryFn: ({ signal }) => client.get<CostReport>(`${runPath(runId)}/cost`, { by: 'model' }, signal),
    placeholderData: keepPreviousData,
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <p className="tab-empty">Adding up…</p>
  if (data.total.modelCalls === 0)
    return <p className="tab-empty">No call of a model was recorded in this run.</p>
  const most = Math.max(...data.groups.map((group) => group.amount ?? 0), 1e-9)
  return (
    <div className="scroll tab-page">
      <table className="table">
        <thead>
          <tr>
            <th>Model</th>
            <th>Calls</th>
            <th>In</th>
            <th>Out</th>
            <th>Cache read</th>
            <th>Thinking</th>
            <th>Cost</th>
            <th className="table-wide">
              <span className="clew-hidden">Share</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {[...data.groups, data.total].map((group) => (
            <tr key={group === data.total ? 'total' : group.key} data-total={group === data.total}>
              <th scope="row">{group === data.total ? 'Total' : (group.key ?? 'not told')}</th>
              <td>{formatCount(group.modelCalls)}</td>
              <td>{formatCount(group.inputTokens)}</td>
              <td>{formatCount(group.outputTokens)}</td>
              <td>{formatCount(group.cacheReadTokens)}</td>
              <td>{formatCount(group.reasoningTokens)}</td>
              <td title={group.complete ? undefined : `${group.unpricedCalls} calls without a known price`}>
                {group.amount === null ? 'no price' : formatMoney(group.amount)}
                {!group.complete && group.amount !== null && '+'}
              </td>
              <td className="table-wide">
                {group !== data.total && group.amount !== null && (
                  <span className="share" style={{ width: `${(group.amount / most) * 100}%` }} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.unpriced.map(({ model, provider, modelCalls }) => (
        <p key={`${provider} ${model}`} className="quiet">
          {plural(modelCalls, 'call')} of {model ?? 'a model without a name'}: no price is known.
        </p>
      ))}
      {data.otherCurrencies.map(({ currency, amount }) => (
        <p key={currency}>
          and {amount} {currency}, never added to the dollars
        </p>
      ))}
      <Command text={`clew cost ${shellWord(runId)} --by model`} />
    </div>
  )
}

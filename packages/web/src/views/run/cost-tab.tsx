import type { CostReport } from '@clew/ledger'
import { formatCount, formatMoney, plural, runPath, useClient } from '@clew/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Command, shellWord } from '../../parts/command.tsx'
import { ErrorNote } from '../../parts/note.tsx'
import { NumberTable } from '../../parts/number-table.tsx'
import type { TabProps } from './run-page.tsx'

const COLUMNS = ['Calls', 'In', 'Out', 'Cache read', 'Thinking', 'Cost']

/** Tokens and money, model by model. */
export function CostTab({ runId, view }: TabProps): ReactElement {
  const client = useClient()
  const { data, error } = useQuery({
    queryKey: ['cost', runId, view.run?.modelCalls],
    queryFn: ({ signal }) => client.get<CostReport>(`${runPath(runId)}/cost`, { by: 'model' }, signal),
    placeholderData: keepPreviousData,
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <p className="tab-empty">Loading costs…</p>
  if (data.total.modelCalls === 0) return <p className="tab-empty">This run has no recorded model calls.</p>
  const most = Math.max(...data.groups.map((group) => group.amount ?? 0), 1e-9)
  return (
    <div className="scroll tab-page">
      <NumberTable
        label="Cost by model"
        first="Model"
        columns={COLUMNS}
        rows={[...data.groups, data.total].map((group) => {
          const isTotal = group === data.total
          return {
            key: isTotal ? 'total' : `model ${group.key}`,
            name: isTotal ? 'Total' : (group.key ?? 'not told'),
            numbers: [
              formatCount(group.modelCalls),
              formatCount(group.inputTokens),
              formatCount(group.outputTokens),
              formatCount(group.cacheReadTokens),
              formatCount(group.reasoningTokens),
              <Money key="cost" group={group} />,
            ],
            share: isTotal || group.amount === null ? null : group.amount / most,
            isTotal,
          }
        })}
      />
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

/** A sum to which calls without a known price belong says so. */
function Money({ group }: { readonly group: CostReport['total'] }): ReactElement {
  const { amount, complete, unpricedCalls } = group
  return (
    <span title={complete ? undefined : `${plural(unpricedCalls, 'call')} without a known price`}>
      {amount === null ? 'no price' : formatMoney(amount)}
      {!complete && amount !== null && '+'}
    </span>
  )
}

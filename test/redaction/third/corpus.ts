import { createTexts } from '../texts.ts'
import { createDice } from './make.ts'

export { again, plain } from '../texts.ts'

export const { secretTexts, ordinaryTexts } = createTexts(
  { secret: createDice, ordinary: createDice },
  'calls',
)

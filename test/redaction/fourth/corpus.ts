import { createTexts } from '../texts.ts'
import { createDice, type Dice } from '../third/make.ts'

export { again, plain } from '../texts.ts'

/** Drawn once when the corpus was begun; the texts are the same on every machine. */
const SALT = '72d1da7e16d977382eea59bc'
const dice = (seed: string): Dice => createDice(`${SALT}:${seed}`)

export const { secretTexts, ordinaryTexts } = createTexts(
  { secret: dice, ordinary: (carrier) => dice(`ordinary ${carrier}`) },
  'payload',
)

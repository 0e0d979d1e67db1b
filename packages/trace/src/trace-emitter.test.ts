import { describeTrace } from '../test/describe-trace.ts'
import { createWorld } from '../test/world.ts'

describeTrace('memory', createWorld)

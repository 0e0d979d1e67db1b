import { describe, it } from 'vitest'
import { describeStore } from '@clew/ledger/conformance'
import { postgresHarness } from '../test/harness.ts'

describeStore('PostgreSQL', postgresHarness, { describe, it })

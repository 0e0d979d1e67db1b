export {
  type ConformanceTest,
  conformanceTests,
  describeStore,
  type StoreHarness,
  type StorePlace,
  type TestRunner,
} from '@clew/ledger/conformance'

export { type ConformanceTest, conformanceTests, describeStore, type TestRunner } from './suite.ts'
export type { StoreHarness, StorePlace } from './world.ts'

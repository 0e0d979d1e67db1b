/** Cases of a random test: the usual number, or `CLEW_RUNS` of each. Together with `--test-timeout 0` as many as one likes. */
export const numRuns = (usual: number): number => Number(process.env['CLEW_RUNS'] ?? usual)
